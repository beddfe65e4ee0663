// SPDX-License-Identifier: BSD-3-Clause
// In how few bits the values of a matrix can be written as fields.
#pragma once

#include <tansolve/codec/arrays.hpp>
#include <tansolve/codec/csr.hpp>

#include <cstdint>

namespace tansolve {

/// A format without its exceptions' places, and how many there will be, at most.
template <class T>
struct ValueFormatChoice {
  ValueFormat<T> format;
  std::int64_t exceptions = 0;
};

/// The format with the fewest bytes among: an index into a dictionary of at most 2^16 distinct
/// values (where each comes four times or more on average); the difference to the least magnitude;
/// the same where exponents outside a window are exceptions, at most one in 256; the bits as they
/// are. Zero bits that all values end with are dropped. `sign`: whether fields hold signs, where
/// they are no index.
template <class T>
ValueFormatChoice<T> choose_value_format(const Csr<T>& matrix, bool sign, int threads = 0);

}  // namespace tansolve
