// SPDX-License-Identifier: BSD-3-Clause
// The levels as operators, and the cycle through them.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/polynomial_step.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/preconditioners/amg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <type_traits>
#include <utility>

namespace tansolve {

/// What the cycle needs of a level of n rows: its operators and vectors. The right-hand side r and
/// the answer z of the finest one are the caller's; one that is not smoothed has nothing else.
template <class T, class B>
struct Amg<T, B>::Level {
  Level(Context<B>& context, std::int64_t n, bool finest, bool smoothed, bool twice)
      : inverse(context, smoothed ? n : 0),
        other(context, inverse.size()),
        Az(context, inverse.size()),
        r(context, finest ? 0 : n),
        z(context, r.size()),
        again_r(context, smoothed && twice ? r.size() : 0),
        again_z(context, again_r.size()) {}

  std::int64_t elements() const { return 3 * inverse.size() + 2 * r.size() + 2 * again_r.size(); }

  const LinearOperator<T, B>* A = nullptr;
  std::unique_ptr<const Factor<T, B>> own = {}, P = {}, R = {};  ///< own: but on the finest, A
  Vector<T, B> inverse;                                          ///< a_0 D^-1
  mutable Vector<T, B> other, Az;  ///< the smoother's second iterate; A z, then r - A z
  mutable Vector<T, B> r, z;
  mutable Vector<T, B> again_r, again_z;  ///< of the second visit of a W cycle
};

namespace {

template <class T>
AmgMatrixFacts facts_of(const Csr<T>& matrix) {
  return {.rows = matrix.rows(), .nonzeros = matrix.nnz(), .csr_bytes = standard_bytes(matrix).csr};
}

template <class T, class B>
std::unique_ptr<const Factor<T, B>> make_factor(Context<B>& context, Csr<double> matrix,
                                                const AmgOptions& options, AmgMatrixFacts& facts) {
  facts = facts_of(matrix);
  std::unique_ptr<const Factor<T, B>> made;
  if constexpr (std::is_same_v<T, double>)
    made =
        std::make_unique<Factor<T, B>>(context, std::move(matrix), options.plan, options.threads);
  else
    made =
        std::make_unique<Factor<T, B>>(context, convert<T>(matrix), options.plan, options.threads);
  facts.bytes = made->bytes();
  facts.csr_bytes = made->csr_bytes();
  facts.format = made->compressed() ? "dtans" : "csr";
  return made;
}

}  // namespace

// With lambda the upper bound of the eigenvalues of D^-1 A and the corrections
// c_k = lambda^-1 D^-1 (r - A z_k), from any z_0 = z_(-1):
//
//     z_(k+1) = z_k + (2k - 1)/(2k + 3) (z_k - z_(k-1)) + (8k + 4)/(2k + 3) c_k.
//
// The damped iteration of Jacobi is its first step, 4/3 c_0, again and again.
template <class T, class B>
Amg<T, B>::Amg(const LinearOperator<T, B>& A, const Csr<T>& matrix, AmgOptions options)
    : LinearOperator<T, B>(A.context(), A.rows(), A.cols()), A_(&A), setup_(std::move(options)) {
  if (matrix.rows() != A.rows() || matrix.cols() != A.cols())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("amg: a matrix of {} x {} for an operator of {} x {}", matrix.rows(),
                            matrix.cols(), A.rows(), A.cols()));
  for (int k = 0; k < setup_.options().degree; ++k) {
    const double of_k = 2 * k + 3;
    if (setup_.options().smoother == AmgSmoother::jacobi || k == 0)
      steps_.push_back({T(1), T(1), T(0)});
    else
      steps_.push_back({static_cast<T>((8 * k + 4) / of_k * 0.75),
                        static_cast<T>(1 + (2 * k - 1) / of_k),
                        static_cast<T>(-(2 * k - 1) / of_k)});
  }
  build(matrix);
}

template <class T, class B>
Amg<T, B>::~Amg() = default;

