// SPDX-License-Identifier: BSD-3-Clause
// The coarsest level of algebraic multigrid, solved for at once.
#pragma once

#include <tansolve/codec/csr.hpp>

namespace tansolve::detail {

/// The inverse of a symmetric positive definite A as a full matrix, symmetric to the bit. Of a
/// singular A a pseudo-inverse: D^-1/2 S^+ D^-1/2 for S = D^-1/2 A D^-1/2 of diagonal D, where
/// eigenvalues of S below 1e-10 of the largest count as 0; rows whose diagonal vanishes are 0.
/// Throws Error(bad_input) where S has an eigenvalue below the negative of that.
Csr<double> dense_inverse(const Csr<double>& A);

}  // namespace tansolve::detail
