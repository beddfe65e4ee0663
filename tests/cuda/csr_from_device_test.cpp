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

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <vector>

namespace tansolve::test {
namespace {

/// An array on the GPU, as a program of a user's own holds it.
template <class E>
class DeviceArray {
 public:
  explicit DeviceArray(const std::vector<E>& elements) {
    const std::size_t bytes = elements.size() * sizeof(E);
    REQUIRE(cudaMalloc(&data_, bytes + 1) == cudaSuccess);
    REQUIRE(cudaMemcpy(data_, elements.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);  // the context reads in a stream of its own
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { cudaFree(data_); }
  const E* data() const { return static_cast<const E*>(data_); }

 private:
  void* data_ = nullptr;
};

/// The matrix, by way of arrays on the GPU.
template <class Offset, class T>
Csr<T> there_and_back(Context<Cuda>& context, const Csr<T>& a) {
  const DeviceArray<Offset> offsets({a.offsets().begin(), a.offsets().end()});
  const DeviceArray<std::int32_t> columns({a.columns().begin(), a.columns().end()});
  const DeviceArray<T> values({a.values().begin(), a.values().end()});
  return csr_from_device(context, a.rows(), a.cols(), a.nnz(), offsets.data(), columns.data(),
                         values.data());
}

TEST_CASE_TEMPLATE("arrays on the gpu come back bit for bit, with offsets of 32 and 64 bits", T,
                   double, float) {
  Context<Cuda> context;
  for (const auto& [name, matrix] : nasty_matrices<T>()) {
    CAPTURE(name);
    CHECK(same_bits(there_and_back<std::int32_t>(context, matrix), matrix));
    CHECK(same_bits(there_and_back<std::int64_t>(context, matrix), matrix));
  }
}

TEST_CASE("a matrix from the gpu is encoded and multiplied as one from the host") {
  Context<Cuda> context;
  const auto matrix = generate("fem3:6");
  const auto returned = there_and_back<std::int32_t>(context, matrix);
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
  const DeviceArray<std::int64_t> offsets({0, 3});
  const DeviceArray<std::int32_t> columns({4, 1, 4});
  const DeviceArray<double> values({2, 3, 5});
  const auto matrix = csr_from_device(context, 1, 5, 3, offsets.data(), columns.data(),
                                      values.data(), Duplicates::sum);
  CHECK(std::ranges::equal(matrix.columns(), std::vector<std::int32_t>{1, 4}));
  CHECK(std::ranges::equal(matrix.values(), std::vector<double>{3, 7}));
}

TEST_CASE("bad arrays on the gpu are refused with what is wrong") {
  Context<Cuda> context;
  const auto code = [&](std::int64_t rows, std::int64_t cols, std::int64_t nnz,
                        const std::vector<std::int32_t>& offsets,
                        const std::vector<std::int32_t>& columns) -> std::optional<ErrorCode> {
    const DeviceArray o(offsets), c(columns);
    const DeviceArray v(std::vector<double>(columns.size(), 1.0));
    try {
      csr_from_device(context, rows, cols, nnz, o.data(), c.data(), v.data());
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
  const DeviceArray offsets(host);
  const DeviceArray<std::int32_t> columns({0});
  const double* none = nullptr;
  CHECK_THROWS_WITH_AS(
      csr_from_device(context, 1, 1, 1, host.data(), columns.data(), none),
      "offsets: a pointer to host memory where 2 elements in the memory of a GPU are needed",
      Error);
  CHECK_THROWS_WITH_AS(csr_from_device(context, 1, 1, 1, offsets.data(), columns.data(), none),
                       "values: a null pointer where 1 elements in the memory of a GPU are needed",
                       Error);
  CHECK_NOTHROW(context.synchronize());
}

}  // namespace
}  // namespace tansolve::test
