// SPDX-License-Identifier: BSD-3-Clause
// The one contract that matrices, preconditioners and a user's own operators fulfil.
#pragma once

#include <tansolve/kernels/vector.hpp>

#include <memory>
#include <string>

namespace tansolve {

/// A linear map from vectors of cols() to vectors of rows() elements. Derive and write
///
///     void apply_impl(Span<const T, B> x, Span<T, B> y) const override;   // y = A x, y
///     overwritten
///
/// to put a matrix of your own in the place of a compressed one; override the others where you can
/// do better than their defaults. The public functions check shapes and aliasing (x and y must not
/// overlap), throw Error(invalid_argument) naming the shapes, and count.
template <class T, class B>
class LinearOperator {
 public:
  LinearOperator(Context<B>& context, std::int64_t rows, std::int64_t cols)
      : context_(&context), rows_(rows), cols_(cols) {}
  virtual ~LinearOperator() = default;

  std::int64_t rows() const { return rows_; }
  std::int64_t cols() const { return cols_; }
  Context<B>& context() const { return *context_; }

  /// What to call it in reports and errors.
  virtual std::string name() const { return "operator"; }

  /// y = A x.
  void apply(Span<const T, B> x, Span<T, B> y) const;

  /// y = alpha A x + beta y; beta = 0 overwrites y, also where it is NaN.
  void apply(T alpha, Span<const T, B> x, T beta, Span<T, B> y) const;

  /// y = A x and xy = x'y, for square operators: two passes over memory fewer than apart.
  void apply_dot(Span<const T, B> x, Span<T, B> y, Scalar<T, B>& xy) const;

  /// Y = A X for k columns each: column c of X begins at X + c * cols(), that of Y at
  /// Y + c * rows(). Counts as `columns` products.
  void apply_block(std::int64_t columns, Span<const T, B> X, Span<T, B> Y) const;

  /// y = A' x; throws Error(not_supported) where the operator has no transposed product.
  void apply_transposed(Span<const T, B> x, Span<T, B> y) const;

  /// d_i = A_ii (0 where absent) for i < min(rows, cols); throws Error(not_supported) by default.
  void diagonal(Span<T, B> d) const;

  /// Whether products only launch work on the context's stream, so that a GPU may record them once
  /// and replay them: no transfers, no allocation, no waiting. No by default, which is safe.
  virtual bool capturable() const { return false; }
  /// About how many kernels a product launches on a GPU. Where these are many, solvers let it run
  /// on for fewer iterations that may turn out to be in vain.
  virtual std::int64_t launches() const { return 1; }

  /// Products so far, of every kind.
  std::int64_t applications() const { return applications_; }
  /// Counts products that were replayed without a call (Replay).
  void count_replayed(std::int64_t products) const { applications_ += products; }

 protected:
  virtual void apply_impl(Span<const T, B> x, Span<T, B> y) const = 0;
  /// By default the product into a vector of its own (allocated on first use, unless beta = 0),
  /// then axpby.
  virtual void apply_impl(T alpha, Span<const T, B> x, T beta, Span<T, B> y) const;
  /// By default the product, then dot.
  virtual void apply_dot_impl(Span<const T, B> x, Span<T, B> y, Scalar<T, B>& xy) const;
  /// By default one column after the other.
  virtual void apply_block_impl(std::int64_t columns, Span<const T, B> X, Span<T, B> Y) const;
  virtual void apply_transposed_impl(Span<const T, B> x, Span<T, B> y) const;
  virtual void diagonal_impl(Span<T, B> d) const;

 private:
  void check(const char* what, Span<const T, B> in, std::int64_t in_size, Span<const T, B> out,
             std::int64_t out_size) const;

  Context<B>* context_;
  std::int64_t rows_;
  std::int64_t cols_;
  mutable std::int64_t applications_ = 0;
  mutable std::unique_ptr<Vector<T, B>> scratch_;
};

}  // namespace tansolve
