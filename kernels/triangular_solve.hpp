// SPDX-License-Identifier: BSD-3-Clause
// The inverse of a sparse triangular matrix as an operator.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/kernels/linear_operator.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tansolve {

enum class Triangle { lower, upper };

namespace detail {

/// The rows of a triangular matrix, copied level after level, so that each level is contiguous.
template <class T>
struct Levels {
  std::int64_t count() const { return std::max<std::int64_t>(std::ssize(begins) - 1, 0); }
  std::int64_t bytes() const {
    const auto of = [](const auto& array) {
      return static_cast<std::int64_t>(array.size() * sizeof(array[0]));
    };
    return of(begins) + of(rows) + of(offsets) + of(columns) + of(values) + of(diagonal);
  }

  std::vector<std::int64_t> begins = {};   ///< of levels, and the end of the last
  std::vector<std::int32_t> rows = {};     ///< in their order within a level
  std::vector<std::int64_t> offsets = {};  ///< of their entries beside the diagonal
  std::vector<std::int32_t> columns = {};
  std::vector<T> values = {}, diagonal = {};
};

}  // namespace detail

/// y = A^-1 x for a triangular A, row by row: forwards where it is lower, backwards where it is
/// upper. Refers to the matrix, which must outlive it. Each row is summed in the order of its
/// columns, so that the bits do not depend on the number of threads. On the host, rows of one
/// level, which name only rows of levels before, are shared among the threads, from a copy of the
/// matrix in the order of its levels; where these have too few rows for that to pay, one thread
/// takes the rows in theirs.
///
/// Source of the levels: Saad, Iterative Methods, 2nd ed., section 11.6.
template <class T, class B>
class TriangularSolve final : public LinearOperator<T, B> {
 public:
  /// Throws Error: invalid_argument unless A is square, bad_input, with count and first row, for
  /// rows whose diagonal element is absent, zero or not finite, or that reach beyond it.
  TriangularSolve(Context<B>& context, const Csr<T>& A, Triangle triangle);
  std::string name() const override { return "triangular solve"; }
  bool capturable() const override { return true; }
  /// Of rows that are solved side by side; 0 where one thread takes them all.
  std::int64_t levels() const { return levels_.count(); }
  /// Held besides the matrix.
  std::int64_t bytes() const { return levels_.bytes(); }

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override;

 private:
  const Csr<T>* matrix_;
  Triangle triangle_;
  detail::Levels<T> levels_;
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
