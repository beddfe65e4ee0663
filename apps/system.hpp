// SPDX-License-Identifier: BSD-3-Clause
// The vectors of a system: right-hand side, guess, answer, and its residual computed afresh.
#pragma once

#include "prepare.hpp"

#include <tansolve/codec/dense.hpp>
#include <tansolve/kernels/linear_operator.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tansolve::app {

/// A right-hand side by its name: ones, random (uniform in [-1, 1)), A*ones, file (from inside the
/// matrix file), else the path of a Matrix Market file of n x 1. Throws Error as the reader does,
/// and bad_input for another shape.
template <class T, class B>
std::vector<T> right_hand_side(const std::string& name, std::uint64_t seed, const Dense& inside,
                               const LinearOperator<T, B>& A);

/// The guess in a Matrix Market file of n x 1; zeros where the path is empty.
template <class T>
std::vector<T> initial_guess(const std::string& path, std::int64_t n);

/// ||b - A x|| in double, serially, from the CSR matrix where it is at hand, else by the reference
/// decoder: nothing of it is shared with the product that the solver used.
template <class T>
double verified_residual(const Prepared<T>& A, const std::vector<T>& b, const std::vector<T>& x);

}  // namespace tansolve::app
