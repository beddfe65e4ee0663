// SPDX-License-Identifier: BSD-3-Clause
// The coarsest level of algebraic multigrid, solved for at once.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <vector>

namespace tansolve::detail {

/// The inverse of a symmetric positive definite A of diagonal D as a full matrix, symmetric to the
/// bit. `inverse_diagonal` is that of D, or 0 for rows that count as 0. Of a singular A a
/// pseudo-inverse: D^-1/2 S^+ D^-1/2 for S = D^-1/2 A D^-1/2, whose eigenvalues below `singular`
/// times the largest count as 0. Throws Error(bad_input) where S has one below the negative of
/// that.
Csr<double> dense_inverse(const Csr<double>& A, const std::vector<double>& inverse_diagonal,
                          double singular);

}  // namespace tansolve::detail
