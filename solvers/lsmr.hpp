// SPDX-License-Identifier: BSD-3-Clause
// LSMR for least squares and for systems of any shape.
#pragma once

#include <tansolve/solvers/least_squares.hpp>
#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>

#include <type_traits>

namespace tansolve {

/// lsqr by other iterates: those of MINRES on A'A x = A'b, of which ||A'r|| decreases steadily. On
/// least-squares problems it may stop earlier, and the x of an early stop is the safer one; it
/// holds a vector more. All that is said of lsqr holds, but that the condition in the report, from
/// the diagonal of one factor, may be too low by a factor of ten and more.
///
/// Source: Fong and Saunders, SIAM J. Sci. Comput. 33 (2011).
template <class T, class B>
Report lsmr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
            std::type_identity_t<Span<T, B>> x,
            const std::type_identity_t<SolveOptions<T, B>>& options,
            const std::type_identity_t<LeastSquares<T>>& problem,
            std::type_identity_t<LeastSquaresWorkspace<T, B>>& work);

/// The same with a workspace of its own.
template <class T, class B>
Report lsmr(const LinearOperator<T, B>& A, std::type_identity_t<Span<const T, B>> b,
            std::type_identity_t<Span<T, B>> x,
            const std::type_identity_t<SolveOptions<T, B>>& options = {},
            const std::type_identity_t<LeastSquares<T>>& problem = {});

}  // namespace tansolve
