// SPDX-License-Identifier: BSD-3-Clause
// Fetches CSR arrays from a GPU, the offsets first, which say how long the others have to be.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/cuda/csr_from_device.hpp>
#include <tansolve/kernels/cuda/runtime.cuh>

#include <fmt/format.h>

#include <limits>
#include <utility>
#include <vector>

namespace tansolve {
namespace {

/// `count` elements from device memory.
template <class E>
std::vector<E> fetch(Context<Cuda>& context, const char* name, const E* from, std::int64_t count) {
  std::vector<E> elements(count);
  if (count == 0) return elements;
  const cudaStream_t stream = context.stream();  // and makes the device current
  cudaPointerAttributes memory = {};
  if (from != nullptr) TANSOLVE_CUDA_CHECK(cudaPointerGetAttributes(&memory, from));
  if (memory.type != cudaMemoryTypeDevice && memory.type != cudaMemoryTypeManaged)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: {} where {} elements in the memory of a GPU are needed", name,
                    from == nullptr ? "a null pointer" : "a pointer to host memory", count));
  TANSOLVE_CUDA_CHECK(
      cudaMemcpyAsync(elements.data(), from, count * sizeof(E), cudaMemcpyDeviceToHost, stream));
  context.synchronize();
  return elements;
}

}  // namespace

template <class T, class Offset>
Csr<T> csr_from_device(Context<Cuda>& context, std::int64_t rows, std::int64_t cols,
                       std::int64_t nnz, const Offset* offsets, const std::int32_t* columns,
                       const T* values, Duplicates duplicates) {
  if (rows < 0 || rows > std::numeric_limits<std::int32_t>::max() || nnz < 0)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("a matrix of {} rows and {} nonzeros: rows must lie in [0, {}], "
                            "nonzeros not below 0",
                            rows, nnz, std::numeric_limits<std::int32_t>::max()));
  const auto fetched = fetch(context, "offsets", offsets, rows + 1);
  if (fetched.back() != nnz)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("offsets: the last is {}, but there are {} nonzeros",
                            static_cast<std::int64_t>(fetched.back()), nnz));
  auto host_columns = fetch(context, "columns", columns, nnz);
  auto host_values = fetch(context, "values", values, nnz);
  return Csr<T>(rows, cols, {fetched.begin(), fetched.end()}, std::move(host_columns),
                std::move(host_values), duplicates);
}

#define TANSOLVE_INSTANTIATE(T, Offset)                                                     \
  template Csr<T> csr_from_device(Context<Cuda>&, std::int64_t, std::int64_t, std::int64_t, \
                                  const Offset*, const std::int32_t*, const T*, Duplicates);
TANSOLVE_INSTANTIATE(double, std::int32_t)
TANSOLVE_INSTANTIATE(double, std::int64_t)
TANSOLVE_INSTANTIATE(float, std::int32_t)
TANSOLVE_INSTANTIATE(float, std::int64_t)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
