// SPDX-License-Identifier: BSD-3-Clause
// The stored vectors of a basis as kernels take them.
#pragma once

#include <tansolve/kernels/unit_half.hpp>

#include <cstdint>

namespace tansolve::detail {

/// Vectors begin at multiples of so many elements: 256 bytes of the narrowest storage.
inline constexpr std::int64_t basis_alignment = 128;

/// The first k vectors of n elements; element i of vector j lies at data[j * stride + i].
template <class S>
struct BasisView {
  S* data;
  std::int64_t n, stride, k;
};
template <class S>  // clang before 17 deduces no aggregates
BasisView(S*, std::int64_t, std::int64_t, std::int64_t)->BasisView<S>;

}  // namespace tansolve::detail

/// Expands instantiate(T, S) for every working type T and storage type S.
#define TANSOLVE_FOR_EACH_STORAGE(instantiate)                                                     \
  instantiate(double, double) instantiate(double, float) instantiate(double, ::tansolve::UnitHalf) \
      instantiate(float, float) instantiate(float, ::tansolve::UnitHalf)
