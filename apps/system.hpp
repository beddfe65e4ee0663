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

/// Vectors of the same size, one after another.
template <class T>
struct Columns {
  std::vector<T> values;
  std::int64_t count;

  std::vector<T> column(std::int64_t c) const {
    const auto size = std::ssize(values) / count;
    return {values.begin() + c * size, values.begin() + (c + 1) * size};
  }
};

/// The columns in a Matrix Market or .npy file. `option` and what it takes are named where there is
/// no such file.
Dense read_columns(const std::string& option, const std::string& takes, const std::string& path);

/// Right-hand sides by their name: one of ones, random (uniform in [-1, 1)) or A*ones; those of
/// `file`, from inside the matrix file; else of the Matrix Market or .npy file of that path. Throws
/// Error as the readers do, and bad_input for another shape.
template <class T, class B>
Columns<T> right_hand_sides(const std::string& name, std::uint64_t seed, const Dense& inside,
                            const LinearOperator<T, B>& A);

/// The guesses in a Matrix Market or .npy file of n x count; zeros where the path is empty.
template <class T>
Columns<T> initial_guesses(const std::string& path, std::int64_t n, std::int64_t count);

/// Writes them as .npy where the path ends so, else as a Matrix Market array.
template <class T>
void write_columns(const std::string& path, const Columns<T>& x);

/// ||b - A x|| in double, serially, from the CSR matrix where it is at hand, else by the reference
/// decoder: nothing of it is shared with the product that the solver used.
template <class T>
double verified_residual(const Prepared<T>& A, const std::vector<T>& b, const std::vector<T>& x);

}  // namespace tansolve::app
