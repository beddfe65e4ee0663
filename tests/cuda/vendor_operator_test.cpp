// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's products against the uncompressed one of the host. They sum a row in orders of their
// own, so that they differ by roundings.
#include "cuda/products.hpp"
#include "support/backends.hpp"
#include "support/matrices.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/kernels/cuda/vendor_formats.hpp>
#include <tansolve/kernels/cuda/vendor_operator.hpp>
#include <tansolve/kernels/primitives.hpp>

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tansolve::test {
namespace {

/// `scaled`: also with alpha and beta. Values near the largest overflow in one order of the
/// factors and not in another.
template <class T>
void check_products(Context<Cuda>& context, const Csr<T>& matrix, VendorFormat format, int block,
                    bool scaled) {
  CAPTURE(name(format));
  CAPTURE(block);
  const VendorOperator<T> a(context, matrix, format, block);
  CHECK(a.capturable());
  const std::vector<T> poison(matrix.rows(), std::numeric_limits<T>::quiet_NaN());
  const auto hy = uniform_vector<T>(matrix.rows(), 43);
  for (const std::uint64_t seed : {42, 44}) {  // the second pair of vectors lies elsewhere
    const auto hx = uniform_vector<T>(matrix.cols(), seed);
    const auto x = upload(context, hx);
    auto y = upload(context, poison);
    a.apply(x, y);
    CHECK(Expected<T>(matrix, 1, hx, 0, poison).agrees(download(context, y)));
    if (!scaled) continue;
    copy_from_host(context, poison, y.span());
    a.apply(T(-2.5), x, T(0), y);
    CHECK(Expected<T>(matrix, -2.5, hx, 0, poison).agrees(download(context, y)));
    copy_from_host(context, hy, y.span());
    a.apply(T(0.5), x, T(3), y);
    CHECK(Expected<T>(matrix, 0.5, hx, 3, hy).agrees(download(context, y)));
  }
}

template <class T>
void check_every_format(const Csr<T>& matrix, bool scaled = true) {
  Context<Cuda> context;
  for (const VendorFormat format : all_vendor_formats)
    if (!in_blocks(format)) check_products(context, matrix, format, 0, scaled);
  for (const int block : {2, 3, 5, 6})
    if (matrix.rows() % block == 0 && matrix.cols() % block == 0)
      for (const VendorFormat format : {VendorFormat::bsr, VendorFormat::bsrmv})
        check_products(context, matrix, format, block, scaled);
}

TEST_CASE_TEMPLATE("cuSPARSE's formats agree with the csr product on nasty matrices", T, double,
                   float) {
  for (const auto& [name, matrix] : nasty_matrices<T>()) {
    if (matrix.cols() > 1'000'000) continue;  // gigabytes of x
    CAPTURE(name);
    check_every_format(matrix, name != "special values");
  }
}

TEST_CASE_TEMPLATE("cuSPARSE's formats agree with the csr product on structured matrices", T,
                   double, float) {
  for (const std::string& specification : structured) {
    CAPTURE(specification);
    check_every_format(convert<T>(generate(specification)));
  }
}

TEST_CASE("the formats that cuSPARSE documents as reproducible repeat to the bit") {
  Context<Cuda> context;
  const auto matrix = generate("laplacian:ba:20000:8");
  const auto x = upload(context, uniform_vector<double>(matrix.cols(), 1));
  Vector<double, Cuda> y(context, matrix.rows());
  int formats = 0;
  for (const VendorFormat format : all_vendor_formats) {
    if (!VendorOperator<double>::reproducible(format)) continue;
    ++formats;
    const VendorOperator<double> a(context, matrix, format);
    const std::int64_t allocations = context.allocations();
    a.apply(x, y);
    const auto first = download(context, y);
    for (int i = 0; i < 10; ++i) {
      a.apply(x, y);
      CHECK(download(context, y) == first);
    }
    CHECK(context.allocations() == allocations);
  }
  CHECK(formats == 2);
}

TEST_CASE("products of every vendor format are recorded in a graph and replayed") {
  Context<Cuda> context;
  const auto matrix = generate("fem3:5");
  const auto hx = uniform_vector<double>(matrix.cols(), 1),
             hy = uniform_vector<double>(matrix.rows(), 2);
  const auto x = upload(context, hx);
  for (const VendorFormat format : all_vendor_formats) {
    CAPTURE(name(format));
    const VendorOperator<double> a(context, matrix, format);
    auto y = upload(context, hy);
    const cudaStream_t stream = context.stream();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
    a.apply(2, x, 0.5, y);
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    REQUIRE(cudaGraphInstantiate(&replay, graph, 0) == cudaSuccess);
    for (int i = 0; i < 2; ++i) {
      copy_from_host(context, hy, y.span());
      CHECK(cudaGraphLaunch(replay, stream) == cudaSuccess);
      CHECK(Expected<double>(matrix, 2, hx, 0.5, hy).agrees(download(context, y)));
    }
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
  }
}

TEST_CASE("a shape that blocks do not divide is refused, and so are blocks of one row") {
  Context<Cuda> context;
  for (const VendorFormat format : {VendorFormat::bsr, VendorFormat::bsrmv}) {
    const auto code = [&](const Csr<double>& matrix, int block) -> std::optional<ErrorCode> {
      try {
        const VendorOperator<double> a(context, matrix, format, block);
      } catch (const Error& error) {
        return error.code();
      }
      return std::nullopt;
    };
    CHECK(code(generate("poisson5:5x2"), 3) == ErrorCode::not_supported);
    CHECK(code(generate("poisson5:3x2"), 1) == ErrorCode::invalid_argument);
    CHECK(code(generate("poisson5:3x2"), 3) == std::nullopt);
  }
}

TEST_CASE("a vendor operator knows its bytes and its diagonal") {
  Context<Cuda> context;
  const auto matrix = generate("varcoef7:5");
  std::vector<double> expected(matrix.rows());
  reference::diagonal(matrix, expected.data());
  const VendorOperator<double> a(context, matrix, VendorFormat::csr_alg1);
  CHECK(a.matrix_bytes() == standard_bytes(matrix).csr);
  CHECK(a.device_bytes() >= a.matrix_bytes());
  const auto bytes = [&](VendorFormat format) {
    return VendorOperator<double>(context, matrix, format).matrix_bytes();
  };
  CHECK(bytes(VendorFormat::coo_alg1) == standard_bytes(matrix).coo);
  CHECK(bytes(VendorFormat::sell) == standard_bytes(matrix).sell);
  Vector<double, Cuda> d(context, matrix.rows());
  a.diagonal(d);
  CHECK(download(context, d) == expected);
}

// The conversions, which need no GPU.

TEST_CASE("sell pads each slice to its longest row, the last to whole rows") {
  // Rows of 1 and 2 entries in the first slice, of 1 in the second, which has one row.
  std::vector<Triplet<double>> triplets = {{0, 4, 1.0}, {1, 0, 2.0}, {1, 3, 3.0}, {32, 2, 4.0}};
  const auto matrix = Csr<double>::from_triplets(33, 5, triplets);
  const auto offsets = detail::sell_offsets(matrix);
  CHECK(offsets == std::vector<std::int64_t>{0, 64, 96});
  std::vector<std::int32_t> columns(96, -1);
  columns[0] = 4, columns[1] = 0, columns[32 + 1] = 3, columns[64] = 2;
  std::vector<double> values(96);
  values[0] = 1, values[1] = 2, values[32 + 1] = 3, values[64] = 4;
  CHECK(detail::to_sell(matrix, offsets, matrix.columns(), std::int32_t(-1)) == columns);
  CHECK(detail::to_sell(matrix, offsets, matrix.values(), 0.0) == values);
  CHECK(standard_bytes(matrix).sell == 96 * (4 + 8) + 3 * 4);
}

TEST_CASE("bsr stores blocks by columns") {
  // Two block rows of 2; the first has blocks 0 (full but one) and 2, the second block 1.
  std::vector<Triplet<double>> triplets = {{0, 0, 1.0}, {0, 1, 2.0}, {1, 1, 4.0},
                                           {1, 4, 5.0}, {2, 3, 6.0}, {3, 2, 7.0}};
  const auto matrix = Csr<double>::from_triplets(4, 6, triplets);
  const auto bsr = detail::to_bsr(matrix, 2);
  CHECK(bsr.offsets == std::vector<std::int32_t>{0, 2, 3});
  CHECK(bsr.columns == std::vector<std::int32_t>{0, 2, 1});
  CHECK(bsr.values == std::vector<double>{1, 0, 2, 4, 0, 5, 0, 0, 0, 7, 6, 0});
  CHECK(detail::count_blocks(matrix, 2) == 3);
}

TEST_CASE("the block size is the one that takes the fewest bytes, if fewer than csr") {
  // Full blocks of 3, those of a path of nodes: 3 a row but for the ends.
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < 36; ++i)
    for (std::int64_t j = 0; j < 36; ++j)
      if (std::abs(i / 3 - j / 3) <= 1) triplets.push_back({i, j, 1.0});
  const auto threes = Csr<double>::from_triplets(36, 36, triplets);
  const auto chosen = choose_block(threes);
  REQUIRE(chosen.has_value());
  CHECK(chosen->block == 3);
  CHECK(chosen->bytes == 34 * (9 * 8 + 4) + 13 * 4);
  // The diagonal: a block of 2 stores one zero for each entry.
  std::vector<Triplet<double>> diagonal;
  for (std::int64_t i = 0; i < 6; ++i) diagonal.push_back({i, i, 1.0});
  CHECK_FALSE(choose_block(Csr<double>::from_triplets(6, 6, diagonal)).has_value());
  CHECK_FALSE(choose_block(generate("poisson5:5")).has_value());  // 25 rows
}

}  // namespace
}  // namespace tansolve::test
