// SPDX-License-Identifier: BSD-3-Clause
// Block-Jacobi against dense inverses: natural and given blocks, precision, refusals.
#include <tansolve/preconditioners/block_jacobi.hpp>

#include "preconditioners/dense.hpp"
#include "support/matrices.hpp"

namespace tansolve::test {
namespace {

constexpr BlockJacobiOptions full_precision = {.low_precision_error = 0};

/// The inverses of the blocks of these sizes.
Eigen::MatrixXd inverted(const Csr<double>& A, const std::vector<int>& sizes) {
  const Eigen::MatrixXd a = dense(A);
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(a.rows(), a.cols());
  int first = 0;
  for (const int size : sizes) {
    result.block(first, first, size, size) = a.block(first, first, size, size).inverse();
    first += size;
  }
  REQUIRE(first == a.rows());
  return result;
}

TEST_CASE("natural blocks are consecutive rows with the same columns") {
  std::vector<Triplet<double>> triplets;
  const auto add = [&](std::int64_t row, std::initializer_list<std::int64_t> columns) {
    for (const std::int64_t j : columns) triplets.push_back({row, j, row == j ? 4.0 : 1.0});
  };
  add(0, {0, 1, 5});
  add(1, {0, 1, 5});
  add(2, {2, 3, 4});
  add(3, {2, 3, 4});
  add(4, {2, 3, 4});
  add(5, {0, 1, 5});
  const auto A = Csr<double>::from_triplets(6, 6, triplets);
  CHECK(natural_blocks(A, 32) == std::vector<int>{2, 3, 1});
  CHECK(natural_blocks(A, 2) == std::vector<int>{2, 2, 1, 1});
  CHECK(natural_blocks(A, 1) == std::vector<int>(6, 1));
  CHECK(natural_blocks(generate("fem3:3"), 32) == std::vector<int>(27, 3));
  CHECK(natural_blocks(Csr<double>(), 32).empty());
}

TEST_CASE_TEMPLATE("block-jacobi multiplies by the inverses of the blocks", S,
                   Setting<double, Host, 2>, Setting<double, Checked>) {
  auto context = S::context();
  using M = BlockJacobi<double, typename S::B>;
  const Csr<double> A = generate("fem3:4");
  CHECK(distance(dense(M(context, A, full_precision)), inverted(A, std::vector<int>(64, 3))) <
        1e-14);
  std::vector<int> sizes(38, 5);
  sizes.push_back(2);
  CHECK(distance(dense(M(context, A, {.size = 5, .low_precision_error = 0})), inverted(A, sizes)) <
        1e-13);
  // Not symmetric, one block in all.
  const Csr<double> B = upwind(6, 5);
  CHECK(distance(dense(M(context, B, {.size = 30, .low_precision_error = 0})), dense(B).inverse()) <
        1e-13);
}

TEST_CASE("block-jacobi is the same for any number of threads, also where threads share the work") {
  const Csr<double> A = generate("fem3:18");  // 17496 rows
  Context<Host> one(1), three(3);
  const BlockJacobi<double, Host> serial(one, A, {.threads = 1}),
      parallel(three, A, {.threads = 3});
  const std::vector<double> x(A.rows(), 1.0);
  Vector<double, Host> y(one, A.rows()), z(three, A.rows());
  serial.apply(upload(one, x), y);
  parallel.apply(upload(three, x), z);
  CHECK(download(one, y) == download(three, z));
}

TEST_CASE_TEMPLATE("block-jacobi is symmetric positive definite, in every precision", S,
                   Setting<double, Host, 2>, Setting<float, Host, 1>, Setting<float, Checked>) {
  using T = typename S::T;
  auto context = S::context();
  const auto A = convert<T>(full_definite(60, 5));
  check_definite(BlockJacobi<T, typename S::B>(context, A, {.size = 7}));
  check_definite(BlockJacobi<T, typename S::B>(context, A, {.size = 7, .low_precision_error = 0}));
}

TEST_CASE("inverses are stored in fp32 where the condition of their block allows") {
  // Blocks of condition 3 and of about 4e8.
  const auto A = Csr<double>::from_triplets(4, 4,
                                            std::vector<Triplet<double>>{{0, 0, 2.0},
                                                                         {0, 1, 1.0},
                                                                         {1, 0, 1.0},
                                                                         {1, 1, 2.0},
                                                                         {2, 2, 1.0},
                                                                         {2, 3, 1.0},
                                                                         {3, 2, 1.0},
                                                                         {3, 3, 1.0 + 1e-8}});
  Context<Host> context(1);
  const BlockJacobi<double, Host> M(context, A, {.size = 2});
  CHECK(M.inverses().blocks[0].low);
  CHECK_FALSE(M.inverses().blocks[1].low);
  CHECK(M.inverses().low.size() == 4);
  CHECK(M.inverses().values.size() == 4);
  CHECK(M.bytes() == 2 * 16 + 4 * 4 + 4 * 8);
  CHECK(dense(M)(0, 0) == static_cast<float>(2.0 / 3));
  CHECK(dense(M)(2, 2) == doctest::Approx(1e8).epsilon(1e-7));
  CHECK(BlockJacobi<double, Host>(context, A, {.size = 2, .low_precision_error = 0})
            .inverses()
            .low.empty());
  // What fp32 cannot hold stays in double.
  const auto tiny = diagonal_matrix<double>({1e-60, 1e60, 3});
  const BlockJacobi<double, Host> out_of_range(context, tiny);
  CHECK(out_of_range.inverses().values == std::vector<double>{1 / 1e-60, 1 / 1e60});
  CHECK(out_of_range.inverses().low.size() == 1);
}

TEST_CASE("block-jacobi refuses singular blocks, with count and first row") {
  Context<Checked> context;
  const auto refused = [&](const Csr<double>& A, const BlockJacobiOptions& options,
                           ErrorCode code = ErrorCode::bad_input) {
    return refusal(code, [&] { BlockJacobi<double, Checked>(context, A, options); });
  };
  CHECK(refused(diagonal_matrix<double>({1, 2, 3, 0, 5, std::nan("")}), {.size = 2}) ==
        "block-jacobi: 2 of 3 diagonal blocks are singular or without a finite inverse, the first "
        "begins in row 3 (counting from 1)");
  CHECK(refused(diagonal_matrix<double>({1, 0}), {}) ==
        "block-jacobi: 1 of 2 diagonal blocks are singular or without a finite inverse, the first "
        "begins in row 2 (counting from 1)");
  // A zero on the diagonal of a regular block does no harm.
  const auto swap = Csr<double>::from_triplets(
      2, 2, std::vector<Triplet<double>>{{0, 0, 0.0}, {0, 1, 1.0}, {1, 0, 1.0}, {1, 1, 0.0}});
  CHECK(distance(dense(BlockJacobi<double, Checked>(context, swap)), dense(swap)) == 0);
  const auto invalid = ErrorCode::invalid_argument;
  CHECK(refused(swap, {.size = 65}, invalid) ==
        "block-jacobi: size is 65, it must be from 0 to 64");
  CHECK(refused(swap, {.most_rows = 0}, invalid) ==
        "block-jacobi: most_rows is 0, it must be from 1 to 64");
  const auto wide = Csr<double>::from_triplets(1, 2, std::vector<Triplet<double>>{{0, 0, 1.0}});
  CHECK(refused(wide, {}, invalid) == "block-jacobi: the matrix is 1 x 2, it must be square");
}

TEST_CASE("block-jacobi refuses blocks whose inverse its precision cannot hold") {
  Context<Checked> context;
  const std::vector<float> diagonal = {1, 1e-40f, 1e-38f};
  CHECK(refusal(ErrorCode::bad_input,
                [&] { BlockJacobi<float, Checked>(context, diagonal_matrix<float>(diagonal)); }) ==
        "block-jacobi: 1 of 3 diagonal blocks are singular or without a finite inverse, the first "
        "begins in row 2 (counting from 1)");
  const BlockJacobi<double, Checked> M(context, diagonal_matrix<double>({1, 1e-40, 1e-38}));
  CHECK(dense(M)(1, 1) == doctest::Approx(1e40));
}

TEST_CASE("products with diagonal blocks allocate nothing") {
  Context<Checked> context;
  const BlockJacobi<double, Checked> M(context, generate("fem3:3"));
  check_no_allocation(M);
  CHECK(M.name() == "block-jacobi");
}

}  // namespace
}  // namespace tansolve::test
