// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners on the GPU: the host's products and iterations, the same bits at each call, no
// allocation on the way.
#include <tansolve/preconditioners/amg.hpp>
#include <tansolve/preconditioners/block_jacobi.hpp>
#include <tansolve/preconditioners/fsai.hpp>
#include <tansolve/preconditioners/incomplete.hpp>
#include <tansolve/preconditioners/polynomial.hpp>

#include "preconditioners/dense.hpp"
#include "solvers/solving.hpp"

#include <functional>
#include <memory>

namespace tansolve::test {
namespace {

/// Every preconditioner, for a symmetric positive definite matrix.
template <class T, class B>
std::vector<std::unique_ptr<LinearOperator<T, B>>> every(const CsrOperator<T, B>& A,
                                                         const Csr<T>& matrix) {
  using Factored = Incomplete<T, B>;
  Context<B>& context = A.context();
  std::vector<std::unique_ptr<LinearOperator<T, B>>> all;
  all.push_back(std::make_unique<Polynomial<T, B>>(A, Chebyshev()));
  all.push_back(std::make_unique<Polynomial<T, B>>(A, Neumann{.degree = 3}));
  all.push_back(std::make_unique<BlockJacobi<T, B>>(context, matrix));
  all.push_back(std::make_unique<BlockJacobi<T, B>>(
      context, matrix, BlockJacobiOptions{.size = 7, .low_precision_error = 0}));
  all.push_back(std::make_unique<Fsai<T, B>>(context, matrix));
  all.push_back(std::make_unique<Amg<T, B>>(A, matrix, AmgOptions{.coarse_rows = 40}));
  all.push_back(std::make_unique<Amg<T, B>>(
      A, matrix,
      AmgOptions{.smoother = AmgSmoother::jacobi, .cycle = AmgCycle::w, .coarse_rows = 40}));
  all.push_back(std::make_unique<Factored>(context, matrix, Factored::Kind::cholesky));
  all.push_back(std::make_unique<Factored>(context, matrix, Factored::Kind::lu));
  return all;
}

template <class T>
void check_agreement(const Csr<T>& matrix) {
  const double rounding = 1000 * static_cast<double>(std::numeric_limits<T>::epsilon());
  Context<Host> host;
  Context<Cuda> gpu;
  const CsrOperator<T, Host> host_a(host, matrix);
  const CsrOperator<T, Cuda> gpu_a(gpu, matrix);
  const auto host_all = every(host_a, matrix);
  const auto gpu_all = every(gpu_a, matrix);
  const auto r = random_vector<T>(matrix.rows(), 9);
  for (std::size_t i = 0; i < gpu_all.size(); ++i) {
    CAPTURE(host_all[i]->name());
    Vector<T, Host> host_z(host, matrix.rows());
    Vector<T, Cuda> gpu_z(gpu, matrix.rows()), again(gpu, matrix.rows());
    host_all[i]->apply(upload(host, r), host_z);
    gpu_all[i]->apply(upload(gpu, r), gpu_z);
    gpu_all[i]->apply(upload(gpu, r), again);
    const auto expected = to_eigen(download(host, host_z));
    CHECK((to_eigen(download(gpu, gpu_z)) - expected).norm() <= rounding * expected.norm());
    CHECK(download(gpu, gpu_z) == download(gpu, again));
    CHECK(gpu_all[i]->capturable());

    const auto b = random_vector<T>(matrix.rows(), 5);
    const auto by_host = solve(host_a, b, {.preconditioner = host_all[i].get()});
    const auto first = solve(gpu_a, b, {.preconditioner = gpu_all[i].get()});
    const auto second = solve(gpu_a, b, {.preconditioner = gpu_all[i].get()});
    CHECK(first.report.status == Status::converged);
    CHECK(std::abs(first.report.iterations - by_host.report.iterations) <=
          1 + by_host.report.iterations / 20);
    CHECK(eigen_residual(matrix, b, first.x) <= 1.001 * first.report.threshold);
    CHECK(first.x == second.x);
  }
}

TEST_CASE("preconditioners on the gpu agree with the host's, and repeat to the bit") {
  check_agreement(generate("fem3:7"));
  check_agreement(generate("varcoef7:12:1000"));
  check_agreement(convert<float>(generate("fem3:7")));
}

TEST_CASE("solves with preconditioners allocate nothing on the gpu once they are built") {
  const Csr<double> matrix = generate("varcoef7:10:100");
  Context<Cuda> gpu;
  const CsrOperator<double, Cuda> A(gpu, matrix);
  const auto all = every(A, matrix);
  const auto b = upload(gpu, random_vector<double>(matrix.rows(), 3));
  auto x = upload(gpu, std::vector<double>(matrix.rows(), 0.0));
  Workspace<double, Cuda> work(gpu, cg_workspace(matrix.rows(), true));
  const std::int64_t before = gpu.allocations();
  for (const auto& M : all) {
    CAPTURE(M->name());
    fill(gpu, 0, x.span());
    CHECK(cg(A, b, x, {.preconditioner = M.get()}, work).converged());
  }
  CHECK(gpu.allocations() == before);
}

}  // namespace
}  // namespace tansolve::test
