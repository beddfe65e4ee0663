// SPDX-License-Identifier: BSD-3-Clause
// FSAI against its definition: patterns, rounding, compression, refusals.
#include <tansolve/preconditioners/fsai.hpp>

#include "preconditioners/dense.hpp"
#include "support/matrices.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace tansolve::test {
namespace {

constexpr int exact = 52;

/// G A G' has a diagonal of 1, and G A no entries on G's pattern below the diagonal.
void check_definition(const Csr<double>& A, const Csr<double>& G) {
  const Eigen::MatrixXd GA = dense(G) * dense(A);
  const Eigen::VectorXd diagonal = (GA * Eigen::MatrixXd(dense(G).transpose())).diagonal();
  CHECK((diagonal.array() - 1).abs().maxCoeff() < 1e-13);
  double worst = 0;
  for (std::int64_t i = 0; i < G.rows(); ++i)
    for (std::int64_t k = G.offsets()[i]; k < G.offsets()[i + 1] - 1; ++k)
      worst = std::max(worst, std::abs(GA(i, G.columns()[k])) / GA.row(i).norm());
  CHECK(worst < 1e-13);
}

/// The trace over the n-th root of the determinant, over n: 1 for a multiple of the identity.
double kaporin(const Csr<double>& A, const Csr<double>& G) {
  const Eigen::MatrixXd a = dense(G) * dense(A) * Eigen::MatrixXd(dense(G).transpose());
  const Eigen::VectorXd eigenvalues = test::eigenvalues(a);
  return eigenvalues.mean() / std::exp(eigenvalues.array().log().mean());
}

std::vector<std::vector<std::int32_t>> pattern(const Csr<double>& G) {
  std::vector<std::vector<std::int32_t>> rows;
  for (std::int64_t i = 0; i < G.rows(); ++i) {
    const auto row = G.columns().subspan(G.offsets()[i], G.row_nnz(i));
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

std::vector<std::vector<std::int32_t>> lower_pattern(const Eigen::MatrixXd& a) {
  std::vector<std::vector<std::int32_t>> rows(a.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    for (Eigen::Index j = 0; j <= i; ++j)
      if (a(i, j) != 0) rows[i].push_back(static_cast<std::int32_t>(j));
  return rows;
}

TEST_CASE("the factor of fsai minimises on the lower triangle of a power's pattern") {
  for (const Csr<double>& A :
       {anisotropic<double>(7, 6, 0.1), generate("varcoef7:4:1000"), generate("fem3:3")}) {
    const auto first = fsai_factor(A, {.mantissa_bits = exact});
    check_definition(A, first);
    CHECK(pattern(first) == lower_pattern(dense(A)));
    const auto second = fsai_factor(A, {.power = 2, .most_entries = 1000, .mantissa_bits = exact});
    check_definition(A, second);
    const Eigen::MatrixXd positive = dense(A).cwiseAbs();  // so that no sum is 0 by chance
    CHECK(pattern(second) == lower_pattern(positive * positive));
    CHECK(kaporin(A, second) < kaporin(A, first));
  }
}

TEST_CASE("on a full pattern the factor of fsai is the inverse of the cholesky factor") {
  const Csr<double> A = full_definite(20, 4);
  const auto G = fsai_factor(A, {.mantissa_bits = exact});
  const Eigen::MatrixXd L = cholesky_factor(dense(A));
  CHECK(distance(dense(G), test::inverse(L)) < 1e-12);
}

TEST_CASE("adaptive patterns grow where that lowers kaporin's number most") {
  const Csr<double> A = anisotropic<double>(9, 8, 0.01);
  const auto adapted = [&](int steps, int entries) {
    return fsai_factor(
        A,
        {.power = 0, .adaptive_steps = steps, .adaptive_entries = entries, .mantissa_bits = exact});
  };
  const auto diagonal = adapted(0, 1);
  CHECK(diagonal.nnz() == A.rows());
  double before = kaporin(A, diagonal);
  for (int steps = 1; steps <= 4; ++steps) {
    const auto G = adapted(steps, 1);
    check_definition(A, G);
    CHECK(kaporin(A, G) < before);
    before = kaporin(A, G);
    for (std::int64_t i = 0; i < A.rows(); ++i) CHECK(G.row_nnz(i) <= 1 + steps);
  }
  // The first to come is the neighbour in the direction of strong coupling.
  const auto G = adapted(1, 1);
  for (std::int64_t i = 0; i < A.rows(); ++i)
    if (i % 9 > 0) CHECK(G.columns()[G.offsets()[i]] == i - 1);
  CHECK(adapted(2, 3).nnz() > adapted(2, 1).nnz());
}

TEST_CASE("long rows of fsai keep their strongest entries, and of equals the nearest") {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < 6; ++i) triplets.push_back({i, i, 10.0});
  const double last[] = {1, 3, 1, 1, 2};
  for (std::int64_t j = 0; j < 5; ++j) {
    triplets.push_back({5, j, last[j]});
    triplets.push_back({j, 5, last[j]});
  }
  const auto A = Csr<double>::from_triplets(6, 6, triplets);
  const auto G = fsai_factor(A, {.most_entries = 4});
  CHECK(pattern(G)[5] == std::vector<std::int32_t>{1, 3, 4, 5});
}

TEST_CASE("values of fsai are rounded to the bits that were asked for") {
  const Csr<double> A = generate("varcoef7:5:1000");
  const auto G = fsai_factor(A, {.mantissa_bits = exact});
  const auto rounded = fsai_factor(A, {.mantissa_bits = 10});
  CHECK(pattern(rounded) == pattern(G));
  double worst = 0;
  std::uint64_t low_bits = 0;
  for (std::int64_t k = 0; k < G.nnz(); ++k) {
    worst = std::max(worst, std::abs(rounded.values()[k] / G.values()[k] - 1));
    std::uint64_t bits;
    std::memcpy(&bits, &rounded.values()[k], sizeof(bits));
    low_bits |= bits & ((std::uint64_t{1} << 42) - 1);
  }
  CHECK(low_bits == 0);
  CHECK(worst > std::ldexp(1.0, -13));
  CHECK(worst <= std::ldexp(1.0, -11));
}

TEST_CASE("the factor of fsai does not depend on the number of threads") {
  const Csr<double> A = generate("varcoef7:13:1000");
  const FsaiPattern adaptive = {.adaptive_steps = 1};
  CHECK(same_bits(fsai_factor(A, adaptive, 1), fsai_factor(A, adaptive, 3)));
}

TEST_CASE_TEMPLATE("fsai multiplies by its factor and the transpose", S, Setting<double, Host, 2>,
                   Setting<float, Host, 1>, Setting<double, Checked>, Setting<float, Checked>) {
  using T = typename S::T;
  auto context = S::context();
  const auto A = convert<T>(generate("varcoef7:5:1000"));
  const Fsai<T, typename S::B> M(context, A);
  const Eigen::MatrixXd G = dense(fsai_factor(A, {}));
  const double rounding = 10 * static_cast<double>(std::numeric_limits<T>::epsilon());
  CHECK(distance(dense(M), G.transpose() * G) < rounding);
  check_definite(M);
  // Whatever the pattern, and however coarse the rounding.
  for (const FsaiPattern& pattern :
       {FsaiPattern{.power = 0, .adaptive_steps = 3, .adaptive_entries = 2},
        FsaiPattern{.power = 2, .mantissa_bits = 1}})
    check_definite(Fsai<T, typename S::B>(context, A, {.pattern = pattern}));
}

TEST_CASE("the factors of fsai are compressed") {
  Context<Host> context(1);
  const auto ratio = [&](const char* spec) {
    const Fsai<double, Host> M(context, generate(spec));
    CHECK(M.lower().compressed());
    CHECK(M.upper().compressed());
    return static_cast<double>(M.lower().bytes() + M.upper().bytes()) /
           static_cast<double>(M.csr_bytes());
  };
  CHECK(ratio("varcoef7:24:10000") <= 0.7);
  CHECK(ratio("poisson7:40") <= 0.1);
}

TEST_CASE("fsai refuses what is not positive definite, with count and first row") {
  Context<Host> context(1);
  const auto refused = [&](const Csr<double>& A, const FsaiPattern& options = {},
                           ErrorCode code = ErrorCode::bad_input) {
    return refusal(code, [&] { Fsai<double, Host>(context, A, {.pattern = options}); });
  };
  CHECK(refused(diagonal_matrix<double>({1, 0, -3, 1})) ==
        "fsai: 2 of 4 diagonal elements are not positive with a finite inverse, first in row 2 "
        "(counting from 1): 0");
  CHECK(refused(Csr<double>::from_triplets(
            3, 3, std::vector<Triplet<double>>{{0, 0, 1.0}, {1, 0, 1.0}, {2, 2, 1.0}})) ==
        "fsai: 1 of 3 diagonal elements are not positive with a finite inverse, first in row 2 "
        "(counting from 1): 0");
  const auto indefinite = Csr<double>::from_triplets(
      3, 3,
      std::vector<Triplet<double>>{
          {0, 0, 1.0}, {0, 1, 2.0}, {1, 0, 2.0}, {1, 1, 1.0}, {2, 2, 1.0}});
  CHECK(refused(indefinite) ==
        "fsai: 1 of 3 rows have a principal submatrix that is not positive definite or not finite, "
        "the first is row 2 (counting from 1)");
  const auto invalid = ErrorCode::invalid_argument;
  const auto one = diagonal_matrix<double>({1});
  CHECK(refused(one, {.power = 3}, invalid) == "fsai: power is 3, it must be 0, 1 or 2");
  CHECK(refused(one, {.mantissa_bits = 0}, invalid) ==
        "fsai: mantissa_bits is 0, it must be at least 1");
  CHECK(refused(one, {.most_entries = 0}, invalid) ==
        "fsai: most_entries is 0, it must be at least 1");
}

TEST_CASE("fsai refuses entries that are not finite before it orders any") {
  const double infinite = std::numeric_limits<double>::infinity();
  const auto not_finite =
      Csr<double>::from_triplets(4, 4,
                                 std::vector<Triplet<double>>{{0, 0, 1.0},
                                                              {1, 1, 1.0},
                                                              {1, 2, infinite},
                                                              {2, 2, 1.0},
                                                              {3, 0, std::nan("")},
                                                              {3, 1, std::nan("")},
                                                              {3, 2, 0.1},
                                                              {3, 3, 1.0}});
  const FsaiPattern patterns[] = {
      {}, {.most_entries = 2}, {.power = 2}, {.power = 0, .adaptive_steps = 1}};
  for (const FsaiPattern& options : patterns)
    CHECK(refusal(ErrorCode::bad_input, [&] { fsai_factor(not_finite, options); }) ==
          "fsai: 3 of 8 entries are not finite, the first in row 2 (counting from 1)");
}

TEST_CASE("adaptive patterns of fsai pass over columns whose promise is infinity less infinity") {
  // Row 3 of the factor begins with +-7e149 in columns 0 and 1, and column 2 has 1e300 in both
  // rows.
  const double huge = 1e300, tiny = 1e-300;
  const auto A = Csr<double>::from_triplets(4, 4,
                                            std::vector<Triplet<double>>{{0, 0, tiny},
                                                                         {0, 2, huge},
                                                                         {1, 1, tiny},
                                                                         {1, 2, huge},
                                                                         {2, 2, 1.0},
                                                                         {3, 0, -0.5 * tiny},
                                                                         {3, 1, 0.5 * tiny},
                                                                         {3, 3, tiny}});
  CHECK(pattern(fsai_factor(A, {.adaptive_steps = 1})) ==
        std::vector<std::vector<std::int32_t>>{{0}, {1}, {2}, {0, 1, 3}});
}

TEST_CASE("products with fsai allocate nothing") {
  Context<Checked> context;
  const Fsai<double, Checked> M(context, anisotropic<double>(6, 5, 0.1));
  check_no_allocation(M);
  CHECK(M.name() == "fsai");
  CHECK(M.bytes() == M.lower().bytes() + M.upper().bytes() + 30 * 8);
}

}  // namespace
}  // namespace tansolve::test
