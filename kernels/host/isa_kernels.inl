// SPDX-License-Identifier: BSD-3-Clause
// All products of one value type for one ISA, and their table.
#include "array_product.inl"
#include "slice_product.inl"

HWY_BEFORE_NAMESPACE();
namespace tansolve::detail::HWY_NAMESPACE {

/// By coding, without and with escapes.
#define TANSOLVE_KERNELS(geometry, tables)                        \
  {                                                               \
    fused_slices<TANSOLVE_FUSED_TYPE, geometry, tables, false>,   \
        fused_slices<TANSOLVE_FUSED_TYPE, geometry, tables, true> \
  }
constexpr KernelTable<TANSOLVE_FUSED_TYPE> kernel_table = {
    {TANSOLVE_KERNELS(wide_geometry, 2),
     TANSOLVE_KERNELS(wide_geometry, 1),
     TANSOLVE_KERNELS(byte_geometry, 1),
     TANSOLVE_KERNELS(fixed8_geometry, 1),
     TANSOLVE_KERNELS(fixed12_geometry, 1),
     TANSOLVE_KERNELS(fixed16_geometry, 1),
     {pattern_rows<TANSOLVE_FUSED_TYPE>, pattern_rows<TANSOLVE_FUSED_TYPE>},
     {field_rows<TANSOLVE_FUSED_TYPE>, field_rows<TANSOLVE_FUSED_TYPE>},
     {field_rows<TANSOLVE_FUSED_TYPE>, field_rows<TANSOLVE_FUSED_TYPE>}}};
#undef TANSOLVE_KERNELS

}  // namespace tansolve::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
