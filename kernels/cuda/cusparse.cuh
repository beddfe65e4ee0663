// SPDX-License-Identifier: BSD-3-Clause
// What all that calls cuSPARSE shares: checked calls, owned handles, arrays on the device.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/cuda/kernels.hpp>
#include <tansolve/kernels/vector.hpp>

#include <fmt/format.h>

#include <cusparse.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace tansolve::detail {

inline void check(cusparseStatus_t status, const char* call) {
  if (status == CUSPARSE_STATUS_SUCCESS) return;
  const ErrorCode code =
      status == CUSPARSE_STATUS_ALLOC_FAILED || status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
          ? ErrorCode::out_of_memory
      : status == CUSPARSE_STATUS_NOT_SUPPORTED ? ErrorCode::not_supported
                                                : ErrorCode::device;
  throw Error(code, fmt::format("cuSPARSE: {} ({}) from {}", cusparseGetErrorString(status),
                                cusparseGetErrorName(status), call));
}
/// Whatever cuSPARSE creates, released without complaint.
template <class Object, auto destroy>
struct Destroy {
  void operator()(Object* object) const noexcept { destroy(object); }
};
template <class Handle, auto destroy>
using Owned =
    std::unique_ptr<std::remove_pointer_t<Handle>, Destroy<std::remove_pointer_t<Handle>, destroy>>;

using CusparseLibrary = Owned<cusparseHandle_t, cusparseDestroy>;
using CusparseMatrix = Owned<cusparseSpMatDescr_t, cusparseDestroySpMat>;
using CusparseVector = Owned<cusparseDnVecDescr_t, cusparseDestroyDnVec>;

/// `create` writes a handle, as all of cuSPARSE's constructors do.
template <class Owner, class Create>
Owner made(Create create, const char* call) {
  typename Owner::pointer object = nullptr;
  check(create(&object), call);
  return Owner(object);
}

#define TANSOLVE_CUSPARSE_CHECK(...) ::tansolve::detail::check((__VA_ARGS__), #__VA_ARGS__)

inline CusparseLibrary cusparse_library(Context<Cuda>& context) {
  const cudaStream_t stream = context.stream();  // and makes the device current
  auto library = made<CusparseLibrary>(cusparseCreate, "cusparseCreate");
  TANSOLVE_CUSPARSE_CHECK(cusparseSetStream(library.get(), stream));
  TANSOLVE_CUSPARSE_CHECK(cusparseSetPointerMode(library.get(), CUSPARSE_POINTER_MODE_HOST));
  return library;
}

/// Owns the arrays that a descriptor points to.
class DeviceArrays {
 public:
  explicit DeviceArrays(Context<Cuda>& context) : context_(&context) {}

  void* reserve(std::size_t bytes) {
    arrays_.emplace_back(*context_, static_cast<std::int64_t>(bytes));
    bytes_ += static_cast<std::int64_t>(bytes);
    return arrays_.back().span().data();
  }
  /// A copy of a host array.
  template <class E>
  E* add(std::span<const E> elements) {
    void* memory = reserve(elements.size_bytes());
    transfer(*context_, elements.data(), memory, elements.size_bytes());
    return static_cast<E*>(memory);
  }
  /// A copy of a host array as numbers of another type.
  template <class E, class Source>
  E* add_as(const Source& elements) {
    if constexpr (std::is_same_v<E, typename Source::value_type>)
      return add(std::span<const E>(elements));
    else
      return add<E>(std::vector<E>(elements.begin(), elements.end()));
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  Context<Cuda>* context_;
  std::vector<Vector<std::byte, Cuda>> arrays_;
  std::int64_t bytes_ = 0;
};

template <class T>
inline constexpr cudaDataType data_type = std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F;
template <class Index>
inline constexpr cusparseIndexType_t index_type =
    std::is_same_v<Index, std::int64_t> ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;

template <class T>
CusparseVector cusparse_vector(std::int64_t size, T* values) {
  return made<CusparseVector>(
      [&](auto* v) { return cusparseCreateDnVec(v, size, values, data_type<T>); },
      "cusparseCreateDnVec");
}

template <class Index, class T>
CusparseMatrix cusparse_csr(const Csr<T>& a, DeviceArrays& arrays) {
  auto* offsets = arrays.add_as<Index>(a.offsets());
  auto* columns = arrays.add_as<Index>(a.columns());
  auto* values = arrays.add<T>(a.values());
  return made<CusparseMatrix>(
      [&](auto* m) {
        return cusparseCreateCsr(m, a.rows(), a.cols(), a.nnz(), offsets, columns, values,
                                 index_type<Index>, index_type<Index>, CUSPARSE_INDEX_BASE_ZERO,
                                 data_type<T>);
      },
      "cusparseCreateCsr");
}

/// Above it, offsets need 64 bits.
inline constexpr std::int64_t most_32_bit = std::numeric_limits<std::int32_t>::max();

}  // namespace tansolve::detail
