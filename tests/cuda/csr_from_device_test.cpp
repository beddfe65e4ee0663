// SPDX-License-Identifier: BSD-3-Clause
// CSR arrays that already lie on the GPU become matrices like any others.
#include "cuda/products.hpp"
#include "support/backends.hpp"
#include "support/matrices.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/cuda/csr_from_device.hpp>
#include <tansolve/kernels/cuda/vendor_operator.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace tansolve::test {
namespace {

/// The arrays of a matrix, as a program of a user's own holds them.
template <class T, class Offset>
struct DeviceArrays {
  DeviceArrays(Context<Cuda>& context, const Csr<T>& a)
      : offsets(upload(context, std::vector<Offset>(a.offsets().begin(), a.offsets().end()))),
        columns(upload(context, std::vector<std::int32_t>(a.columns().begin(), a.columns().end()))),
        values(upload(context, std::vector<T>(a.values().begin(), a.values().end()))) {}

  Vector<Offset, Cuda> offsets;
  Vector<std::int32_t, Cuda> columns;
  Vector<T, Cuda> values;
};

template <class T, class Offset>
void check_return(Context<Cuda>& context, const Csr<T>& matrix) {
  const DeviceArrays<T, Offset> device(context, matrix);
  const auto returned = csr_from_device(context, matrix.rows(), matrix.cols(), matrix.nnz(),
                                        device.offsets.span().data(), device.columns.span().data(),
                                        device.values.span().data());
  CHECK(same_bits(returned, matrix));
}

TEST_CASE_TEMPLATE("arrays on the gpu come back bit for bit, with offsets of 32 and 64 bits", T,
                   double, float) {
  Context<Cuda> context;
  for (const auto& [name, matrix] : nasty_matrices<T>()) {
    CAPTURE(name);
    check_return<T, std::int32_t>(context, matrix);
    check_return<T, std::int64_t>(context, matrix);
  }
}

TEST_CASE("a matrix from the gpu is encoded and multiplied as one from the host") {
  Context<Cuda> context;
  const auto matrix = generate("fem3:6");
  const DeviceArrays<double, std::int32_t> device(context, matrix);
  const auto returned = csr_from_device(context, matrix.rows(), matrix.cols(), matrix.nnz(),
                                        device.offsets.span().data(), device.columns.span().data(),
                                        device.values.span().data());
  const auto compressed = compress(returned);
  const CompressedOperator<double, Cuda> fused(context, compressed);
  const CsrOperator<double, Cuda> csr(context, returned);
  const VendorOperator<double> vendor(context, returned, VendorFormat::csr_alg2);
  const auto hx = uniform_vector<double>(matrix.cols(), 1);
  const std::vector<double> zero(matrix.rows());
  const Expected<double> expected(matrix, 1, hx, 0, zero);
  const auto x = upload(context, hx);
  for (const LinearOperator<double, Cuda>* a :
       {static_cast<const LinearOperator<double, Cuda>*>(&fused),
        static_cast<const LinearOperator<double, Cuda>*>(&csr),
        static_cast<const LinearOperator<double, Cuda>*>(&vendor)}) {
    auto y = upload(context, zero);
    a->apply(x, y);
    CHECK(expected.agrees(download(context, y)));
  }
}

TEST_CASE("unsorted rows on the gpu are sorted, and duplicates summed where that is asked for") {
  Context<Cuda> context;
  const auto offsets = upload<std::int64_t>(context, {0, 3});
  const auto columns = upload<std::int32_t>(context, {4, 1, 4});
  const auto values = upload<double>(context, {2, 3, 5});
  const auto matrix = csr_from_device(context, 1, 5, 3, offsets.span().data(),
                                      columns.span().data(), values.span().data(), Duplicates::sum);
  CHECK(std::ranges::equal(matrix.columns(), std::vector<std::int32_t>{1, 4}));
  CHECK(std::ranges::equal(matrix.values(), std::vector<double>{3, 7}));
}

TEST_CASE("bad arrays on the gpu are refused with what is wrong") {
  Context<Cuda> context;
  const auto code = [&](std::int64_t rows, std::int64_t cols, std::int64_t nnz,
                        const std::vector<std::int32_t>& offsets,
                        const std::vector<std::int32_t>& columns) -> std::optional<ErrorCode> {
    const auto o = upload(context, offsets), c = upload(context, columns);
    const auto v = upload(context, std::vector<double>(columns.size(), 1.0));
    try {
      csr_from_device(context, rows, cols, nnz, o.span().data(), c.span().data(), v.span().data());
    } catch (const Error& error) {
      return error.code();
    }
    return std::nullopt;
  };
  CHECK(code(2, 3, 3, {0, 1, 3}, {0, 1, 2}) == std::nullopt);
  CHECK(code(-1, 3, 0, {0}, {}) == ErrorCode::invalid_argument);
  CHECK(code(2, 3, -1, {0, 0, 0}, {}) == ErrorCode::invalid_argument);
  CHECK(code(2, 3, 2, {0, 1, 3}, {0, 1, 2}) == ErrorCode::invalid_argument);
  CHECK(code(2, 3, 2, {1, 1, 2}, {0, 1}) == ErrorCode::invalid_argument);
  CHECK(code(2, 3, 2, {0, 3, 2}, {0, 1}) == ErrorCode::invalid_argument);
  CHECK(code(2, 3, 2, {0, 1, 2}, {0, 3}) == ErrorCode::bad_input);
  CHECK(code(2, 3, 2, {0, 2, 2}, {1, 1}) == ErrorCode::bad_input);
}

TEST_CASE("pointers to host memory and null pointers are refused, and the context lives on") {
  Context<Cuda> context;
  const std::vector<std::int32_t> host = {0, 1};
  const auto offsets = upload(context, host);
  const auto columns = upload<std::int32_t>(context, {0});
  const double* none = nullptr;
  CHECK_THROWS_WITH_AS(
      csr_from_device(context, 1, 1, 1, host.data(), columns.span().data(), none),
      "offsets: a pointer to host memory where 2 elements in the memory of a GPU are needed",
      Error);
  CHECK_THROWS_WITH_AS(
      csr_from_device(context, 1, 1, 1, offsets.span().data(), columns.span().data(), none),
      "values: a null pointer where 1 elements in the memory of a GPU are needed", Error);
  CHECK(download(context, offsets) == host);
}

}  // namespace
}  // namespace tansolve::test