template <class T, class B>
void Amg<T, B>::update_values(const Csr<T>& matrix) {
  build(matrix);
}

template <class T, class B>
void Amg<T, B>::build(const Csr<T>& matrix) {
  const auto out_of_memory = [&](const char* what) {
    const AmgBytes needed = amg_bytes(matrix.rows(), matrix.nnz(), setup_.options());
    return Error(ErrorCode::out_of_memory,
                 fmt::format("amg: {}; the set-up for {} rows and {} nonzeros takes about {} bytes "
                             "of host memory, and its result up to about {}",
                             what, matrix.rows(), matrix.nnz(), needed.setup, needed.held));
  };
  try {
    if constexpr (std::is_same_v<T, double>)
      adopt(matrix, setup_.matrices(matrix, 1e-12));
    else
      adopt(matrix, setup_.matrices(convert<double>(matrix), 1e-5));
  } catch (const std::bad_alloc&) {
    throw out_of_memory("host memory does not suffice");
  } catch (const Error& error) {
    if (error.code() != ErrorCode::out_of_memory) throw;
    throw out_of_memory(error.what());
  }
}

template <class T, class B>
void Amg<T, B>::adopt(const Csr<T>& matrix, detail::AmgMatrices made) try {
  Context<B>& context = this->context();
  const AmgOptions& options = setup_.options();
  const bool inverted = made.coarse_inverse.rows() > 0;
  levels_.clear();
  coarse_inverse_.reset();
  facts_ = {.unknowns_per_node = options.unknowns_per_node};
  for (std::size_t l = 0; l < made.levels.size(); ++l) {
    detail::AmgLevelMatrices& from = made.levels[l];
    AmgLevelFacts& facts = facts_.levels.emplace_back();
    facts.A = l == 0 ? facts_of(matrix) : facts_of(from.A);
    facts.largest_eigenvalue = from.upper;
    const bool coarsest = l + 1 == made.levels.size(), smoothed = !(coarsest && inverted);
    Level& level = levels_.emplace_back(context, std::ssize(from.inverse_diagonal), l == 0,
                                        smoothed, options.cycle == AmgCycle::w);
    if (smoothed) {
      const double a = from.upper > 0 ? 4 / (3 * from.upper) : 0;
      std::vector<T> scaled(from.inverse_diagonal.size());
      std::ranges::transform(from.inverse_diagonal, scaled.begin(),
                             [&](double d) { return static_cast<T>(a * d); });
      copy_from_host(context, scaled, level.inverse.span());
      if (l > 0) level.own = make_factor<T, B>(context, std::move(from.A), options, facts.A);
      level.A = l == 0 ? A_ : &level.own->product();
    }
    if (coarsest) break;
    level.P = make_factor<T, B>(context, std::move(from.P), options, facts.P);
    level.R = make_factor<T, B>(context, std::move(from.R), options, facts.R);
  }
  if (inverted)
    coarse_inverse_ =
        make_factor<T, B>(context, std::move(made.coarse_inverse), options, facts_.coarse_inverse);
} catch (...) {
  levels_.clear();  // half of a hierarchy is none
  throw;
}

/// Steps of the smoother from the iterate `now` on, which then is the last one; after a step from
/// z = 0, whose iterate is in `now`, all but that one.
template <class T, class B>
void Amg<T, B>::smooth(const Level& level, Span<const T, B> r, Span<T, B>& now, Span<T, B>& before,
                       bool after_zero) const {
  for (std::size_t k = after_zero ? 1 : 0; k < steps_.size(); ++k) {
    const auto& [a, b, c] = steps_[k];
    level.A->apply(now, level.Az);
    polynomial_step(this->context(), a, level.inverse, r, level.Az, b, now,
                    after_zero && k == 1 ? 0 : c, before);
    std::swap(now, before);
  }
}

