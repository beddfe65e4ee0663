// SPDX-License-Identifier: BSD-3-Clause
// A matrix that a preconditioner multiplies by: compressed where the planner says that it pays.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/planner.hpp>
#include <tansolve/kernels/linear_operator.hpp>

#include <memory>
#include <optional>

namespace tansolve {

/// Owns a matrix, encoded as CSR-dtANS or as it is, and its operator. `request` is the planner's;
/// its processor is that of B.
template <class T, class B>
class Factor {
 public:
  /// `threads` plan and encode it; 0: as many as OpenMP would start.
  Factor(Context<B>& context, Csr<T> matrix, PlanRequest request, int threads = 0);

  const LinearOperator<T, B>& product() const { return *operator_; }
  bool compressed() const { return compressed_ != nullptr; }
  std::int64_t bytes() const;       ///< of what a product reads
  std::int64_t host_bytes() const;  ///< of the matrix on the host, which its operator refers to
  std::int64_t csr_bytes() const { return csr_bytes_; }

 private:
  std::int64_t csr_bytes_;
  std::unique_ptr<const Csr<T>> csr_;  ///< one of these two
  std::unique_ptr<const CompressedMatrix<T>> compressed_;
  std::unique_ptr<LinearOperator<T, B>> operator_;
};

}  // namespace tansolve
