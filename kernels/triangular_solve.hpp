// SPDX-License-Identifier: BSD-3-Clause
// The inverse of a sparse triangular matrix as an operator.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/kernels/linear_operator.hpp>

namespace tansolve {

enum class Triangle { lower, upper };

/// y = A^-1 x for a triangular A, row by row: forwards where it is lower, backwards where it is
/// upper. Refers to the matrix, which must outlive it. On the host it is serial; each row is summed
/// in the order of its columns.
template <class T, class B>
class TriangularSolve final : public LinearOperator<T, B> {
 public:
  /// Throws Error: invalid_argument unless A is square, bad_input, with count and first row, for
  /// rows whose diagonal element is absent, zero or not finite, or that reach beyond it.
  TriangularSolve(Context<B>& context, const Csr<T>& A, Triangle triangle);
  std::string name() const override { return "triangular solve"; }
  bool capturable() const override { return true; }

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override;

 private:
  const Csr<T>* matrix_;
  Triangle triangle_;
};

namespace detail {

/// Throws as the constructor does.
template <class T>
void require_triangular(const Csr<T>& A, Triangle triangle);

}  // namespace detail
}  // namespace tansolve

#if TANSOLVE_HAS_CUDA
#include <tansolve/kernels/cuda/triangular_solve.hpp>
#endif
