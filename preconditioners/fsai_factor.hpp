// SPDX-License-Identifier: BSD-3-Clause
// The factor of a factorised sparse approximate inverse, computed row by row.
#pragma once

#include <tansolve/codec/csr.hpp>

#include <cstdint>

namespace tansolve {

/// Which entries the factor may have, and how they are stored.
struct FsaiPattern {
  /// The lower triangle of the pattern of A^power, 1 or 2. 0: the diagonal alone, to be adapted.
  int power = 1;
  /// So many times, to each row are added the `adaptive_entries` entries that promise to reduce
  /// Kaporin's condition number most.
  int adaptive_steps = 0;
  int adaptive_entries = 4;
  /// Most entries a row; of a longer one those of greatest a_ij^2 / a_jj stay, of equals those
  /// nearest the diagonal. A row of m takes m^3 / 3 multiplications.
  std::int64_t most_entries = 96;
  /// Bits of a value's mantissa behind its leading one: values are rounded to so many, which keeps
  /// G'G symmetric positive definite and changes it by about 2^-mantissa_bits, and what was rounded
  /// off is not stored. 52 of double, 23 of float and more round nothing.
  int mantissa_bits = 12;
};

/// The lower triangular G that minimises ||I - G L|| in the Frobenius norm on its pattern, for the
/// Cholesky factor L of A, with G A G' of diagonal 1 (before rounding). A is to be
/// symmetric: power 2 and adaptive steps look for their patterns in both triangles, all else uses
/// the lower one alone. Rows are computed independently, in double, on `threads` threads (0: as
/// many as OpenMP would start), on which the result does not depend. Throws Error: invalid_argument
/// unless A is square and for options out of range; bad_input, with count and first row, for
/// diagonal elements that are not positive with a finite inverse, for entries of either triangle
/// that are not finite, and for rows whose principal submatrix is not positive definite.
///
/// Source: Kolotilina and Yeremin, SIAM J. Matrix Anal. Appl. 14 (1993); the adaptive pattern:
/// Janna, Ferronato, Sartoretto and Gambolati, ACM TOMS 41 (2015), FSAIPACK.
template <class T>
Csr<T> fsai_factor(const Csr<T>& A, const FsaiPattern& pattern, int threads = 0);

}  // namespace tansolve
