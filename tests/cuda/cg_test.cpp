// SPDX-License-Identifier: BSD-3-Clause
// Conjugate gradients on the GPU: the host's answers and statuses, recorded iterations, no
// allocation on the way.
#include "solvers/batches.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/kernels/compressed_operator.hpp>

namespace tansolve::test {
using CgOnGpu = By<Setting<double, Cuda>, Plain>;
using FcgOnGpu = By<Setting<double, Cuda>, Flexible>;
}  // namespace tansolve::test

TYPE_TO_STRING_AS("cg, Cuda", tansolve::test::CgOnGpu);
TYPE_TO_STRING_AS("fcg, Cuda", tansolve::test::FcgOnGpu);

namespace tansolve::test {

TANSOLVE_BATCHES(CgOnGpu, FcgOnGpu);

namespace {

/// A matrix whose products a GPU may not record.
template <class B>
class Unrecorded : public LinearOperator<double, B> {
 public:
  explicit Unrecorded(const LinearOperator<double, B>& inner)
      : LinearOperator<double, B>(inner.context(), inner.rows(), inner.cols()), inner_(&inner) {}

 protected:
  void apply_impl(Span<const double, B> x, Span<double, B> y) const override {
    inner_->apply(x, y);
    this->context().synchronize();  // which a capture would refuse
  }

 private:
  const LinearOperator<double, B>* inner_;
};

template <class T>
void check_agreement(const std::string& specification, bool preconditioned) {
  CAPTURE(specification);
  CAPTURE(preconditioned);
  const auto matrix = convert<T>(generate(specification));
  const auto compressed = encode(matrix, {Coding::joint, 2}, count_pairs(matrix));
  const auto b = random_vector<T>(matrix.rows(), 7);
  Context<Host> host;
  Context<Cuda> gpu;
  const CompressedOperator<T, Host> host_a(host, compressed);
  const CompressedOperator<T, Cuda> gpu_a(gpu, compressed);
  const Jacobi<T, Host> host_jacobi(host, host_a);
  const Jacobi<T, Cuda> gpu_jacobi(gpu, gpu_a);
  const auto expected =
      solve(host_a, b, {.preconditioner = preconditioned ? &host_jacobi : nullptr});
  const auto first = solve(gpu_a, b, {.preconditioner = preconditioned ? &gpu_jacobi : nullptr});
  const auto second = solve(gpu_a, b, {.preconditioner = preconditioned ? &gpu_jacobi : nullptr});
  CHECK(first.report.status == Status::converged);
  CHECK(first.report.true_residual <= first.report.threshold);
  // Roundings differ, hence the place where the tolerance is met may, a little.
  CHECK(std::abs(first.report.iterations - expected.report.iterations) <=
        1 + expected.report.iterations / 50);
  CHECK(std::ssize(first.report.history) == first.report.iterations + 1);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(first.report.history[i] == doctest::Approx(expected.report.history[i]).epsilon(1e-4));
  CHECK(first.x == second.x);
  CHECK(first.report.history == second.report.history);
}

TEST_CASE("cg on the gpu agrees with the host's, and repeats to the bit") {
  for (const bool preconditioned : {false, true}) {
    check_agreement<double>("poisson7:24", preconditioned);
    check_agreement<double>("varcoef7:16:100", preconditioned);
    check_agreement<double>("fem3:6", preconditioned);
    check_agreement<float>("poisson5:60", preconditioned);
  }
}

TEST_CASE("cg on the gpu reports what the host reports") {
  Context<Cuda> gpu;
  const auto status = [&](std::int64_t n, const std::vector<Triplet<double>>& triplets,
                          const std::vector<double>& b) {
    const auto matrix = Csr<double>::from_triplets(n, n, triplets);
    const CsrOperator<double, Cuda> a(gpu, matrix);
    return solve(a, b).report.status;
  };
  const double inf = std::numeric_limits<double>::infinity();
  CHECK(status(2, {{0, 0, 1.0}, {1, 1, -1.0}}, {1, 2}) == Status::indefinite_operator);
  CHECK(status(2, {{0, 1, 1.0}, {1, 0, -1.0}}, {1, 1}) == Status::breakdown);
  CHECK(status(2, {{0, 0, 1.0}}, {1, 1}) == Status::inconsistent);
  CHECK(status(2, {}, {1, 1}) == Status::inconsistent);
  CHECK(status(2, {{0, 0, inf}, {1, 1, 1.0}}, {1, 1}) == Status::not_finite);
  CHECK(status(2, {{0, 0, 1.0}, {1, 1, 1.0}}, {nan_of<double>, 1}) == Status::not_finite);
  CHECK(status(2, {{0, 0, 1.0}, {1, 1, 1.0}}, {0, 0}) == Status::converged);
  CHECK(status(0, {}, {}) == Status::converged);
}

TEST_CASE("cg on the gpu is cancelled by its monitor, a look later at most") {
  const auto matrix = generate("poisson7:20");
  Context<Cuda> gpu;
  const CsrOperator<double, Cuda> a(gpu, matrix);
  std::int64_t calls = 0;
  const auto [report, x] = solve(a, random_vector<double>(matrix.rows(), 3),
                                 {.monitor = [&](std::int64_t iteration, double) {
                                   ++calls;
                                   return iteration < 5;
                                 }});
  CHECK(report.status == Status::cancelled);
  CHECK(report.iterations <= 5 + detail::batch_size);
  CHECK(calls == 6);
}

TEST_CASE("an operator that cannot be recorded is solved without") {
  const auto matrix = generate("poisson5:30");
  Context<Cuda> gpu;
  const CsrOperator<double, Cuda> a(gpu, matrix);
  const auto b = random_vector<double>(matrix.rows(), 3);
  const auto recorded = solve(a, b);
  const auto called = solve(Unrecorded<Cuda>(a), b);
  CHECK(called.report.status == Status::converged);
  CHECK(called.report.iterations == recorded.report.iterations);
  CHECK(called.x == recorded.x);
}

TEST_CASE("cg on the gpu allocates nothing after its workspace") {
  const auto matrix = generate("poisson7:20");
  const auto compressed = encode(matrix, {Coding::byte, 4}, count_pairs(matrix));
  Context<Cuda> gpu;
  const CompressedOperator<double, Cuda> a(gpu, compressed);
  const auto b = upload(gpu, random_vector<double>(matrix.rows(), 3));
  auto x = upload(gpu, std::vector<double>(matrix.rows(), 0.0));
  Workspace<double, Cuda> work(gpu, cg_workspace(matrix.rows(), false));
  const std::int64_t before = gpu.allocations();
  for (int i = 0; i < 3; ++i) {
    fill(gpu, 0, x.span());
    CHECK(cg(a, b, x, {}, work).status == Status::converged);
  }
  CHECK(gpu.allocations() == before);
}

}  // namespace
}  // namespace tansolve::test
