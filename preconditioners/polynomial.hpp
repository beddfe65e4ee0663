// SPDX-License-Identifier: BSD-3-Clause
// Polynomials in the matrix as preconditioners: nothing but products with it.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>
#include <tansolve/preconditioners/eigenvalue_bounds.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tansolve {

/// The polynomial that is least far from the inverse on the interval of `bounds`, for symmetric
/// positive definite matrices. Of even degree it is positive definite even where eigenvalues lie
/// outside of the interval; of odd degree only if none lies above it.
struct Chebyshev {
  int degree = 4;  ///< products with A
  /// Of D^-1 A, by default estimated: see estimate_bounds. Below `lower` the effect of M falls off
  /// linearly, and the wider the interval, the weaker is M on it: by default `lower` is at least
  /// upper / (degree + 1)^2, so that M A varies by a factor of 1.7 on the interval.
  std::optional<EigenvalueBounds> bounds = {};
  int lanczos_steps = 16;
  std::uint64_t seed = 1;
};

/// The first terms of the Neumann series, sum (I - omega D^-1 A)^k omega D^-1: as many damped steps
/// of Jacobi's iteration. For symmetric positive definite A, M is so, too, if the degree is even or
/// omega times the largest eigenvalue of D^-1 A is below 2.
struct Neumann {
  int degree = 2;  ///< products with A
  /// omega; by default the least of 1 and 2 / upper, for A symmetric positive definite: see
  /// estimate_bounds. For other matrices it is to be given: 1 suits dominant diagonals.
  std::optional<double> damping = {};
  int lanczos_steps = 16;
  std::uint64_t seed = 1;
};

/// z = M r, M = p(D^-1 A) D^-1 by a recurrence of
///
///     z_(k+1) = a_k D^-1 (r - A z_k) + b_k z_k + c_k z_(k-1),   z_0 = a D^-1 r.
///
/// Refers to A, which must outlive it. Costs `degree` products and, besides, 6 passes over vectors
/// a product; holds 3 vectors. Allocates nothing after construction.
///
/// Source: Saad, Iterative Methods, 2nd ed., section 12.3 and algorithm 12.1.
template <class T, class B>
class Polynomial final : public LinearOperator<T, B> {
 public:
  /// Throws Error: invalid_argument for an A that is not square, a degree below 0, steps below 1
  /// and bounds that are not 0 < lower < upper or damping that is not positive, bad_input, with
  /// count and first row, for diagonal elements that are not positive with a finite inverse, and as
  /// estimate_bounds does; not_supported where A has no diagonal.
  Polynomial(const LinearOperator<T, B>& A, const Chebyshev& options);
  /// The same; with a given damping, negative diagonal elements are accepted.
  Polynomial(const LinearOperator<T, B>& A, const Neumann& options);

  std::string name() const override { return name_; }
  bool capturable() const override { return A_->capturable(); }
  std::int64_t launches() const override {
    return std::ssize(steps_) * (A_->launches() + 1) + 1;  // one for each step behind a product
  }
  /// Those that were used; 0 and 0 with a given damping.
  const EigenvalueBounds& bounds() const { return bounds_; }
  std::int64_t bytes() const { return 3 * this->rows() * static_cast<std::int64_t>(sizeof(T)); }

 protected:
  void apply_impl(Span<const T, B> r, Span<T, B> z) const override;

 private:
  struct Step {
    T a, b, c;
  };

  Polynomial(const LinearOperator<T, B>& A, std::string name, int degree);
  EigenvalueBounds estimate(const std::vector<T>& diagonal, int steps, std::uint64_t seed);
  void set_inverse(const std::vector<T>& diagonal, double a);

  const LinearOperator<T, B>* A_;
  std::string name_;
  EigenvalueBounds bounds_ = {};
  std::vector<Step> steps_;  ///< a_k in units of the a of z_0, which is in inverse_
  Vector<T, B> inverse_;     ///< a D^-1
  mutable Vector<T, B> other_, Az_;
};

}  // namespace tansolve
