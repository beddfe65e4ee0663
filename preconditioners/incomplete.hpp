// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factorisations as preconditioners: two triangular solves.
#pragma once

#include <tansolve/kernels/triangular_solve.hpp>
#include <tansolve/preconditioners/incomplete_factors.hpp>

#include <cstdint>
#include <memory>

namespace tansolve {

/// z = U^-1 (L^-1 r) for incomplete factors of A: IC(0) for symmetric positive definite A, where it
/// is so, too, ILU(0) for others. The solves depend row on row: threads of the host share rows of
/// one level; on a GPU they are cuSPARSE's SpSV. Holds both factors, uncompressed, a vector, and
/// what TriangularSolve copies of the factors. Refers to A only while it is built.
template <class T, class B>
class Incomplete final : public LinearOperator<T, B> {
 public:
  enum class Kind { cholesky, lu };

  /// `shift` is the first that is tried. Throws as incomplete_cholesky, incomplete_lu and
  /// TriangularSolve do.
  Incomplete(Context<B>& context, const Csr<T>& A, Kind kind, double shift = 0);

  std::string name() const override { return kind_ == Kind::cholesky ? "ic0" : "ilu0"; }
  bool capturable() const override { return lower_.capturable() && upper_.capturable(); }
  /// By which the diagonal was increased, relative to it.
  double shift() const { return factors_->shift; }
  /// Of the backend's memory: on the host both factors, their copies in the order of levels and the
  /// vector, on a GPU as TriangularSolve has it there and the vector.
  std::int64_t bytes() const;
  /// Of the host's memory beside another backend's: the factors again.
  std::int64_t host_bytes() const;

 protected:
  void apply_impl(Span<const T, B> r, Span<T, B> z) const override;

 private:
  Kind kind_;
  std::unique_ptr<const IncompleteFactors<T>> factors_;
  TriangularSolve<T, B> lower_, upper_;
  mutable Vector<T, B> between_;  ///< L^-1 r
};

}  // namespace tansolve
