// SPDX-License-Identifier: BSD-3-Clause
// Least squares and several right-hand sides on the GPU: the host's answers, the same bits at each
// run, no allocation on the way.
#include <tansolve/codec/compress.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/with_transpose.hpp>
#include <tansolve/solvers/block_cg.hpp>
#include <tansolve/solvers/block_gmres.hpp>

#include "solvers/least_squares.hpp"

namespace tansolve::test {
namespace {

template <class T>
struct ManyAnswers {
  MultiReport report;
  std::vector<T> x;
};

template <class T, class B, class Solver>
ManyAnswers<T> run_many(const LinearOperator<T, B>& A, const std::vector<T>& b,
                        const Solver& solver) {
  const auto device_b = upload(A.context(), b);
  auto x = upload(A.context(), std::vector<T>(b.size()));
  MultiReport report =
      solver(A, std::ssize(b) / A.rows(), Span<const T, B>(device_b), Span<T, B>(x));
  return {std::move(report), download(A.context(), x)};
}

/// What `solver` finds on the host and, twice, on the GPU.
template <class T, class Solver>
void check_many(const Solver& solver) {
  const auto matrix = poisson<T>(40, 30);
  const auto b = random_vector<T>(5 * matrix.rows(), 7);
  Context<Host> host;
  Context<Cuda> gpu;
  const CsrOperator<T, Host> host_a(host, matrix);
  const CsrOperator<T, Cuda> gpu_a(gpu, matrix);
  const auto expected = run_many(host_a, b, solver);
  const auto first = run_many(gpu_a, b, solver), second = run_many(gpu_a, b, solver);
  CHECK(first.report.solved());
  CHECK(first.x == second.x);
  for (std::size_t c = 0; c < 5; ++c) {
    const Report &found = first.report.columns[c], &wanted = expected.report.columns[c];
    CHECK(found.true_residual <= found.threshold);
    CHECK(std::abs(found.iterations - wanted.iterations) <= 1 + wanted.iterations / 50);
    for (std::size_t i = 0; i < 5; ++i)
      CHECK(found.history[i] == doctest::Approx(wanted.history[i]).epsilon(1e-4));
  }
}

template <class T>
void check_least_squares(LeastSquaresMethod method) {
  const auto matrix = with_rank<T>(300, 120, 100, 7);
  const auto transposed = transpose(matrix);
  const auto b = random_vector<T>(300, 1);
  Context<Host> host;
  Context<Cuda> gpu;
  const CsrOperator<T, Host> host_a(host, matrix), host_at(host, transposed);
  const CsrOperator<T, Cuda> gpu_a(gpu, matrix), gpu_at(gpu, transposed);
  const WithTranspose<T, Host> host_both(host_a, host_at);
  const WithTranspose<T, Cuda> gpu_both(gpu_a, gpu_at);
  const auto expected = least_squares<T, Host>(method, host_both, b);
  const auto first = least_squares<T, Cuda>(method, gpu_both, b);
  const auto second = least_squares<T, Cuda>(method, gpu_both, b);
  CHECK(first.report.status == Status::inconsistent);
  CHECK(first.report.solved());
  CHECK(std::abs(first.report.iterations - expected.report.iterations) <=
        2 + expected.report.iterations / 20);
  CHECK((to_eigen(first.x) - to_eigen(expected.x)).norm() <=
        (std::is_same_v<T, float> ? 1e-2 : 1e-6) * to_eigen(expected.x).norm());
  CHECK(first.x == second.x);
  CHECK(first.report.history == second.report.history);
}

}  // namespace

TEST_CASE("least squares on the gpu agree with the host's, and repeat to the bit") {
  for (const auto method : both_methods) {
    check_least_squares<double>(method);
    check_least_squares<float>(method);
  }
}

TEST_CASE("least squares on the gpu take encoded matrices, and allocate nothing on the way") {
  const auto matrix = with_rank<double>(300, 120, 100, 7);
  const auto compressed = compress(matrix), compressed_transpose = compress(transpose(matrix));
  Context<Cuda> gpu;
  const CompressedOperator<double, Cuda> a(gpu, compressed), at(gpu, compressed_transpose);
  const WithTranspose<double, Cuda> both(a, at);
  const auto b = upload(gpu, random_vector<double>(300, 1));
  auto x = upload(gpu, std::vector<double>(120));
  LeastSquaresWorkspace<double, Cuda> work(gpu, 300, 120, LeastSquaresMethod::lsmr);
  const std::int64_t before = gpu.allocations();
  const Report report = lsmr(both, b, x, {}, {}, work);
  CHECK(gpu.allocations() == before);
  CHECK(report.solved());
  CHECK(report.true_residual ==
        doctest::Approx(eigen_residual(matrix, random_vector<double>(300, 1), download(gpu, x))));
}

TEST_CASE("several right-hand sides on the gpu agree with the host's, and repeat to the bit") {
  const auto by_cg = [](const auto& A, auto k, auto b, auto x) {
    return pseudo_block_cg(A, k, b, x);
  };
  const auto by_bicgstab = [](const auto& A, auto k, auto b, auto x) {
    return pseudo_block_bicgstab(A, k, b, x);
  };
  const auto by_gmres = [](const auto& A, auto k, auto b, auto x) {
    return pseudo_block_gmres(A, k, b, x);
  };
  const auto by_block_cg = [](const auto& A, auto k, auto b, auto x) {
    return block_cg(A, k, b, x);
  };
  check_many<double>(by_cg);
  check_many<double>(by_gmres);
  check_many<double>(by_block_cg);
  check_many<float>(by_cg);
  check_many<float>(by_block_cg);
  const auto matrix = poisson<double>(40, 30);
  Context<Cuda> gpu;
  const CsrOperator<double, Cuda> a(gpu, matrix);
  CHECK(run_many(a, random_vector<double>(5 * matrix.rows(), 7), by_bicgstab).report.solved());
}

}  // namespace tansolve::test
