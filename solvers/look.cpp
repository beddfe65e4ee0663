// SPDX-License-Identifier: BSD-3-Clause
// Shapes, finiteness and symmetry of a system before it is solved.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/solvers/look.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tansolve {
namespace {

constexpr std::int64_t piece = 4096;  // elements of a vector that pass through the stack at once

[[noreturn]] void refuse(std::string_view solver, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, fmt::format("{}: {}", solver, why));
}

template <class T, class B>
void check_options(std::string_view solver, const SolveOptions<T, B>& options) {
  const auto require = [&](const char* option, double value) {
    if (!(value >= 0))
      refuse(solver, fmt::format("{} is {}, it must not be negative", option, value));
  };
  require("rtol", options.rtol);
  require("atol", options.atol);
  require("max_iterations", static_cast<double>(options.max_iterations));
  require("time_limit", options.time_limit);
  require("divergence_factor", options.divergence_factor);
}

}  // namespace

template <class T, class B>
void require_system(std::string_view solver, const LinearOperator<T, B>& A,
                    std::type_identity_t<Span<const T, B>> b,
                    std::type_identity_t<Span<const T, B>> x, const SolveOptions<T, B>& options) {
  if (b.size() != A.rows() || x.size() != A.cols())
    refuse(solver, fmt::format("{} is {} x {}, but b has {} elements and x has {}", A.name(),
                               A.rows(), A.cols(), b.size(), x.size()));
  if (detail::overlap(b, x)) refuse(solver, "b and x overlap, they must be apart");
  check_options(solver, options);
}

template <class T, class B>
void require_square_system(std::string_view solver, const LinearOperator<T, B>& A,
                           std::type_identity_t<Span<const T, B>> b,
                           std::type_identity_t<Span<const T, B>> x,
                           const SolveOptions<T, B>& options) {
  const std::int64_t n = A.rows();
  if (n != A.cols())
    refuse(solver, fmt::format("{} is {} x {}, it must be square; for least squares and "
                               "underdetermined systems LSQR and LSMR fit",
                               A.name(), n, A.cols()));
  require_system(solver, A, b, x, options);
  const LinearOperator<T, B>* M = options.preconditioner;
  if (M != nullptr && (M->rows() != n || M->cols() != n))
    refuse(solver, fmt::format("the preconditioner {} is {} x {}, but {} is {} x {}", M->name(),
                               M->rows(), M->cols(), A.name(), n, n));
  if (M != nullptr && &M->context() != &A.context())
    refuse(solver,
           fmt::format("the preconditioner {} is of another context than {}", M->name(), A.name()));
}

template <class T, class B>
std::string first_not_finite(Context<B>& context, std::string_view name, Span<const T, B> vector) {
  std::array<T, piece> buffer;
  for (std::int64_t first = 0; first < vector.size(); first += piece) {
    const std::int64_t count = std::min(piece, vector.size() - first);
    copy_to_host(context, vector.subspan(first, count), std::span(buffer.data(), count));
    for (std::int64_t i = 0; i < count; ++i)
      if (!std::isfinite(buffer[i])) return fmt::format("{}[{}] = {}", name, first + i, buffer[i]);
  }
  return {};
}

template <class T, class B>
std::string probe_symmetry(const LinearOperator<T, B>& A, Span<T, B> u, Span<T, B> v, Span<T, B> w,
                           Scalar<T, B>& product, Scalar<T, B>& norm) {
  Context<B>& context = A.context();
  fill_random(context, 1, u);
  fill_random(context, 2, v);
  A.apply(v, w);
  dot(context, u, w, product);
  norm2(context, w, norm);
  const double uAv = read(context, product), Av = read(context, norm);
  A.apply(u, w);
  dot(context, v, w, product);
  norm2(context, w, norm);
  const double vAu = read(context, product), Au = read(context, norm);

  // Elements of u and v are of size 1, so that u'(A - A')v is about as large as ||(A - A')v||,
  // while rounding, random in sign, contributes a few dozen eps ||A v||.
  const double tolerance = 1000 * std::numeric_limits<T>::epsilon() * (Av + Au);
  if (!(std::abs(uAv - vAu) > tolerance)) return {};
  return fmt::format("{} is not symmetric: u'Av = {:.6e}, v'Au = {:.6e} for random u and v",
                     A.name(), uAv, vAu);
}

template <class T, class B>
RangeOverlap range_overlap(const LinearOperator<T, B>& A, Span<const T, B> r, double r_norm,
                           Span<const T, B> x, Span<T, B> v, Span<T, B> w, Scalar<T, B>& scalar) {
  Context<B>& context = A.context();
  const auto norm_of = [&](Span<const T, B> vector) -> double {
    norm2(context, vector, scalar);
    return read(context, scalar);
  };
  fill_random(context, 3, v);
  A.apply(v, w);
  const double v_norm = norm_of(v), Av_norm = norm_of(w);
  // r errs by some eps (||b|| + |A| |x|), of which A x may have cancelled most; ||A v|| / ||v|| is
  // a typical size of A.
  const double rounding =
      std::numeric_limits<T>::epsilon() * (1 + Av_norm / v_norm * (norm_of(x) / r_norm));
  if (Av_norm == 0) return {0, rounding};
  axpby(context, static_cast<T>(1 / Av_norm), w, 0, v);  // of norm 1: r'v is within the range of T
  dot(context, r, v, scalar);
  return {std::abs(static_cast<double>(read(context, scalar))) / r_norm, rounding};
}

#define TANSOLVE_INSTANTIATE(T, B)                                                              \
  template void require_system(std::string_view, const LinearOperator<T, B>&, Span<const T, B>, \
                               Span<const T, B>, const SolveOptions<T, B>&);                    \
  template void require_square_system(std::string_view, const LinearOperator<T, B>&,            \
                                      Span<const T, B>, Span<const T, B>,                       \
                                      const SolveOptions<T, B>&);                               \
  template std::string first_not_finite(Context<B>&, std::string_view, Span<const T, B>);       \
  template std::string probe_symmetry(const LinearOperator<T, B>&, Span<T, B>, Span<T, B>,      \
                                      Span<T, B>, Scalar<T, B>&, Scalar<T, B>&);                \
  template RangeOverlap range_overlap(const LinearOperator<T, B>&, Span<const T, B>, double,    \
                                      Span<const T, B>, Span<T, B>, Span<T, B>, Scalar<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
