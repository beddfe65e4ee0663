// SPDX-License-Identifier: BSD-3-Clause
// The inverse of a sparse triangular matrix as an operator on a GPU.
#pragma once

#include <tansolve/kernels/cuda/context.hpp>
#include <tansolve/kernels/triangular_solve.hpp>

#include <memory>

namespace tansolve {

/// SpSV of cuSPARSE, of the matrix as it is, never transposed: for such solves the same bits at
/// each call are documented. Copies the matrix to the GPU; what cuSPARSE finds out about it, and a
/// workspace, are kept besides.
template <class T>
class TriangularSolve<T, Cuda> final : public LinearOperator<T, Cuda> {
 public:
  /// Throws as on the host, and Error: out_of_memory, device.
  TriangularSolve(Context<Cuda>& context, const Csr<T>& A, Triangle triangle);
  ~TriangularSolve() override;
  std::string name() const override { return "triangular solve"; }
  bool capturable() const override { return true; }
  /// Of the copy and the workspace on the GPU; what cuSPARSE keeps of its own is not known.
  std::int64_t bytes() const;

 protected:
  void apply_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const override;

 private:
  class Solver;
  std::unique_ptr<Solver> solver_;  ///< none without rows, which cuSPARSE does not take
};

}  // namespace tansolve
