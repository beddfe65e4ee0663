// SPDX-License-Identifier: BSD-3-Clause
// Entries of a matrix that are no numbers to compute with.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/codec/csr.hpp>

#include <string>

namespace tansolve::app {

/// "2 of 7 entries are not finite, first row 3, column 1 (counting from 1): nan"; empty where all
/// are finite.
template <class T>
std::string not_finite_entries(const Csr<T>& matrix);
/// The same, by the symbols; decodes (on `threads` threads) only where they do not tell.
template <class T>
std::string not_finite_entries(const CompressedMatrix<T>& matrix, int threads);

}  // namespace tansolve::app
