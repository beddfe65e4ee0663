// SPDX-License-Identifier: BSD-3-Clause
// All eigenvalues of a small operator, formed as a dense matrix.
#pragma once

#include <tansolve/solvers/eigen_progress.hpp>
#include <tansolve/solvers/lanczos.hpp>

namespace tansolve::detail {

/// The first options.nev pairs of A, formed by n products with unit vectors; its upper triangle is
/// taken. Their vectors go to `vectors` where there is room. Limits are looked at beforehand only,
/// and the monitor is not called.
template <class T, class B>
EigenReport solve_dense(const LinearOperator<T, B>& A, Span<T, B> vectors,
                        const EigenOptions<T>& options, EigenProgress<T, B>& progress,
                        LanczosWorkspace<T, B>& work);

}  // namespace tansolve::detail
