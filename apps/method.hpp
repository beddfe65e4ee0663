// SPDX-License-Identifier: BSD-3-Clause
// Which solver and which preconditioner fit a matrix, and why.
#pragma once

#include <tansolve/kernels/basis.hpp>
#include <tansolve/solvers/block.hpp>
#include <tansolve/solvers/gram_schmidt.hpp>
#include <tansolve/solvers/options.hpp>
#include <tansolve/solvers/report.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tansolve::app {

/// Kinds of matrices, each with those before it: square ones, and then all.
enum class Kind { definite, symmetric, general, rectangular };

/// What only some solvers take.
struct Tuning {
  std::optional<std::int64_t> restart;  ///< vectors of the Krylov basis; the solver's own default
  std::optional<BasisStorage> basis;    ///< how they are stored
  std::optional<Reorthogonalize> reorthogonalize;
  std::optional<double> damping;       ///< of least squares
  std::optional<std::int64_t> shadow;  ///< dimensions of the shadow space of IDR
};

/// A line of the table of solvers.
template <class T, class B>
struct SolverEntry {
  std::string_view name;
  Kind takes;
  bool keeps_basis;  ///< takes Tuning::restart, basis and reorthogonalize
  Report (*solve)(const LinearOperator<T, B>& A, Span<const T, B> b, Span<T, B> x,
                  const SolveOptions<T, B>& options, const Tuning& tuning);
  /// For several right-hand sides at once; where there is none, they are taken one after another.
  MultiReport (*solve_columns)(const LinearOperator<T, B>& A, std::int64_t columns,
                               Span<const T, B> b, Span<T, B> x, const SolveOptions<T, B>& options,
                               const Tuning& tuning) = nullptr;
};

/// The table. `auto` takes the first solver for the kind of the matrix, or else for a wider one.
template <class T, class B>
std::span<const SolverEntry<T, B>> all_solvers();

/// The line of that name, which there is.
template <class T, class B>
const SolverEntry<T, B>& solver_named(std::string_view name);

std::vector<std::string> solver_names();

/// What the choice rests on.
struct Traits {
  std::optional<bool> symmetric;  ///< exactly; not known of a container
  std::string asymmetry;   ///< where a random probe found it not symmetric: says so; or empty
  std::string not_finite;  ///< which entries are not; or empty
  bool on_gpu = false;
  bool square = true;
  bool positive_diagonal = false;
  bool negative_diagonal = false;
  bool constant_diagonal = false;
  std::string unfit_diagonal;  ///< which elements are not positive with a finite inverse; or empty
  std::string singular_diagonal;  ///< which have no finite inverse; or empty
  double rows_a_block = 1;  ///< of natural blocks on average, where the matrix came as entries

  bool seems_symmetric() const { return symmetric.value_or(asymmetry.empty()); }
  /// As far as shape, symmetry and the diagonal tell.
  Kind kind() const {
    if (!square) return Kind::rectangular;
    if (!not_finite.empty() || !seems_symmetric()) return Kind::general;
    return positive_diagonal ? Kind::definite : Kind::symmetric;
  }
};

/// Throws Error(invalid_argument) for a matrix that is not square where `solver`, a name of the
/// table or "auto", needs that.
void require_fit(const std::string& name, std::int64_t rows, std::int64_t cols,
                 std::string_view solver);

/// Of a square matrix, decodes the diagonal; where symmetry is not known, probes it with two
/// products, unless entries are `not_finite`. `name` stands for it in what is said.
template <class T, class B>
Traits look_at(const std::string& name, const LinearOperator<T, B>& A,
               std::optional<bool> symmetric, std::string not_finite);

struct Method {
  std::string solver = {};
  std::string solver_reason = {};
  std::string preconditioner = "none";
  bool automatic_preconditioner = false;
  std::string preconditioner_reason = {};
  std::int64_t restart = 0;  ///< as asked for; 0: the solver's own
};

/// `solver` and `preconditioner` are names of their tables or "auto". Throws
/// Error(invalid_argument) for a tuning that the solver does not take.
Method choose_method(const Traits& traits, const std::string& solver,
                     const std::string& preconditioner, const Tuning& tuning);

}  // namespace tansolve::app