// Passes over the vectors of a level for a degree of 2 and more, by the lines below:
// 3 + (8 degree - 9) + 2 + 3 + 1 + 2 + (8 degree - 1) = 16 degree + 1, and 2 of the coarser one.
template <class T, class B>
void Amg<T, B>::cycle(std::size_t l, Span<const T, B> r, Span<T, B> z) const {
  Context<B>& context = this->context();
  const Level& level = levels_[l];
  const bool coarsest = l + 1 == levels_.size();
  if (coarsest && coarse_inverse_) return coarse_inverse_->product().apply(r, z);

  // Each step swaps the two: they are degree - 1 and then degree, the last of which ends in z.
  Span<T, B> now = level.other, before = z;
  if (coarsest && steps_.size() % 2 == 1) std::swap(now, before);
  multiply(context, level.inverse, r, now);
  smooth(level, r, now, before, true);
  if (coarsest) return;
  level.A->apply(now, level.Az);
  axpby(context, 1, r, -1, level.Az.span());  // r - A z
  level.R->product().apply(level.Az, levels_[l + 1].r);
  correction(l + 1);
  level.P->product().apply(1, levels_[l + 1].z, 1, now);
  smooth(level, r, now, before, false);
}

/// z of a coarser level from its r: by a cycle from 0, and of a W cycle one more for what is left.
template <class T, class B>
void Amg<T, B>::correction(std::size_t l) const {
  const Level& level = levels_[l];
  cycle(l, level.r, level.z);
  if (level.again_r.size() == 0) return;
  level.A->apply(level.z, level.again_r);
  axpby(this->context(), 1, level.r, -1, level.again_r.span());
  cycle(l, level.again_r, level.again_z);
  axpby(this->context(), 1, level.again_z, 1, level.z.span());
}

template <class T, class B>
void Amg<T, B>::apply_impl(Span<const T, B> r, Span<T, B> z) const {
  if (levels_.empty())
    throw Error(ErrorCode::invalid_argument, "amg: its last update_values failed");
  cycle(0, r, z);
}

template <class T, class B>
void Amg<T, B>::apply_transposed_impl(Span<const T, B> r, Span<T, B> z) const {
  apply_impl(r, z);
}

template <class T, class B>
bool Amg<T, B>::capturable() const {
  const auto fits = [](const auto& factor) { return !factor || factor->product().capturable(); };
  return A_->capturable() && fits(coarse_inverse_) &&
         std::ranges::all_of(levels_, [&](const Level& level) {
           return fits(level.own) && fits(level.P) && fits(level.R);
         });
}

/// On a level 2 degree products, as many steps of the vectors, a residual, and the ways down and
/// up.
template <class T, class B>
std::int64_t Amg<T, B>::launches() const {
  std::int64_t visits = 1, all = 0;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    all += visits * (4 * std::ssize(steps_) + 3);
    if (setup_.options().cycle == AmgCycle::w) visits *= 2;
  }
  return all;
}

/// Matrices as the host holds them, and the set-up's structures.
template <class T, class B>
std::int64_t Amg<T, B>::bytes_on_host() const {
  std::int64_t bytes = setup_.bytes();
  const auto add = [&](const auto& factor) { bytes += factor ? factor->host_bytes() : 0; };
  add(coarse_inverse_);
  for (const Level& level : levels_) {
    add(level.own);
    add(level.P);
    add(level.R);
  }
  return bytes;
}

template <class T, class B>
std::int64_t Amg<T, B>::bytes() const {
  std::int64_t elements = 0;
  for (const Level& level : levels_) elements += level.elements();
  return (std::is_same_v<B, Cuda> ? facts_.bytes() : bytes_on_host()) +
         elements * static_cast<std::int64_t>(sizeof(T));
}

template <class T, class B>
std::int64_t Amg<T, B>::host_bytes() const {
  return std::is_same_v<B, Cuda> ? bytes_on_host() : 0;
}

#define TANSOLVE_INSTANTIATE(T, B) template class Amg<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
