// SPDX-License-Identifier: BSD-3-Clause
// From CSR to CSR-dtANS.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/codec/histogram.hpp>
#include <tansolve/codec/parallel.hpp>
#include <tansolve/codec/plan.hpp>
#include <tansolve/codec/survey.hpp>

namespace tansolve {

struct EncodeOptions {
  int threads = 0;  ///< 0: as many as OpenMP would start; the result does not depend on it
  Progress progress = {};
};

/// Encodes the matrix of `survey` by `plan`, with the facts that the planner has left there.
/// O(nnz) time; memory: the result, once more its streams, 12 bytes a row and a table. The bytes
/// depend on the matrix and the plan alone: not on where its rows come from, nor on the number of
/// threads. Throws Error: invalid_argument for rows_per_lane out of range; bad_input for a source
/// that is seen to give other rows when it is read again (what the first ones' formats happen to
/// hold passes: the result is a valid matrix, but of no use); what the source throws.
template <class T>
CompressedMatrix<T> encode(Survey<T>& survey, const Plan& plan, const Progress& progress = {});

/// The same of a matrix in memory; symbols and tables follow from `histogram`, which count_pairs
/// made of this matrix. Another one's gives a lossless encoding, too, or Error(bad_input) where it
/// lacks a pair and an escape.
template <class T>
CompressedMatrix<T> encode(const Csr<T>& matrix, const Plan& plan, const Histogram& histogram,
                           const EncodeOptions& options = {});

/// The tables that encode() uses: step 1 to 3 of the coder for each table of the coding.
template <class T>
std::vector<SymbolTable<T>> build_tables(const Histogram& histogram, Coding coding);

}  // namespace tansolve
