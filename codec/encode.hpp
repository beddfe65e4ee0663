// SPDX-License-Identifier: BSD-3-Clause
// From CSR to CSR-dtANS.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/codec/histogram.hpp>
#include <tansolve/codec/parallel.hpp>
#include <tansolve/codec/plan.hpp>

namespace tansolve {

struct EncodeOptions {
  int threads = 0;  ///< 0: as many as OpenMP would start; the result does not depend on it
  Progress progress = {};
};

/// Encodes `matrix` by `plan`; symbols and tables follow from `histogram`, which count_pairs made
/// of this matrix (any histogram gives a lossless encoding). O(nnz) time; memory: the result, once
/// more its streams, and a table. Throws Error(invalid_argument) for rows_per_lane out of range.
template <class T>
CompressedMatrix<T> encode(const Csr<T>& matrix, const Plan& plan, const Histogram& histogram,
                           const EncodeOptions& options = {});

/// The tables that encode() uses: step 1 to 3 of the coder for each table of the coding.
template <class T>
std::vector<SymbolTable<T>> build_tables(const Histogram& histogram, Coding coding);

}  // namespace tansolve
