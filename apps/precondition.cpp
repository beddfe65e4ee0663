// SPDX-License-Identifier: BSD-3-Clause
// Every preconditioner by its name: for which matrices, what it is, how it is made.
#include "precondition.hpp"

#include "multigrid.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/preconditioners/block_jacobi.hpp>
#include <tansolve/preconditioners/fsai.hpp>
#include <tansolve/preconditioners/incomplete.hpp>
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/preconditioners/polynomial.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace tansolve::app {
namespace {

template <class T, class B, template <class, class> class M>
Preconditioning<T, B> preconditioning(std::unique_ptr<M<T, B>> made, std::string note = {}) {
  const std::int64_t bytes = made->bytes();
  return {std::move(made), bytes, std::move(note)};
}

template <class T, class B>
Preconditioning<T, B> make_block_jacobi(const PreconditionerInput<T, B>& in) {
  auto made = std::make_unique<BlockJacobi<T, B>>(in.A.context(), in.csr(),
                                                  BlockJacobiOptions{.threads = in.threads});
  const auto& blocks = made->inverses().blocks;
  int largest = 0;
  for (const DiagonalBlock& block : blocks) largest = std::max<int>(largest, block.size);
  const auto low = std::ranges::count_if(blocks, &DiagonalBlock::low);
  std::string note = fmt::format("{} blocks of up to {} rows, {} of them in fp32", blocks.size(),
                                 largest, sizeof(T) == sizeof(float) ? std::ssize(blocks) : low);
  return preconditioning(std::move(made), std::move(note));
}

template <class T, class B>
Preconditioning<T, B> make_polynomial(const PreconditionerInput<T, B>& in, const auto& options) {
  auto made = std::make_unique<Polynomial<T, B>>(in.A, options);
  const EigenvalueBounds bounds = made->bounds();
  return preconditioning(
      std::move(made), bounds.upper == 0 ? ""
                                         : fmt::format("degree {}, eigenvalues of D^-1 A taken to "
                                                       "lie in [{:.3g}, {:.3g}]",
                                                       options.degree, bounds.lower, bounds.upper));
}

template <class T, class B>
Preconditioning<T, B> make_fsai(const PreconditionerInput<T, B>& in, const FsaiPattern& pattern) {
  auto made = std::make_unique<Fsai<T, B>>(
      in.A.context(), in.csr(),
      FsaiOptions{.pattern = pattern, .plan = {.objective = in.objective}, .threads = in.threads});
  const double factors = static_cast<double>(made->lower().bytes() + made->upper().bytes());
  std::string note = fmt::format("its factors take {:.3g} of their bytes as csr",
                                 factors / static_cast<double>(made->csr_bytes()));
  return preconditioning(std::move(made), std::move(note));
}

template <class T, class B>
Preconditioning<T, B> make_incomplete(const PreconditionerInput<T, B>& in,
                                      typename Incomplete<T, B>::Kind kind) {
  auto made = std::make_unique<Incomplete<T, B>>(in.A.context(), in.csr(), kind);
  std::string note;
  if (made->shift() > 0)
    note = fmt::format("the diagonal {} times as large, without which it breaks down",
                       1 + made->shift());
  return preconditioning(std::move(made), std::move(note));
}

template <class T, class B>
Preconditioning<T, B> make_amg(const PreconditionerInput<T, B>& in) {
  AmgOptions options = in.amg;
  options.plan.objective = in.objective;
  options.threads = in.threads;
  auto made = std::make_unique<Amg<T, B>>(in.A, in.csr(), std::move(options));
  const AmgFacts facts = made->facts();
  auto result = preconditioning(
      std::move(made),
      fmt::format("{} levels, operator complexity {:.3f}, its matrices take {:.3g} of their bytes "
                  "as csr",
                  facts.levels.size(), facts.operator_complexity(),
                  static_cast<double>(facts.bytes()) / static_cast<double>(facts.csr_bytes())));
  std::ostringstream table;
  table << facts;
  result.table = table.str();
  result.hierarchy = hierarchy_json(facts);
  return result;
}

}  // namespace

template <class T, class B>
const Csr<T>& PreconditionerInput<T, B>::csr() const {
  if (matrix.csr) return *matrix.csr;
  if (!decoded) decoded = matrix.compressed->decode(threads);
  return *decoded;
}

template <class T, class B>
std::span<const PreconditionerEntry<T, B>> all_preconditioners() {
  using Input = PreconditionerInput<T, B>;
  using Kinds = typename Incomplete<T, B>::Kind;
  static constexpr PreconditionerEntry<T, B> table[] = {
      {"none", Kind::general, "the residual as it is",
       [](const Input&) { return Preconditioning<T, B>(); }},
      {"jacobi", Kind::general, "the inverse of the diagonal",
       [](const Input& in) {
         return preconditioning(std::make_unique<Jacobi<T, B>>(in.A.context(), in.A));
       }},
      {"block-jacobi", Kind::general, "the inverses of the diagonal blocks of nodes",
       [](const Input& in) { return make_block_jacobi(in); }},
      {"chebyshev", Kind::definite, "a polynomial in the matrix, least far from its inverse",
       [](const Input& in) { return make_polynomial(in, Chebyshev()); }},
      {"neumann", Kind::general, "a few damped steps of Jacobi's iteration",
       [](const Input& in) {
         return make_polynomial(in, in.symmetric ? Neumann() : Neumann{.damping = 1.0});
       }},
      {"fsai", Kind::definite, "a sparse approximate inverse of the Cholesky factor, compressed",
       [](const Input& in) { return make_fsai(in, {}); }},
      {"afsai", Kind::definite, "the same on a pattern that adapts to the matrix, up to 17 a row",
       [](const Input& in) {
         return make_fsai(in, {.power = 0, .adaptive_steps = 4, .adaptive_entries = 4});
       }},
      {"amg", Kind::definite, "multigrid by smoothed aggregation, its levels compressed",
       [](const Input& in) { return make_amg(in); }},
      {"ic0", Kind::definite, "incomplete Cholesky without fill",
       [](const Input& in) { return make_incomplete(in, Kinds::cholesky); }},
      {"ilu0", Kind::general, "incomplete LU without fill",
       [](const Input& in) { return make_incomplete(in, Kinds::lu); }}};
  return table;
}

template <class T, class B>
const PreconditionerEntry<T, B>& preconditioner_named(std::string_view name) {
  return *std::ranges::find(all_preconditioners<T, B>(), name, &PreconditionerEntry<T, B>::name);
}

std::vector<std::string> preconditioner_names() {
  std::vector<std::string> names;
  for (const auto& entry : all_preconditioners<double, Host>()) names.emplace_back(entry.name);
  return names;
}

template <class T, class B>
Preconditioning<T, B> build_preconditioner(const Method& method,
                                           const PreconditionerInput<T, B>& input) {
  const auto build = [&](std::string_view name) {
    const Stopwatch stopwatch;
    auto made = preconditioner_named<T, B>(name).make(input);
    made.seconds = stopwatch.seconds();
    return made;
  };
  try {
    return build(method.preconditioner);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_input) throw;
    if (!method.automatic_preconditioner)
      throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}; --precond none does without",
                                                           input.matrix.name, error.what()));
    auto made = build("jacobi");
    made.note = fmt::format("it is jacobi instead, since {}", error.what());
    return made;
  }
}

template <class T>
double mean_natural_block(const Csr<T>& A) {
  const auto blocks = std::max<std::int64_t>(std::ssize(natural_blocks(A, most_block_rows)), 1);
  return static_cast<double>(A.rows()) / static_cast<double>(blocks);
}

template double mean_natural_block(const Csr<double>&);
template double mean_natural_block(const Csr<float>&);

#define TANSOLVE_INSTANTIATE(T, B)                                                  \
  template struct PreconditionerInput<T, B>;                                        \
  template std::span<const PreconditionerEntry<T, B>> all_preconditioners();        \
  template const PreconditionerEntry<T, B>& preconditioner_named(std::string_view); \
  template Preconditioning<T, B> build_preconditioner(const Method&,                \
                                                      const PreconditionerInput<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
