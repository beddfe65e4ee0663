// SPDX-License-Identifier: BSD-3-Clause
// Every real file: encoded by every coding, back bit for bit, and multiplied as Eigen does.
#include "support/matrices.hpp"

#include <tansolve/codec/eigen.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/files.hpp>
#include <tansolve/kernels/compressed_operator.hpp>

#include <doctest/doctest.h>

#include <Eigen/SparseCore>
#include <random>
#include <string>

using namespace tansolve;

namespace {

/// The sparse matrix in a file, unless it is one that tansolve says it does not support.
std::optional<Csr<double>> read_supported(const std::filesystem::path& file) {
  try {
    return read_matrix(file);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::not_supported) throw;
    CHECK(std::string(error.what()).find("complex") != std::string::npos);
    return std::nullopt;
  }
}

void check_products(const Csr<double>& matrix) {
  std::mt19937_64 random(9);
  Eigen::VectorXd x(matrix.cols());
  for (auto& value : x) value = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
  const Eigen::VectorXd expected =
      to_eigen<Eigen::SparseMatrix<double, Eigen::RowMajor>>(matrix) * x;

  const Histogram histogram = count_pairs(matrix);
  Context<Host> context;
  for (const CodingTraits& coding : all_codings) {
    CAPTURE(coding.name);
    const auto compressed = encode(matrix, {coding.coding, 2, RowEnds::aligned}, histogram);
    CHECK(test::same_bits(compressed.decode(), matrix));
    Eigen::VectorXd y(matrix.rows());
    CompressedOperator<double, Host>(context, compressed)
        .apply({x.data(), x.size()}, {y.data(), y.size()});
    CHECK((y - expected).norm() <= 1e-14 * expected.norm());
  }
}

}  // namespace

TEST_CASE("real matrices come back bit for bit and multiply as Eigen does to 1e-14") {
  const auto folder = test::real_matrices();
  if (!folder) {
    MESSAGE("skipped: TANSOLVE_MATRICES names no folder");
    return;
  }
  int matrices = 0;
  for (const auto& entry : std::filesystem::directory_iterator(*folder)) {
    if (entry.path().extension() != ".gz") continue;
    CAPTURE(entry.path().filename().string());
    const auto matrix = read_supported(entry.path());
    if (!matrix) continue;
    check_products(*matrix);
    ++matrices;
  }
  CHECK(matrices >= 30);
}
