// SPDX-License-Identifier: BSD-3-Clause
// The set-up of algebraic multigrid on the host: from a matrix to those of all levels.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/dense.hpp>
#include <tansolve/codec/planner.hpp>
#include <tansolve/preconditioners/amg_aggregation.hpp>
#include <tansolve/preconditioners/near_null_space.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace tansolve {

enum class AmgSmoother {
  chebyshev,  ///< of the fourth kind: needs no lower bound of the eigenvalues
  jacobi      ///< damped by 4/3 over the largest eigenvalue of D^-1 A
};
enum class AmgCycle { v, w };

struct AmgOptions {
  Strength strength = Strength::symmetric;
  double theta = 0.1;         ///< as Strength has it, of the finest level
  double theta_decay = 0.25;  ///< factor from one level to the next
  /// Roots of aggregates lie more edges apart than this; 0: natural_root_distance.
  int root_distance = 0;
  /// Consecutive rows that belong to a node. 0: what divides all natural blocks (see block-jacobi),
  /// if that is no more than 6, else 1.
  int unknowns_per_node = 0;
  /// Vectors that A makes small, as columns: by default a constant one for each unknown of a node.
  /// For elasticity see rigid_body_modes.
  Dense near_null = {};
  double prolongation_damping = 4.0 / 3;  ///< over the largest eigenvalue of D^-1 A; 0: unsmoothed
  AmgSmoother smoother = AmgSmoother::chebyshev;
  int degree = 2;  ///< of the smoother before and after the coarse correction
  AmgCycle cycle = AmgCycle::v;
  std::int64_t coarse_rows = 500;  ///< most rows that are solved for by a dense inverse
  int most_levels = 25;
  /// Bits of a value's mantissa behind its leading one, in the matrices of coarse levels and in
  /// prolongations: as in FsaiPattern. Both stay far below what the coarsest level counts as 0,
  /// 1e-10: of rounded prolongations the squares matter. Coarse levels are those of the rounded
  /// prolongations, and symmetric.
  int coarse_bits = 40;
  int prolongation_bits = 20;
  PlanRequest plan = {};  ///< of the encoding of all matrices
  int threads = 0;        ///< while it is built; 0: as many as OpenMP would start
  std::uint64_t seed = 1;
};

namespace detail {

/// Of a level: A (empty on the finest one, where it is the caller's), D^-1 (0 where the diagonal
/// vanishes), an upper bound of the eigenvalues of D^-1 A; of all but the coarsest P and R = P'.
struct AmgLevelMatrices {
  Csr<double> A = {}, P = {}, R = {};
  std::vector<double> inverse_diagonal = {};
  double upper = 0;
};

struct AmgMatrices {
  std::vector<AmgLevelMatrices> levels = {};
  /// Of the coarsest level, as a full matrix; 0 x 0 where that was too large, so that smoothing is
  /// all that is done there.
  Csr<double> coarse_inverse = {};
};

/// Decides on aggregates and patterns for the first matrix, and keeps them for the next ones.
class AmgSetup {
 public:
  /// Throws Error(invalid_argument) for options out of range.
  explicit AmgSetup(AmgOptions options);

  const AmgOptions& options() const { return options_; }

  /// Throws Error: invalid_argument for an A that is not square, near-null vectors of another size,
  /// or, after the first call, another pattern; bad_input, with count and first row, for diagonals
  /// that are not positive with a finite inverse, entries that are not finite, rows that are not
  /// symmetric within `rounding` of the diagonal, and for an A that turns out not to be positive
  /// semidefinite.
  AmgMatrices matrices(const Csr<double>& A, double rounding = 1e-12);

  /// Of what is kept between calls.
  std::int64_t bytes() const;

 private:
  /// What does not depend on values.
  struct Structure {
    Nodes nodes;
    std::vector<std::uint8_t> kept;  ///< of the entries of A; empty: all
    Csr<double> T;
  };

  void start(const Csr<double>& A);
  bool coarsen(const Csr<double>& A, std::size_t level);
  Csr<double> prolongation(const Csr<double>& A, const AmgLevelMatrices& level,
                           const Structure& structure) const;

  AmgOptions options_;
  std::vector<Structure> structures_;  ///< of all levels but the coarsest
  bool decided_ = false;
  std::uint64_t pattern_ = 0;  ///< of the first matrix
  Nodes nodes_;                ///< of the coarsest level so far
  Dense candidates_;           ///< likewise
};

}  // namespace detail
}  // namespace tansolve
