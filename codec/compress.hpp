// SPDX-License-Identifier: BSD-3-Clause
// Compression in one step: count, plan, encode.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/codec/parallel.hpp>
#include <tansolve/codec/planner.hpp>

namespace tansolve {

struct CompressOptions {
  PlanRequest plan = {};  ///< the objective, and parts of the plan to force
  int threads = 0;        ///< 0: as many as OpenMP would start; the result does not depend on it
  Progress progress = {};
};

/// Compresses `matrix` by the plan that choose_plan prefers, whether or not that pays against CSR;
/// `choice`, if given, receives the planner's reasons. The steps on their own are count_pairs,
/// choose_plan and encode, whose costs and errors these are.
template <class T>
CompressedMatrix<T> compress(const Csr<T>& matrix, const CompressOptions& options = {},
                             PlanChoice* choice = nullptr);

/// The same, to the byte, of rows that are read block by block, so that the matrix need never be in
/// memory as a whole: what is there at a time is the compressed one, 30 bytes a row, and on each
/// thread a block of some 2^14 rows or 2^18 nonzeros (streams of symbols are in memory twice).
template <class T>
CompressedMatrix<T> compress(const RowSource<T>& rows, const CompressOptions& options = {},
                             PlanChoice* choice = nullptr);

}  // namespace tansolve
