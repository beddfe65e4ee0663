// SPDX-License-Identifier: BSD-3-Clause
// Nonzeros in words of 16 bytes: the two words of the value, the difference of columns and, where a
// slot is kept whole, its code.
#pragma once

#include <tansolve/kernels/cuda/device_matrix.hpp>

#include <cstdint>

namespace tansolve::detail {

template <class T>
struct Nonzero {
  T value;
  std::uint32_t delta;
};

template <class T>
__device__ Nonzero<T> nonzero_of(const int4& word) {
  if constexpr (sizeof(T) == 8)
    return {__hiloint2double(word.y, word.x), static_cast<std::uint32_t>(word.z)};
  else
    return {__int_as_float(word.x), static_cast<std::uint32_t>(word.z)};
}

/// The entry of the symbol of a slot, with the slot's code.
template <class T, Coding coding>
__device__ int4 whole_slot(const DeviceMatrixView<T>& matrix, int slot) {
  const std::uint32_t code = matrix.codes[slot];
  const auto& [value, delta] =
      *reinterpret_cast<const SymbolEntry<T>*>(matrix.entries + (code >> offset_shift(coding)));
  int4 word = {0, 0, static_cast<int>(delta), static_cast<int>(code)};
  if constexpr (sizeof(T) == 8) {
    word.x = __double2loint(value);
    word.y = __double2hiint(value);
  } else {
    word.x = __float_as_int(value);
  }
  return word;
}

}  // namespace tansolve::detail
