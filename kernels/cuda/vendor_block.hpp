// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's product of a matrix with several vectors: the baseline of block products.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/kernels/vector.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tansolve {

/// How a block of vectors lies in memory: one column after the other, or one row.
enum class BlockLayout { columns, rows };

/// Algorithms of SpMM for CSR.
enum class VendorBlockAlgorithm { csr_alg1, csr_alg2, csr_alg3 };
inline constexpr std::array all_vendor_block_algorithms = {
    VendorBlockAlgorithm::csr_alg1, VendorBlockAlgorithm::csr_alg2, VendorBlockAlgorithm::csr_alg3};

/// "csr_alg1", ...
std::string_view name(VendorBlockAlgorithm algorithm);

/// SpMM by cuSPARSE. Copies the matrix to the GPU; what can be prepared is prepared at
/// construction, for the vectors given there.
template <class T>
class VendorBlockProduct {
 public:
  /// X has columns * cols() elements, Y columns * rows(); apply() reads and writes these. Throws
  /// Error: invalid_argument for other sizes, not_supported for what cuSPARSE does not take and
  /// matrices without nonzeros, out_of_memory, device.
  VendorBlockProduct(Context<Cuda>& context, const Csr<T>& matrix, std::int64_t columns,
                     BlockLayout layout, VendorBlockAlgorithm algorithm, Span<const T, Cuda> X,
                     Span<T, Cuda> Y);
  ~VendorBlockProduct();

  /// Y = A X.
  void apply() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tansolve
