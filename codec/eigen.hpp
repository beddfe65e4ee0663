// SPDX-License-Identifier: BSD-3-Clause
// From Eigen's sparse matrices and to them, by copying.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/error.hpp>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tansolve {

/// Eigen::SparseMatrix, of any order and index type, and Maps and Refs of one. This header uses
/// only their members and so includes nothing of Eigen: whoever has such a matrix has included it.
/// Csr has 64-bit offsets and 32-bit columns where Eigen has one type for both, hence copies and no
/// views.
template <class M>
concept EigenSparse = requires(const M& matrix) {
  typename M::Scalar;
  typename M::StorageIndex;
  { M::IsRowMajor != 0 } -> std::convertible_to<bool>;
  { matrix.isCompressed() } -> std::convertible_to<bool>;
  { matrix.outerIndexPtr() } -> std::convertible_to<const typename M::StorageIndex*>;
  { matrix.innerIndexPtr() } -> std::convertible_to<const typename M::StorageIndex*>;
  { matrix.valuePtr() } -> std::convertible_to<const typename M::Scalar*>;
};

/// The same matrix, explicit zeros included. Compressed or not, the inner indices in any order. A
/// matrix stored by columns is transposed on the way and held twice meanwhile. Throws what Csr
/// throws: for more than 2^31 - 1 rows or columns, indices out of range, an entry that occurs
/// twice.
template <EigenSparse M>
Csr<typename M::Scalar> from_eigen(const M& matrix) {
  using T = typename M::Scalar;
  const std::int64_t outer_size = matrix.outerSize(), inner_size = matrix.innerSize();
  if (std::max(outer_size, inner_size) > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::invalid_argument, "an Eigen matrix of " + std::to_string(matrix.rows()) +
                                                 " x " + std::to_string(matrix.cols()) +
                                                 ": each dimension must be at most 2147483647");

  const auto* begins = matrix.outerIndexPtr();
  const auto length = [&](std::int64_t i) -> std::int64_t {
    return matrix.isCompressed() ? begins[i + 1] - begins[i] : matrix.innerNonZeroPtr()[i];
  };
  std::vector<std::int64_t> offsets(outer_size + 1);
  for (std::int64_t i = 0; i < outer_size; ++i) offsets[i + 1] = offsets[i] + length(i);
  std::vector<std::int32_t> indices(offsets[outer_size]);
  std::vector<T> values(offsets[outer_size]);
  for (std::int64_t i = 0; i < outer_size; ++i) {
    std::transform(matrix.innerIndexPtr() + begins[i],
                   matrix.innerIndexPtr() + begins[i] + length(i), indices.begin() + offsets[i],
                   [&](std::int64_t j) {
                     // What lies outside stays outside, for Csr to refuse, when 64 bits become 32.
                     return static_cast<std::int32_t>(std::clamp<std::int64_t>(j, -1, inner_size));
                   });
    std::copy_n(matrix.valuePtr() + begins[i], length(i), values.begin() + offsets[i]);
  }
  Csr<T> by_outer(outer_size, inner_size, std::move(offsets), std::move(indices),
                  std::move(values));
  if constexpr (M::IsRowMajor)
    return by_outer;
  else
    return transpose(by_outer);
}

/// The same matrix as a compressed M, such as Eigen::SparseMatrix<double, Eigen::RowMajor>; by
/// columns, it is transposed on the way. Throws Error(not_supported) when M::StorageIndex cannot
/// count the nonzeros.
template <EigenSparse M>
M to_eigen(const Csr<typename M::Scalar>& matrix) {
  using Index = typename M::StorageIndex;
  if (std::max({matrix.nnz(), matrix.rows(), matrix.cols()}) > std::numeric_limits<Index>::max())
    throw Error(ErrorCode::not_supported, std::to_string(matrix.nnz()) +
                                              " nonzeros are more than the " +
                                              std::to_string(8 * sizeof(Index)) +
                                              "-bit StorageIndex of the Eigen matrix counts");
  M result(matrix.rows(), matrix.cols());
  result.resizeNonZeros(matrix.nnz());
  const auto copy = [&](const Csr<typename M::Scalar>& by_outer) {
    std::ranges::copy(by_outer.offsets(), result.outerIndexPtr());
    std::ranges::copy(by_outer.columns(), result.innerIndexPtr());
    std::ranges::copy(by_outer.values(), result.valuePtr());
  };
  M::IsRowMajor ? copy(matrix) : copy(transpose(matrix));
  return result;
}

}  // namespace tansolve
