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

}  // namespace tansolve
