// SPDX-License-Identifier: BSD-3-Clause
// The eigensolvers on the GPU: right, repeatable to the bit, without allocation after set-up.
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/solvers/lobpcg.hpp>
#include <tansolve/solvers/mass_scaled.hpp>

#include "solvers/eigen.hpp"

namespace tansolve::test {
namespace {

TEST_CASE("lanczos on the gpu finds the ends of dense spectra, and repeats to the bit") {
  Context<Cuda> gpu;
  for (const auto& matrix : {poisson<double>(12, 13), random_symmetric<double>(500, 4, 1),
                             path_laplacians({30, 31, 40, 50, 3})}) {
    const CsrOperator<double, Cuda> A(gpu, matrix);
    const auto spectrum = dense_spectrum(matrix);
    for (const Which which : {Which::smallest, Which::largest, Which::magnitude})
      for (const std::int64_t block : {1, 3}) {
        const auto first = find(A, {.nev = 6, .which = which}, {.block = block});
        check_pairs(matrix, first, which, spectrum);
        CHECK(first.report.verified);
        CHECK(first.vectors == find(A, {.nev = 6, .which = which}, {.block = block}).vectors);
      }
  }
}

// Steps beyond the one whose vector vanished were issued, and must not be used.
TEST_CASE("lanczos on the gpu takes operators whose Krylov spaces end at once") {
  Context<Cuda> gpu;
  std::vector<double> two(300, -2.0);
  two[17] = 3;
  for (const auto& matrix :
       {diagonal_matrix(std::vector<double>(300, 1.0)), diagonal_matrix(two)}) {
    const CsrOperator<double, Cuda> A(gpu, matrix);
    check_pairs(matrix, find(A, {.nev = 5, .which = Which::largest}), Which::largest,
                dense_spectrum(matrix));
  }
}

TEST_CASE("lanczos on the gpu works in float, in narrow bases and by polynomials") {
  Context<Cuda> gpu;
  const auto matrix = poisson<float>(30, 31);
  const CsrOperator<float, Cuda> A(gpu, matrix);
  check_pairs(matrix, find(A, {.nev = 4}), Which::smallest, dense_spectrum(matrix));
  const auto wide = poisson<double>(30, 31), hard = with_condition(150, 1e4, 3);
  const CsrOperator<double, Cuda> C(gpu, wide), D(gpu, hard);
  for (const BasisStorage storage : {BasisStorage::fp32, BasisStorage::fp16})
    CHECK(find(C, {.nev = 4, .tolerance = least_tolerance<double>(storage)}, {.storage = storage})
              .report.converged());
  check_pairs(hard, find(D, {.nev = 5}), Which::smallest, dense_spectrum(hard));
}

TEST_CASE("lobpcg on the gpu finds pairs of A v = lambda B v") {
  Context<Cuda> gpu;
  const auto a = poisson<double>(12, 13);
  std::vector<double> d(a.rows());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = 1 + double(i % 7);
  const auto b = diagonal_matrix(d);
  const CsrOperator<double, Cuda> A(gpu, a), mass(gpu, b);
  const Jacobi<double, Cuda> jacobi(gpu, A);
  const MassScaled<double, Cuda> scaled_A(A, upload(gpu, d));
  const auto by_lanczos = find(scaled_A, {.nev = 4});
  const auto by_lobpcg = find_by(A, 4, [&](const auto& op, auto vectors) {
    return lobpcg(op, vectors, {.nev = 4}, {.preconditioner = &jacobi, .mass = &mass});
  });
  CHECK(by_lanczos.report.converged());
  CHECK(by_lobpcg.report.converged());
  for (int i = 0; i < 4; ++i)
    CHECK(by_lobpcg.report.pairs[i].value ==
          doctest::Approx(by_lanczos.report.pairs[i].value).epsilon(1e-7));
}

TEST_CASE("the eigensolvers on the gpu allocate nothing after their workspace") {
  const auto matrix = poisson<double>(30, 20);
  Context<Cuda> gpu;
  const CsrOperator<double, Cuda> A(gpu, matrix);
  LanczosWorkspace<double, Cuda> lanczos_work(gpu, matrix.rows(), 4, {.block = 2});
  LobpcgWorkspace<double, Cuda> lobpcg_work(gpu, matrix.rows(), 4);
  const std::int64_t before = gpu.allocations();
  CHECK(lanczos(A, {}, {.nev = 4}, true, lanczos_work).converged());
  CHECK(lobpcg(A, {}, {.nev = 4}, {}, lobpcg_work).converged());
  CHECK(gpu.allocations() == before);
}

}  // namespace
}  // namespace tansolve::test
