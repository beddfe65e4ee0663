// SPDX-License-Identifier: BSD-3-Clause
// The dense solution of an eigenproblem, for spaces that would be all of R^n.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/solvers/dense_pairs.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tansolve::detail {
namespace {

/// Column after column into `matrix`. False: some element is not finite.
template <class T, class B>
bool form(const LinearOperator<T, B>& A, std::vector<double>& matrix, Span<T, B> e, Span<T, B> y) {
  Context<B>& context = A.context();
  const std::int64_t n = A.rows();
  const T zero = 0, one = 1;
  std::vector<T> column(n);
  fill(context, 0, e);
  for (std::int64_t j = 0; j < n; ++j) {
    copy_from_host<T>(context, std::span(&one, 1), e.subspan(j, 1));
    A.apply(e, y);
    copy_from_host<T>(context, std::span(&zero, 1), e.subspan(j, 1));
    copy_to_host<T>(context, y, std::span(column));
    std::ranges::copy(column, matrix.begin() + j * n);
  }
  return std::all_of(matrix.begin(), matrix.begin() + n * n,
                     [](double a) { return std::isfinite(a); });
}

}  // namespace

template <class T, class B>
EigenReport solve_dense(const LinearOperator<T, B>& A, Span<T, B> vectors,
                        const EigenOptions<T>& options, EigenProgress<T, B>& progress,
                        LanczosWorkspace<T, B>& work) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::int64_t n = A.rows(), nev = options.nev;
  std::vector<EigenPair> pairs(nev, {nan, nan, false});
  const Span<T, B> y = work.spare(0);
  if (vectors.size() > 0) fill(A.context(), 0, vectors);
  if (progress.exhausted()) return progress.finish(std::move(pairs), 0, false, nullptr);
  if (progress.products_left() < n) {
    const Breakdown breakdown{
        Status::iteration_limit,
        fmt::format("max_products = {}, but the matrix is formed by {}", options.max_products, n)};
    return progress.finish(std::move(pairs), 0, false, &breakdown);
  }
  if (!form(A, work.matrix(), work.spare(1), y)) {
    const Breakdown breakdown{Status::not_finite, "a product with A"};
    return progress.finish(std::move(pairs), 0, false, &breakdown);
  }
  SymmetricEigen& eigen = work.eigen();
  eigen.solve(n, work.matrix().data(), n);
  std::vector<std::int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](std::int64_t i) { return sort_key(options.which, eigen.value(i)); };
  std::ranges::stable_sort(order, {}, key);
  std::vector<T> v(n);
  for (std::int64_t i = 0; i < nev; ++i) {
    const double* from = eigen.vector(order[i]);
    std::transform(from, from + n, v.begin(), [](double x) { return static_cast<T>(x); });
    const Span<T, B> x = vectors.size() > 0 ? vectors.subspan(i * n, n) : work.spare(1);
    copy_from_host<T>(A.context(), v, x);
    pairs[i] = measure<T, B>(A, x, y, work.scalar(0));
  }
  const double norm = std::max(std::abs(eigen.value(0)), std::abs(eigen.value(n - 1)));
  progress.verified(true);
  return progress.finish(std::move(pairs), norm, true, nullptr);
}

#define TANSOLVE_INSTANTIATE(T, B)                                               \
  template EigenReport solve_dense(const LinearOperator<T, B>&, Span<T, B>,      \
                                   const EigenOptions<T>&, EigenProgress<T, B>&, \
                                   LanczosWorkspace<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
