// SPDX-License-Identifier: BSD-3-Clause
// Sparse symmetric factorisation on the host: A - sigma B = L D L', its inertia, solutions.
#pragma once

#include <tansolve/solvers/ldlt_fronts.hpp>
#include <tansolve/solvers/pencil.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tansolve::detail {

/// Which elements of D a factorisation takes. There is no pivoting: what the order of elimination
/// gives is taken, and backward_error says what came of it.
enum class Pivots {
  positive,     ///< it ends at the first that is not: the matrix is not positive definite
  any,          ///< below rounding one is replaced by rounding, of its sign
  semidefinite  ///< below rounding a column is left out; it ends at one that is below minus that,
                ///< and at a column that a semidefinite matrix cannot have beside so small a pivot
};

/// L is held by fronts, dense columns of which a part may be zeros; everything in the order of the
/// fronts. Vectors given and returned are in the matrix's own order.
class SparseLdlt {
 public:
  enum class End { done, refused, interrupted };

  /// Takes fronts.bytes when it factorises first, and keeps what L takes.
  SparseLdlt(const Pencil& pencil, const LdltFronts& fronts, int threads)
      : pencil_(&pencil), fronts_(&fronts), threads_(threads) {}

  /// Of weight_a a - sigma b. refused: a pivot that `pivots` does not take, or one that is not
  /// finite. interrupted: `go_on`, asked before each front and each few columns of one, said no.
  /// After both there is no factor. The same bits for any number of threads.
  End factor(double weight_a, double sigma, Pivots pivots, const std::function<bool()>& go_on);

  bool held() const { return !values_.empty(); }       ///< whether its memory was taken
  std::int64_t negative() const { return negative_; }  ///< elements of D
  std::int64_t zeros() const { return zeros_; }        ///< columns left out, or pivots replaced

  /// About ||E||_F for L D L' = M + E: the root of the mean ||E x||^2 for x of random signs, whose
  /// expectation it is.
  double backward_error() const;

  void solve(std::span<double> x) const;                     ///< x = (L D L')^-1 x
  void multiply_root(std::span<double> x) const;             ///< x = P' L D^(1/2) x
  void multiply_root_transposed(std::span<double> x) const;  ///< x = D^(1/2) L' P x

 private:
  std::span<const double> values_of(std::int64_t s) const;
  double floor(Pivots pivots) const;
  End eliminate(std::int64_t s, Pivots pivots, const std::function<bool()>& go_on);
  void multiply_lower(std::span<double> y) const;
  void multiply_upper(std::span<double> y) const;
  std::vector<double> permuted(std::span<const double> x) const;
  void restore(std::span<const double> y, std::span<double> x) const;

  const Pencil* pencil_;
  const LdltFronts* fronts_;
  int threads_;
  double weight_a_ = 0, sigma_ = 0;
  std::int64_t negative_ = 0, zeros_ = 0;
  std::vector<double> values_;  // L, unit diagonals stored
  std::vector<double> d_;       // 0 for a column left out
};

}  // namespace tansolve::detail
