// SPDX-License-Identifier: BSD-3-Clause
// Several right-hand sides, solved in one line.
#pragma once

#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/block.hpp>
#include <tansolve/solvers/block_cg.hpp>
#include <tansolve/solvers/block_gmres.hpp>

#include "solvers/krylov.hpp"

namespace tansolve::test {

template <class T>
struct Answers {
  MultiReport report;
  std::vector<T> x;

  std::vector<T> column(std::int64_t c) const {
    const auto n = std::ssize(x) / std::ssize(report.columns);
    return {x.begin() + c * n, x.begin() + (c + 1) * n};
  }
};

/// Runs solver(A, columns, b, x) from the guesses x0.
template <class T, class B, class Solver>
Answers<T> run_columns(const LinearOperator<T, B>& A, const std::vector<T>& x0,
                       const std::vector<T>& b, const Solver& solver) {
  Context<B>& context = A.context();
  const auto device_b = upload(context, b);
  auto x = upload(context, x0);
  MultiReport report =
      solver(A, std::ssize(b) / A.rows(), Span<const T, B>(device_b), Span<T, B>(x));
  return {std::move(report), download(context, x)};
}

enum class BlockMethod { cg, bicgstab, gmres, block_cg };
inline constexpr BlockMethod all_methods[] = {BlockMethod::cg, BlockMethod::bicgstab,
                                              BlockMethod::gmres, BlockMethod::block_cg};

template <class T, class B>
Answers<T> solve_columns(BlockMethod method, const LinearOperator<T, B>& A, const std::vector<T>& b,
                         const SolveOptions<T, B>& options = {}, std::vector<T> x0 = {}) {
  if (x0.empty()) x0.resize(b.size());
  return run_columns(A, x0, b, [&](const auto& a, auto columns, auto db, auto x) {
    return method == BlockMethod::cg         ? pseudo_block_cg(a, columns, db, x, options)
           : method == BlockMethod::bicgstab ? pseudo_block_bicgstab(a, columns, db, x, options)
           : method == BlockMethod::gmres    ? pseudo_block_gmres(a, columns, db, x, options)
                                             : block_cg(a, columns, db, x, options);
  });
}

/// The single solve that a pseudo-block method imitates.
template <class T, class B>
Answer<T> solve_one(BlockMethod method, const LinearOperator<T, B>& A, const std::vector<T>& b,
                    const SolveOptions<T, B>& options) {
  return run_from(A, std::vector<T>(b.size()), b, [&](const auto& a, auto db, auto x) {
    return method == BlockMethod::bicgstab ? bicgstab(a, db, x, options)
           : method == BlockMethod::gmres  ? gmres(a, db, x, options)
                                           : cg(a, db, x, options);
  });
}

template <class T>
std::vector<T> part(const std::vector<T>& all, std::int64_t c, std::int64_t n) {
  return {all.begin() + c * n, all.begin() + (c + 1) * n};
}

template <class T>
void check_truth(const Csr<T>& matrix, const std::vector<T>& b, const Answers<T>& answers) {
  const std::int64_t n = matrix.rows();
  for (std::int64_t c = 0; c < std::ssize(answers.report.columns); ++c) {
    const Report& report = answers.report.columns[c];
    const double truth = eigen_residual(matrix, part(b, c, n), answers.column(c));
    const double rounding = std::is_same_v<T, float> ? 1e-6 : 1e-14;
    CHECK(std::abs(report.true_residual - truth) <= 1e-3 * truth + rounding * report.baseline);
  }
}

}  // namespace tansolve::test
