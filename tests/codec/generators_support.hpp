// SPDX-License-Identifier: BSD-3-Clause
// What the tests of the generators share: dense copies and a fingerprint of the bits.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/eigen.hpp>

#include <Eigen/Dense>
#include <Eigen/SparseCore>

#include <bit>
#include <cstdint>

namespace tansolve::test {

inline Eigen::MatrixXd dense(const Csr<double>& matrix) {
  return to_eigen<Eigen::SparseMatrix<double, Eigen::RowMajor>>(matrix);
}

inline bool is_positive_definite(const Csr<double>& matrix) {
  return is_symmetric(matrix) &&
         Eigen::LLT<Eigen::MatrixXd>(dense(matrix)).info() == Eigen::Success;
}

/// FNV-1a over the 64-bit words of offsets, columns and values.
inline std::uint64_t fingerprint(const Csr<double>& matrix) {
  std::uint64_t hash = 0xcbf29ce484222325;
  const auto add = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3; };
  for (const std::int64_t offset : matrix.offsets()) add(static_cast<std::uint64_t>(offset));
  for (const std::int32_t col : matrix.columns()) add(static_cast<std::uint64_t>(col));
  for (const double value : matrix.values()) add(std::bit_cast<std::uint64_t>(value));
  return hash;
}

}  // namespace tansolve::test
