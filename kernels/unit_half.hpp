// SPDX-License-Identifier: BSD-3-Clause
// Half-precision numbers for the elements of vectors of norm 1.
#pragma once

#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

#include <bit>
#include <cstdint>

namespace tansolve {

/// A number of size up to 1 in 16 bits: IEEE binary16 of 2^15 times it. An element of a vector of
/// norm 1 and length n is about n^(-1/2), which binary16 itself would hold with few bits or none
/// where n is large; this keeps 11 significant bits down to 2^-29 and nothing below 2^-40. Rounds
/// to nearest, ties to even; larger numbers below 2 are kept, too, beyond that and for NaN the
/// result is unspecified.
class UnitHalf {
 public:
  UnitHalf() = default;
  // Binary16 with its exponent and fraction moved to where binary32 has them is the number times
  // 2^-112 (the biases are 15 and 127), subnormal ones included; 2^15 is taken off together with
  // that.
  constexpr explicit UnitHalf(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value * 0x1p-97F);
    const std::uint32_t size = bits & 0x7fffffffU;
    const std::uint32_t rounded = (size + 0xfffU + (size >> 13 & 1U)) >> 13;
    bits_ = static_cast<std::uint16_t>((bits >> 16 & 0x8000U) | rounded);
  }
  constexpr explicit UnitHalf(double value) : UnitHalf(static_cast<float>(value)) {}
  constexpr explicit operator float() const {
#ifdef __CUDA_ARCH__
    return __half2float(__ushort_as_half(bits_)) * 0x1p-15F;
#else
    const std::uint32_t wide = bits_;
    return std::bit_cast<float>((wide & 0x8000U) << 16 | (wide & 0x7fffU) << 13) * 0x1p97F;
#endif
  }
  // The same within binary64, whose bias is 1023: without the conversion from float, of which a GPU
  // does few at a time.
  constexpr explicit operator double() const {
    const auto wide = static_cast<std::uint32_t>(static_cast<std::int16_t>(bits_));
    const std::uint64_t high = wide << 10 & 0x81fffc00U;
    return std::bit_cast<double>(high << 32) * 0x1p993;
  }

 private:
  std::uint16_t bits_;
};

}  // namespace tansolve
