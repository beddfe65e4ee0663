// SPDX-License-Identifier: BSD-3-Clause
// A polynomial of an operator that makes an end of its spectrum stand out.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace tansolve::detail {

/// p(lambda) = T_d((lambda - c) / h), which maps the eigenvalues from `far` to `cut` into [-1, 1]
/// and grows beyond `cut`, where the wanted ones lie, at either end. Degree 1 stands for p(lambda)
/// = lambda.
struct SpectralMap {
  std::int64_t degree = 1;
  double cut = 0, far = 0;

  bool identity() const { return degree == 1; }
  double centre() const { return cut / 2 + far / 2; }
  double half_width() const { return cut / 2 - far / 2; }  ///< signed
  /// The lambda beyond `cut` that p maps to `image`; `cut` where image is at most 1.
  double preimage(double image) const;

  /// A map that makes the wanted end, from `near` to `edge`, stand out more: of twice this degree
  /// or more, and at most `most`. It grows from 1 at the edge to about 200 at `near`, so that what
  /// is wanted can be told from rounding; where more degrees would be needed for that, it grows
  /// from beyond the edge on.
  std::optional<SpectralMap> sharper(double near, double edge, double beyond,
                                     std::int64_t most) const;
};

/// p(A): d products, for each 6 passes over vectors beside the product's, by the recurrence of T_d.
/// Of a block all columns go through it at once, by block products of A.
template <class T, class B>
class ChebyshevFilter : public LinearOperator<T, B> {
 public:
  /// s and t are scratch, of A.rows() elements for each column of the largest block; they and A
  /// must outlive it.
  ChebyshevFilter(const LinearOperator<T, B>& A, Span<T, B> s, Span<T, B> t)
      : LinearOperator<T, B>(A.context(), A.rows(), A.cols()), A_(&A), s_(s), t_(t) {}

  std::string name() const override { return "polynomial of " + A_->name(); }
  void set(const SpectralMap& map) { map_ = map; }

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override { apply_block_impl(1, x, y); }
  void apply_block_impl(std::int64_t columns, Span<const T, B> x, Span<T, B> y) const override;

 private:
  const LinearOperator<T, B>* A_;
  Span<T, B> s_, t_;
  SpectralMap map_;
};

}  // namespace tansolve::detail
