// SPDX-License-Identifier: BSD-3-Clause
// Algebraic multigrid by smoothed aggregation, whose levels are compressed.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>
#include <tansolve/preconditioners/amg_setup.hpp>
#include <tansolve/preconditioners/factor.hpp>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

namespace tansolve {

/// A matrix of a hierarchy and what it takes.
struct AmgMatrixFacts {
  std::int64_t rows = 0, nonzeros = 0;
  std::int64_t bytes = 0;      ///< as it is multiplied by; 0 of the finest A, which is the caller's
  std::int64_t csr_bytes = 0;  ///< as CSR would take
  std::string format = {};     ///< "dtans", "csr"
};

struct AmgLevelFacts {
  AmgMatrixFacts A, P, R;         ///< P and R with no rows on the coarsest level
  double largest_eigenvalue = 0;  ///< of D^-1 A, an upper bound; 0 where A is inverted
};

/// What a set-up made.
struct AmgFacts {
  std::vector<AmgLevelFacts> levels = {};  ///< the finest first
  AmgMatrixFacts coarse_inverse = {};      ///< with no rows where the coarsest level is smoothed
  int unknowns_per_node = 1;

  double operator_complexity() const;  ///< nonzeros of all A over those of the finest
  double grid_complexity() const;      ///< rows likewise
  std::int64_t bytes() const;          ///< of all matrices but the finest A
  std::int64_t csr_bytes() const;      ///< likewise
};

/// A table, a line a level.
std::ostream& operator<<(std::ostream& out, const AmgFacts& facts);

/// z = M r, one cycle of multigrid from z = 0: symmetric positive definite for such A, with fixed
/// costs. Levels are made by smoothed aggregation (AmgOptions); all products with their matrices
/// are those of operators, encoded where the planner finds that it pays. The finest is the caller's
/// A, which must outlive this.
///
/// A V cycle costs 2 degree products with A of each level, one with P and with R, and from degree 2
/// on 16 degree + 1 passes over its vectors, those of the products included; a W cycle visits level
/// l up to 2^l times. Allocates nothing after construction, transfers nothing, reads no scalar: a
/// GPU records it.
///
/// Source: Vanek, Mandel and Brezina, Computing 56 (1996); the smoother: Lottes, Numer. Linear
/// Algebra Appl. 30 (2023).
template <class T, class B>
class Amg final : public LinearOperator<T, B> {
 public:
  /// `matrix` holds the entries of A and is needed for the set-up alone. Throws as
  /// AmgSetup::matrices, choose_plan and the operators do; out_of_memory, naming what
  /// amg_bytes expects.
  Amg(const LinearOperator<T, B>& A, const Csr<T>& matrix, AmgOptions options = {});
  ~Amg() override;

  /// For new values in the same pattern, which A has by now, too: the same aggregates and patterns,
  /// all values anew. Throws as the constructor does; invalid_argument for another pattern.
  void update_values(const Csr<T>& matrix);

  std::string name() const override { return "amg"; }
  bool capturable() const override;
  std::int64_t launches() const override;
  const AmgFacts& facts() const { return facts_; }
  /// Of the backend's memory: all matrices but the finest A, and all vectors; on the host also what
  /// update_values needs. Compressed matrices take up to 1.3 MiB each besides, for their tables.
  std::int64_t bytes() const;
  /// Of the host's memory beside another backend's: the matrices again, and what update_values
  /// needs.
  std::int64_t host_bytes() const;

 protected:
  void apply_impl(Span<const T, B> r, Span<T, B> z) const override;
  void apply_transposed_impl(Span<const T, B> r, Span<T, B> z) const override;

 private:
  struct Level;
  struct Step {
    T a, b, c;
  };

  std::int64_t bytes_on_host() const;
  void build(const Csr<T>& matrix);
  void adopt(const Csr<T>& matrix, detail::AmgMatrices made);
  void cycle(std::size_t level, Span<const T, B> r, Span<T, B> z) const;
  void correction(std::size_t level) const;
  void smooth(const Level& level, Span<const T, B> r, Span<T, B>& now, Span<T, B>& before,
              bool after_zero) const;

  const LinearOperator<T, B>* A_;
  detail::AmgSetup setup_;
  std::vector<Step> steps_;  ///< a_k in units of a_0, which is in the levels' inverse diagonals
  std::vector<Level> levels_;
  std::unique_ptr<const Factor<T, B>> coarse_inverse_;
  AmgFacts facts_;
};

/// What a set-up needs for an A of so many rows and nonzeros: of host memory at its peak, beside A,
/// and of the backend's memory afterwards if nothing is compressed. Bounds from above, up to six
/// times what is used, for coarse levels of up to 0.9 of the nonzeros of A and 8 entries a row of it
/// and near-null vector, and prolongations of up to 4; there is one vector an unknown of a node
/// where the options tell of no more.
struct AmgBytes {
  std::int64_t setup, held;
};
AmgBytes amg_bytes(std::int64_t rows, std::int64_t nonzeros, const AmgOptions& options);

}  // namespace tansolve
