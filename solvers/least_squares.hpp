// SPDX-License-Identifier: BSD-3-Clause
// What solvers of least squares are asked for, and the memory that they need.
#pragma once

#include <tansolve/solvers/workspace.hpp>

#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

namespace tansolve {

/// The problem min ||b - A x||^2 + damping^2 ||x - x0||^2, x0 being the guess, and when it is
/// solved; beside SolveOptions, whose tolerance is for systems that have a solution.
template <class T>
struct LeastSquares {
  double damping = 0;
  /// A least-squares solution: ||A'r|| <= normal_rtol ||A|| ||r||; with damping, A and r are those
  /// of the system (A; damping I) x = (b; damping x0). ||A|| is the largest ||A v|| seen of a unit
  /// v.
  double normal_rtol = std::is_same_v<T, float> ? 1e-5 : 1e-8;
  /// Stops where the estimated condition of A exceeds it: what follows would be rounding. A lower
  /// one regularises.
  double condition_limit = 1 / static_cast<double>(std::numeric_limits<T>::epsilon());
};

enum class LeastSquaresMethod { lsqr, lsmr };

/// The memory of lsqr or lsmr. Everything is allocated here, nothing later.
template <class T, class B>
class LeastSquaresWorkspace {
 public:
  /// For A of rows x cols. Throws Error(out_of_memory).
  LeastSquaresWorkspace(Context<B>& context, std::int64_t rows, std::int64_t cols,
                        LeastSquaresMethod method);

  /// The bytes of the backend's memory that it takes: 2 vectors of `rows` elements and 4 of `cols`,
  /// 5 for lsmr.
  static std::int64_t bytes(std::int64_t rows, std::int64_t cols, LeastSquaresMethod method);
  std::int64_t bytes() const { return rows_.bytes() + cols_.bytes(); }

  Workspace<T, B>& rows() { return rows_; }  ///< 2 vectors, 3 scalars
  Workspace<T, B>& cols() { return cols_; }

  /// Throws Error(invalid_argument), naming the solver, unless it fits.
  void require(std::string_view solver, const Context<B>& context, std::int64_t rows,
               std::int64_t cols, LeastSquaresMethod method) const;

 private:
  Workspace<T, B> rows_, cols_;
};

}  // namespace tansolve
