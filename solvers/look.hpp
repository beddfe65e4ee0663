// SPDX-License-Identifier: BSD-3-Clause
// The cheap look at a system before it is solved.
#pragma once

#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace tansolve {

/// Throws Error(invalid_argument) for vectors that do not fit A, b and x that overlap, options out
/// of range. `solver` is named in the message.
template <class T, class B>
void require_system(std::string_view solver, const LinearOperator<T, B>& A,
                    std::type_identity_t<Span<const T, B>> b,
                    std::type_identity_t<Span<const T, B>> x, const SolveOptions<T, B>& options);

/// The same, and for what solvers of square systems cannot solve at all: an operator that is not
/// square (naming the solvers for least squares), a preconditioner of another size or context.
template <class T, class B>
void require_square_system(std::string_view solver, const LinearOperator<T, B>& A,
                           std::type_identity_t<Span<const T, B>> b,
                           std::type_identity_t<Span<const T, B>> x,
                           const SolveOptions<T, B>& options);

/// Says which element of `vector`, called `name`, is the first that is not finite: "b[17] = nan";
/// empty if all are. Copies the vector to the host piece by piece.
template <class T, class B>
std::string first_not_finite(Context<B>& context, std::string_view name, Span<const T, B> vector);

/// A randomised probe of symmetry with a fixed seed: compares u'(A v) with v'(A u) for random u and
/// v. Returns an empty string if they agree up to rounding, else a sentence with both. Costs two
/// products; u, v, w are overwritten, vectors of A.rows() elements, as are both scalars. A is
/// square.
template <class T, class B>
std::string probe_symmetry(const LinearOperator<T, B>& A, Span<T, B> u, Span<T, B> v, Span<T, B> w,
                           Scalar<T, B>& product, Scalar<T, B>& norm);

/// How near r = b - A x is to being orthogonal to the range of A.
struct RangeOverlap {
  double overlap;   ///< |r'A v| / (||r|| ||A v||) for a random v
  double rounding;  ///< what the rounding of r, relative to its size, makes of 0
};

/// A randomised probe of whether A'r = 0, with a fixed seed. If so, no A x is closer to b than b -
/// r is, and where r is not 0 the system A x = b has no solution. `r_norm` is ||r||, not 0. Costs a
/// product; v and w are overwritten, vectors of A.rows() elements, as is the scalar. A is square.
template <class T, class B>
RangeOverlap range_overlap(const LinearOperator<T, B>& A, Span<const T, B> r, double r_norm,
                           Span<const T, B> x, Span<T, B> v, Span<T, B> w, Scalar<T, B>& scalar);

}  // namespace tansolve
