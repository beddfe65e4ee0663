// SPDX-License-Identifier: BSD-3-Clause
// The fused product on the host: decode and multiply slice by slice, compiled for several ISAs.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tansolve::detail {

/// The coding tables of a compressed matrix spread over their slots, for look-ups by slot.
template <class T>
struct SlotTables {
  /// What a nonzero's symbol stands for where one table codes both.
  struct Pair {
    T value;
    std::uint32_t delta;
  };

  explicit SlotTables(const CompressedMatrix<T>& matrix);

  std::vector<std::uint32_t> codes[2];  ///< base << 16 | digit, by table and slot
  /// By two neighbouring byte slots: product of bases << 24 | joint digit << 16 | the digits in
  /// their bytes. Empty in other geometries.
  std::vector<std::uint32_t> pair_codes;
  std::vector<Pair> pairs;            ///< by slot
  std::vector<std::uint32_t> deltas;  ///< by slot of the first of two tables
  std::vector<T> values;              ///< by slot of the second
  std::uint32_t escape[2];            ///< first slot of the escape, or CodingTable::no_escape
  bool escapes = false;               ///< some table has an escape
};

/// y = alpha A x + beta y on the rows of the slices [begin, end), without streams those of 32 coded
/// rows, but not on long rows; beta = 0 overwrites. For several columns of x and y decodes once.
/// Rows are summed in the order of their columns, every product rounded before it is added, on
/// every ISA.
template <class T>
struct FusedProduct {
  static constexpr int most_columns = 8;

  const CompressedMatrix<T>* matrix;
  const SlotTables<T>* tables;
  const T* x;
  T* y;
  T alpha;
  T beta;
  std::int64_t begin;
  std::int64_t end;
  int columns = 1;  ///< of x cols() apart, of y rows() apart

  const T* column_of_x(int c) const { return x + c * matrix->cols(); }
  T* column_of_y(int c) const { return y + c * matrix->rows(); }
};

template <class T>
using FusedKernel = void (*)(const FusedProduct<T>&);

/// By coding, without and with escapes.
template <class T>
using KernelTable = std::array<std::array<FusedKernel<T>, 2>, all_codings.size()>;

/// The kernels compiled for one Highway target.
template <class T>
struct IsaKernels {
  std::int64_t target;
  const KernelTable<T>* table;
};

/// All that were compiled, best first; the last needs no more than the compiler's default.
template <class T>
std::vector<IsaKernels<T>> isa_kernels();
template <>
std::vector<IsaKernels<double>> isa_kernels();
template <>
std::vector<IsaKernels<float>> isa_kernels();

/// Names of the instruction sets that this machine runs and this library was built for, best first,
/// in lower case (avx3, avx2, ...).
std::vector<std::string> supported_isas();

/// The kernel for an instruction set: "" takes the one that the variable TANSOLVE_ISA names, else
/// the best; "scalar" the compiler's default. Throws Error(invalid_argument) listing the names for
/// one that is unknown here.
template <class T>
FusedKernel<T> fused_kernel(Coding coding, bool escapes, std::string_view isa = "");

}  // namespace tansolve::detail
