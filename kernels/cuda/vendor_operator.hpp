// SPDX-License-Identifier: BSD-3-Clause
// A matrix in one of cuSPARSE's formats as an operator: the baseline of every comparison.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/kernels/cuda/context.hpp>
#include <tansolve/kernels/linear_operator.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tansolve {

/// cuSPARSE's formats, with the algorithm where there is a choice. SELL has slices of 32 rows, BSR
/// square blocks stored by columns, multiplied by SpMV (bsr, from cuSPARSE 12.6 on, which CUDA 13.0
/// has) or by the older bsrmv.
enum class VendorFormat { csr_alg1, csr_alg2, coo_alg1, coo_alg2, sell, bsr, bsrmv };

inline constexpr std::array all_vendor_formats = {
    VendorFormat::csr_alg1, VendorFormat::csr_alg2, VendorFormat::coo_alg1, VendorFormat::coo_alg2,
    VendorFormat::sell,     VendorFormat::bsr,      VendorFormat::bsrmv};

/// Whether the matrix is stored as blocks.
constexpr bool in_blocks(VendorFormat format) {
  return format == VendorFormat::bsr || format == VendorFormat::bsrmv;
}

/// "csr_alg1", "sell", ...
std::string_view name(VendorFormat format);

/// A matrix that cuSPARSE multiplies. Copies the matrix to the GPU, converted on the host, into
/// arrays, descriptors and a workspace of its own; what cuSPARSE can prepare is prepared once, at
/// construction. Refers to the host's matrix for the diagonal; it must outlive the operator.
/// Offsets have 64 bits only where the stored entries (the padding of SELL included) need them;
/// then columns have, too, since cuSPARSE takes no mixture.
template <class T>
class VendorOperator final : public LinearOperator<T, Cuda> {
 public:
  /// `block` is the size of BSR's blocks; what is missing in them is stored as zeros. Throws Error:
  /// not_supported for a shape that blocks do not divide, a BSR matrix of 2^31 entries or more and
  /// formats that this cuSPARSE does not have, invalid_argument for blocks below 2, out_of_memory,
  /// device.
  VendorOperator(Context<Cuda>& context, const Csr<T>& matrix, VendorFormat format, int block = 3);
  ~VendorOperator() override;

  std::string name() const override;
  bool capturable() const override { return true; }  // documented for SpMV and bsrmv
  VendorFormat format() const { return format_; }
  std::int64_t matrix_bytes() const;  ///< arrays, which a product reads
  std::int64_t device_bytes() const;  ///< arrays and workspace

  /// Whether cuSPARSE documents the same bits at every call.
  static bool reproducible(VendorFormat format) {
    return format == VendorFormat::csr_alg2 || format == VendorFormat::coo_alg2;
  }

  class Product;  ///< of a nonempty matrix

 protected:
  void apply_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const override;
  void apply_impl(T alpha, Span<const T, Cuda> x, T beta, Span<T, Cuda> y) const override;
  void diagonal_impl(Span<T, Cuda> d) const override;

 private:
  const Csr<T>* matrix_;
  VendorFormat format_;
  std::unique_ptr<Product> product_;  // none without nonzeros, which cuSPARSE does not take
};

/// A matrix in BSR: the size of its blocks and the bytes of its arrays.
struct BlockChoice {
  int block;
  std::int64_t bytes;
};

/// Of blocks of 2, 3 and 6 rows, the sizes that unknowns a node and elasticity give, the one that
/// takes the fewest bytes; none where CSR takes as few or no size divides the shape.
template <class T>
std::optional<BlockChoice> choose_block(const Csr<T>& matrix);

}  // namespace tansolve
