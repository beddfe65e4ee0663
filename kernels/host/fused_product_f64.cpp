// SPDX-License-Identifier: BSD-3-Clause
// The fused product in double: isa_kernels.inl compiled for every ISA, and their list.
#define TANSOLVE_FUSED_TYPE double
// AVX2 and AVX-512 are what matters on x86 besides the default; each ISA costs half a minute of
// building.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#define HWY_TARGET_INCLUDE "tansolve/kernels/host/isa_kernels.inl"
#include <hwy/foreach_target.h>

#include "isa_kernels.inl"

namespace tansolve::detail {

template <>
std::vector<IsaKernels<double>> isa_kernels() {
  return {
#if HWY_TARGETS & HWY_AVX3
    {HWY_AVX3, &N_AVX3::kernel_table},
#endif
#if HWY_TARGETS & HWY_AVX2
        {HWY_AVX2, &N_AVX2::kernel_table},
#endif
#if HWY_STATIC_TARGET != HWY_AVX3 && HWY_STATIC_TARGET != HWY_AVX2
        {HWY_STATIC_TARGET, &HWY_NAMESPACE::kernel_table},
#endif
  };
}

}  // namespace tansolve::detail
