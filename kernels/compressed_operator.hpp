// SPDX-License-Identifier: BSD-3-Clause
// A compressed matrix as an operator: decoded inside every product.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/kernels/linear_operator.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tansolve {

/// A CSR-dtANS matrix as an operator. Refers to the matrix, which must outlive it, and keeps
/// besides it its coding tables spread over their slots, at most 1.3 MiB, and lists of tasks, 8
/// bytes for every 32 KiB of streams or 1024 slices and for every 4096 rows. On the host each row
/// is summed in the order of its columns, every product rounded before it is added, so that the
/// result has the bits of CsrOperator's, on every instruction set and number of threads; apply_dot
/// sums x'y while y is in cache, where the rows of a slice divide 4096. The diagonal is decoded
/// anew at each call.
template <class T, class B>
class CompressedOperator final : public LinearOperator<T, B> {
 public:
  /// `isa` forces an instruction set of the host by its name (see supported_isas()); "" takes the
  /// one that the variable TANSOLVE_ISA names, else the best. Throws Error(invalid_argument) for
  /// others.
  CompressedOperator(Context<B>& context, const CompressedMatrix<T>& matrix,
                     const std::string& isa = "");
  ~CompressedOperator() override;

  std::string name() const override { return "dtans"; }
  const CompressedMatrix<T>& matrix() const { return *matrix_; }
  /// To be called after update_values() on the matrix, before the next product.
  void refresh();

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override;
  void apply_impl(T alpha, Span<const T, B> x, T beta, Span<T, B> y) const override;
  void apply_dot_impl(Span<const T, B> x, Span<T, B> y, Scalar<T, B>& xy) const override;
  /// Decodes once for every eight columns.
  void apply_block_impl(std::int64_t columns, Span<const T, B> X, Span<T, B> Y) const override;
  void diagonal_impl(Span<T, B> d) const override;

 private:
  struct Prepared;

  void product(int columns, T alpha, const T* x, T beta, T* y) const;

  const CompressedMatrix<T>* matrix_;
  std::string isa_;
  std::unique_ptr<Prepared> prepared_;
};

/// Names of the host's instruction sets that this machine runs and this library was built for, best
/// first, in lower case; "scalar" is understood everywhere.
std::vector<std::string> supported_isas();

}  // namespace tansolve

#if TANSOLVE_HAS_CUDA
#include <tansolve/kernels/cuda/compressed_operator.hpp>
#endif
