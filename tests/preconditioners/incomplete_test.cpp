// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factorisations against their definitions, shifts, and triangular solves.
#include <tansolve/kernels/triangular_solve.hpp>
#include <tansolve/preconditioners/incomplete.hpp>

#include "preconditioners/dense.hpp"
#include "support/elements.hpp"

namespace tansolve::test {
namespace {

/// Symmetric positive definite, but incomplete Cholesky breaks down (Kershaw, J. Comput. Phys. 26
/// (1978)).
Csr<double> kershaw() {
  return Csr<double>::from_triplets(4, 4,
                                    std::vector<Triplet<double>>{{0, 0, 3.0},
                                                                 {0, 1, -2.0},
                                                                 {0, 3, 2.0},
                                                                 {1, 0, -2.0},
                                                                 {1, 1, 3.0},
                                                                 {1, 2, -2.0},
                                                                 {2, 1, -2.0},
                                                                 {2, 2, 3.0},
                                                                 {2, 3, -2.0},
                                                                 {3, 0, 2.0},
                                                                 {3, 2, -2.0},
                                                                 {3, 3, 3.0}});
}

/// Whether lower upper has A's entries on A's pattern, and lower and upper have no others.
void check_factors(const Csr<double>& A, const IncompleteFactors<double>& factors) {
  const Eigen::MatrixXd product = dense(factors.lower) * dense(factors.upper);
  double worst = 0;
  for (std::int64_t i = 0; i < A.rows(); ++i)
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k)
      worst = std::max(worst, std::abs(product(i, A.columns()[k]) - A.values()[k]));
  CHECK(worst <= 1e-14 * dense(A).norm());
  CHECK(factors.lower.nnz() + factors.upper.nnz() == A.nnz() + A.rows());
  CHECK(factors.shift == 0);
}

TEST_CASE("incomplete cholesky without fill has the matrix's entries on its pattern") {
  for (const Csr<double>& A :
       {anisotropic<double>(7, 6, 0.1), generate("varcoef7:4:100"), generate("fem3:3")}) {
    const auto factors = incomplete_cholesky(A);
    check_factors(A, factors);
    CHECK(distance(dense(factors.upper), dense(factors.lower).transpose()) == 0);
  }
}

TEST_CASE("incomplete lu without fill has the matrix's entries on its pattern") {
  for (const Csr<double>& A : {upwind(7, 6), generate("convdiff7:4"), generate("varcoef7:4:100")}) {
    const auto factors = incomplete_lu(A);
    check_factors(A, factors);
    CHECK(dense(factors.lower).diagonal().isOnes(0));
  }
}

TEST_CASE_TEMPLATE("triangular solves by levels give the bits of those row by row", T, double,
                   float) {
  const auto check = [](const Csr<T>& A, bool levels) {
    const auto factors = incomplete_lu(A);
    const auto b = random_elements<T>(A.rows(), 1);
    Context<Host> serial(1);
    for (const Triangle triangle : {Triangle::lower, Triangle::upper}) {
      const Csr<T>& factor = triangle == Triangle::lower ? factors.lower : factors.upper;
      const TriangularSolve<T, Host> row_by_row(serial, factor, triangle);
      CHECK(row_by_row.levels() == 0);
      std::vector<T> expected(A.rows()), x(A.rows());
      row_by_row.apply({b.data(), A.rows()}, {expected.data(), A.rows()});
      for (const int threads : {2, 3, 5}) {
        Context<Host> context(threads);
        const TriangularSolve<T, Host> by_levels(context, factor, triangle);
        CHECK((by_levels.levels() > 0) == levels);
        by_levels.apply({b.data(), A.rows()}, {x.data(), A.rows()});
        CHECK(x == expected);
      }
    }
  };
  check(convert<T>(generate("poisson5:150")), true);  // 299 levels of up to 150 rows
  check(convert<T>(generate("convdiff7:24")), true);
  check(convert<T>(generate("poisson5:100")), false);     // 199 of 50 rows on average
  check(convert<T>(generate("poisson5:2000x1")), false);  // one row a level
  check(Csr<T>::from_triplets(0, 0, {}), false);
}

TEST_CASE("the levels of a grid are its diagonals") {
  Context<Host> context(2);
  const auto factors = incomplete_cholesky(generate("poisson5:200x150"));
  CHECK(TriangularSolve<double, Host>(context, factors.lower, Triangle::lower).levels() == 349);
  CHECK(TriangularSolve<double, Host>(context, factors.upper, Triangle::upper).levels() == 349);
}

TEST_CASE("incomplete factors count their copies in the order of levels") {
  // 22500 rows, 44700 entries beside the diagonal of each factor, in 299 levels.
  const std::int64_t n = 150 * 150, beside = 2 * 150 * 149;
  using M = Incomplete<double, Host>;
  Context<Host> one(1), two(2);
  const Csr<double> A = generate("poisson5:150");
  const std::int64_t factors = 2 * ((beside + n) * 12 + (n + 1) * 8), vector = 8 * n;
  CHECK(M(one, A, M::Kind::cholesky).bytes() == factors + vector);
  const std::int64_t levels = 300 * 8 + n * 4 + (n + 1) * 8 + beside * 12 + n * 8;
  CHECK(M(two, A, M::Kind::cholesky).bytes() == factors + vector + 2 * levels);
}

TEST_CASE_TEMPLATE("on a full pattern, incomplete factorisations are the inverse", S,
                   Setting<double, Host, 2>, Setting<double, Checked>) {
  auto context = S::context();
  using M = Incomplete<double, typename S::B>;
  const Csr<double> A = full_definite(20, 4);
  const Eigen::MatrixXd inverse = test::inverse(dense(A));
  for (const auto kind : {M::Kind::cholesky, M::Kind::lu})
    CHECK(distance(dense(M(context, A, kind)), inverse) < 1e-12);
}

TEST_CASE_TEMPLATE("incomplete cholesky is symmetric positive definite", S,
                   Setting<double, Host, 2>, Setting<float, Host, 1>, Setting<float, Checked>) {
  using T = typename S::T;
  using M = Incomplete<T, typename S::B>;
  auto context = S::context();
  check_definite(M(context, convert<T>(generate("varcoef7:5:1000")), M::Kind::cholesky));
  check_definite(M(context, convert<T>(kershaw()), M::Kind::cholesky));
}

TEST_CASE("incomplete cholesky that breaks down is shifted, and says by how much") {
  Context<Host> context(1);
  using M = Incomplete<double, Host>;
  const M preconditioner(context, kershaw(), M::Kind::cholesky);
  CHECK(preconditioner.shift() > 0);
  CHECK(preconditioner.shift() < 1);
  // As of the shifted matrix, which does not break down.
  Eigen::MatrixXd a = dense(kershaw());
  a.diagonal() *= 1 + preconditioner.shift();
  std::vector<Triplet<double>> triplets;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      if (a(i, j) != 0) triplets.push_back({i, j, a(i, j)});
  const auto direct = incomplete_cholesky(Csr<double>::from_triplets(4, 4, triplets));
  CHECK(direct.shift == 0);
  CHECK(distance(dense(preconditioner), (dense(direct.lower) * dense(direct.upper)).inverse()) <
        1e-14);
}

TEST_CASE("incomplete factorisations refuse what has none, with count and first row") {
  const auto bad = ErrorCode::bad_input;
  CHECK(refusal(bad,
                [] {
                  incomplete_cholesky(diagonal_matrix<double>({1, -1, 0}));
                }) ==
        "ic0: 2 of 3 diagonal elements are not positive with a finite inverse, first in row 2 "
        "(counting from 1): -1");
  CHECK(refusal(bad,
                [] {
                  incomplete_lu(diagonal_matrix<double>({1, -1, 0}));
                }) ==
        "ilu0: 1 of 3 diagonal elements are zero, absent or without a finite inverse, first in row "
        "3 (counting from 1): 0");
  const auto with_corner = [](double corner) {
    return Csr<double>::from_triplets(
        2, 2,
        std::vector<Triplet<double>>{{0, 0, 1.0}, {0, 1, corner}, {1, 0, corner}, {1, 1, 1.0}});
  };
  CHECK(refusal(bad, [&] { incomplete_cholesky(with_corner(std::nan(""))); }) ==
        "ic0: 2 of 4 entries are not finite, the first in row 1 (counting from 1)");
  CHECK(
      refusal(bad, [&] { incomplete_cholesky(with_corner(1e6)); }) ==
      "ic0: breaks down in row 2 (counting from 1) even with the diagonal 525.288 times as large");
  CHECK(incomplete_lu(with_corner(1e6)).shift == 0);
  CHECK(incomplete_lu(with_corner(1)).shift == doctest::Approx(1e-3));
  const auto wide = Csr<double>::from_triplets(1, 2, std::vector<Triplet<double>>{{0, 0, 1.0}});
  CHECK(refusal(ErrorCode::invalid_argument, [&] { incomplete_lu(wide); }) ==
        "ilu0: the matrix is 1 x 2, it must be square");
}

TEST_CASE_TEMPLATE("a triangular solve solves with either triangle", S, Setting<double, Host, 2>,
                   Setting<double, Checked>) {
  auto context = S::context();
  const Csr<double> A = upwind(8, 5);
  const auto factors = incomplete_lu(A);
  const auto check = [&](const Csr<double>& triangle, Triangle which) {
    const TriangularSolve<double, typename S::B> solve(context, triangle, which);
    CHECK(distance(dense(solve), dense(triangle).inverse()) < 1e-14);
  };
  check(factors.lower, Triangle::lower);
  check(factors.upper, Triangle::upper);
  CHECK(refusal(ErrorCode::bad_input,
                [&] {
                  TriangularSolve<double, typename S::B>(context, factors.lower, Triangle::upper);
                }) ==
        "triangular solve: 39 of 40 rows do not begin with a diagonal element that is finite and "
        "not zero, the first is row 2 (counting from 1)");
}

TEST_CASE("solves with incomplete factors allocate nothing") {
  Context<Checked> context;
  using M = Incomplete<double, Checked>;
  const M ic(context, anisotropic<double>(5, 4, 0.5), M::Kind::cholesky);
  check_no_allocation(ic);
  CHECK(ic.name() == "ic0");
  // 51 entries and 21 offsets of 8 bytes a factor, and a vector.
  CHECK(ic.bytes() == 2 * (51 * 12 + 21 * 8) + 20 * 8);
  CHECK(ic.host_bytes() == 0);
  CHECK(M(context, upwind(5, 4), M::Kind::lu).name() == "ilu0");
}

}  // namespace
}  // namespace tansolve::test
