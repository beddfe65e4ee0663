// SPDX-License-Identifier: BSD-3-Clause
// When a solver stops and what it is helped by.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <type_traits>

namespace tansolve {

/// The norm that rtol refers to.
enum class Baseline {
  b,  ///< ||b||: the same accuracy whatever the guess
  r0  ///< ||b - A x0||: how far to improve on the guess
};

/// Called with 0 and the first residual, then after each iteration with its number and the
/// recurrence's residual; false stops the solve. It changes nothing else: with or without it, the
/// bits are the same. On a GPU, where the host looks every few iterations, it is called for all of
/// them at once, and a false stops after them.
using Monitor = std::function<bool(std::int64_t iteration, double residual)>;

/// Options of an iterative solve. Solvers throw Error(invalid_argument) for a negative or NaN rtol,
/// atol, time_limit or divergence_factor, and for negative max_iterations.
template <class T, class B>
struct SolveOptions {
  /// Converged: ||b - A x|| <= max(rtol ||baseline||, atol).
  double rtol = std::is_same_v<T, float> ? 1e-5 : 1e-8;
  double atol = 0;
  Baseline baseline = Baseline::b;

  std::int64_t max_iterations = 10000;
  double time_limit = std::numeric_limits<double>::infinity();  ///< seconds
  /// Diverged: the residual exceeds this many times the first one. Residuals of conjugate gradients
  /// may grow by the square root of the condition number, which is of use up to about 1 / epsilon.
  double divergence_factor =
      100 / std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));

  const LinearOperator<T, B>* preconditioner = nullptr;  ///< z = M r, M near the inverse of A
  Monitor monitor = nullptr;
  bool record_history = true;  ///< 8 bytes an iteration, the only memory that grows
  bool probe_symmetry = true;  ///< two products before solving, where the method needs symmetry
};

}  // namespace tansolve
