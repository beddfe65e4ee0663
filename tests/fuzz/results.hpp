// SPDX-License-Identifier: BSD-3-Clause
// What any reader of matrices may do: return one that holds together, or throw an Error.
#pragma once

#include "fuzz/fuzz.hpp"

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/dense.hpp>
#include <tansolve/codec/error.hpp>

namespace tansolve::fuzz {

inline void check(const Csr<double>& matrix) {
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    if (matrix.offsets()[i] != last) finding("offsets do not join");
    last = matrix.offsets()[i + 1];
    for (std::int64_t k = matrix.offsets()[i]; k < last; ++k) {
      if (matrix.columns()[k] < 0 || matrix.columns()[k] >= matrix.cols())
        finding("a column outside of the matrix");
      if (k > matrix.offsets()[i] && matrix.columns()[k] <= matrix.columns()[k - 1])
        finding("columns that do not increase");
    }
  }
  if (last != matrix.nnz()) finding("offsets do not end with the nonzeros");
}

inline void check(const Dense& dense) {
  if (std::ssize(dense.values) != dense.rows * dense.cols) finding("values do not fill the shape");
}

/// Adds the name of the reader to those that took the input.
template <class Read>
void attempt(std::string_view name, std::vector<std::string_view>& takers, Read&& read) {
  try {
    check(read());
    takers.push_back(name);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) finding(error.what());
  }
}

}  // namespace tansolve::fuzz
