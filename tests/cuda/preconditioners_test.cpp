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

/// Another operator's products, counting those that are called for.
class Called final : public LinearOperator<double, Cuda> {
 public:
  explicit Called(const LinearOperator<double, Cuda>& of)
      : LinearOperator<double, Cuda>(of.context(), of.rows(), of.cols()), of_(&of) {}
  bool capturable() const override { return of_->capturable(); }
  std::int64_t launches() const override { return of_->launches(); }

  mutable std::int64_t calls = 0;

 protected:
  void apply_impl(Span<const double, Cuda> x, Span<double, Cuda> y) const override {
    ++calls;
    of_->apply(x, y);
  }

 private:
  const LinearOperator<double, Cuda>* of_;
};

TEST_CASE("a solve by cg on the gpu replays a graph of the cycle") {
  const Csr<double> matrix = generate("varcoef7:24:10000");
  const auto b = random_vector<double>(matrix.rows(), 3);
  Context<Cuda> gpu;
  const CsrOperator<double, Cuda> A(gpu, matrix);
  for (const AmgCycle kind : {AmgCycle::v, AmgCycle::w}) {
    const Amg<double, Cuda> M(A, matrix, {.degree = 1, .cycle = kind, .coarse_rows = 50});
    REQUIRE(M.capturable());
    const Called called(M);
    const auto solved = solve(A, b, {.rtol = 1e-12, .preconditioner = &called});
    CHECK(solved.report.converged());
    CHECK(solved.report.iterations > 24);
    // Iterations come in short batches: the first is called for, once, and replayed from then on;
    // few of the last one are in vain.
    CHECK(called.calls <= solved.report.iterations - 12);
    CHECK(called.applications() >= solved.report.iterations);
    CHECK(called.applications() <= solved.report.iterations + 4 * (solved.report.restarts + 1));
    CHECK(solve(A, b, {.rtol = 1e-12, .preconditioner = &M}).x == solved.x);
  }
}

TEST_CASE("new values on the gpu give what a fresh set-up gives") {
  const Csr<double> first = generate("poisson7:12");
  std::vector<double> values(first.values().begin(), first.values().end());
  const auto d = [](std::int64_t i) { return 1 + 0.25 * static_cast<double>(i / 3 % 5); };
  for (std::int64_t i = 0; i < first.rows(); ++i)
    for (std::int64_t k = first.offsets()[i]; k < first.offsets()[i + 1]; ++k)
      values[k] *= d(i) * d(first.columns()[k]);
  const Csr<double> second(first.rows(), first.cols(),
                           {first.offsets().begin(), first.offsets().end()},
                           {first.columns().begin(), first.columns().end()}, values);
  Context<Cuda> gpu;
  const CsrOperator<double, Cuda> A(gpu, second);
  const AmgOptions options = {.coarse_rows = 15, .most_levels = 2};
  Amg<double, Cuda> updated(A, first, options);
  const Amg<double, Cuda> fresh(A, second, options);
  const auto r = upload(gpu, random_vector<double>(first.rows(), 2));
  const auto applied = [&](const Amg<double, Cuda>& M) {
    Vector<double, Cuda> z(gpu, first.rows());
    M.apply(r, z);
    return download(gpu, z);
  };
  CHECK(applied(updated) != applied(fresh));
  updated.update_values(second);
  CHECK(applied(updated) == applied(fresh));
  const auto b = random_vector<double>(first.rows(), 4);
  CHECK(solve(A, b, {.preconditioner = &updated}).report.converged());
  CHECK(updated.host_bytes() > 0);
}

TEST_CASE("incomplete factors on the gpu count what is there and what stays on the host") {
  const Csr<double> matrix = generate("poisson5:40");
  Context<Cuda> gpu;
  using M = Incomplete<double, Cuda>;
  const M ic(gpu, matrix, M::Kind::cholesky);
  const std::int64_t n = 1600, entries = 1600 + 2 * 40 * 39;  // of each factor
  CHECK(ic.host_bytes() == 2 * (entries * 12 + (n + 1) * 8));
  CHECK(ic.bytes() >= 2 * (entries * 12 + (n + 1) * 4) + n * 8);
}

}  // namespace
}  // namespace tansolve::test
