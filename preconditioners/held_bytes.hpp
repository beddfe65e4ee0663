// SPDX-License-Identifier: BSD-3-Clause
// What matrices and arrays take in the host's memory.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <cstdint>
#include <vector>

namespace tansolve::detail {

template <class E>
std::int64_t held_bytes(const std::vector<E>& array) {
  return static_cast<std::int64_t>(array.size() * sizeof(E));
}

/// With offsets of 64 bits, as Csr holds them.
template <class T>
std::int64_t held_bytes(const Csr<T>& matrix) {
  return static_cast<std::int64_t>(matrix.offsets().size_bytes() + matrix.columns().size_bytes() +
                                   matrix.values().size_bytes());
}

}  // namespace tansolve::detail
