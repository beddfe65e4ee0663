// SPDX-License-Identifier: BSD-3-Clause
// Incomplete factorisations without fill.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <cstdint>

namespace tansolve {

/// lower * upper is near A + shift diag(A): both with their diagonals, A's pattern otherwise.
template <class T>
struct IncompleteFactors {
  Csr<T> lower;
  Csr<T> upper;
  /// What was asked for, or where that broke down, the first of its doubles, from 1e-3 on, that did
  /// not.
  double shift = 0;
};

/// Incomplete Cholesky without fill: upper = lower', and lower upper equals the shifted A on its
/// pattern. Reads the lower triangle of A alone. Breakdown is a pivot that is not above 1e-8 of its
/// diagonal element. Serial, in double; each row costs the lengths of the rows that it names.
/// Throws Error: invalid_argument unless A is square and the shift from 0 to 1000; bad_input, with
/// count and first row, for diagonal elements that are not positive with a finite inverse, for
/// off-diagonal ones that are not finite, and where a shift of 1000 breaks down, which shows that A
/// is far from positive definite.
///
/// Source: Meijerink and van der Vorst, Math. Comp. 31 (1977); the shift: Manteuffel, Math. Comp.
/// 34 (1980).
template <class T>
IncompleteFactors<T> incomplete_cholesky(const Csr<T>& A, double shift = 0);

/// Incomplete LU without fill: lower has a unit diagonal. Breakdown is a pivot that is not above
/// 1e-8 of its diagonal element in size; diagonal elements may be negative, and else costs and
/// errors are those of incomplete_cholesky.
///
/// Source: Saad, Iterative Methods, 2nd ed., algorithm 10.4.
template <class T>
IncompleteFactors<T> incomplete_lu(const Csr<T>& A, double shift = 0);

}  // namespace tansolve
