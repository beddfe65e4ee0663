// SPDX-License-Identifier: BSD-3-Clause
// Which plan to encode a matrix by: predicted bytes and time of every candidate.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/histogram.hpp>
#include <tansolve/codec/plan.hpp>
#include <tansolve/codec/survey.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tansolve {

/// What the plan shall save.
enum class Objective { time, memory };

/// What the products shall run on.
enum class Processor { host, gpu };

/// What is asked for; parts that are given are forced.
struct PlanRequest {
  Processor processor = Processor::host;
  /// By default memory on the host, where decoding costs time, and time on a GPU.
  std::optional<Objective> objective = {};
  std::optional<Coding> coding = {};
  std::optional<int> rows_per_lane = {};
  std::optional<RowEnds> row_ends = {};

  Objective objective_or_default() const {
    return objective.value_or(processor == Processor::host ? Objective::memory : Objective::time);
  }
};

/// A plan and what the model predicts for it.
struct Candidate {
  Plan plan;
  double bytes = 0;        ///< of the compressed matrix
  double nanoseconds = 0;  ///< of one product on one core of the host, or on the GPU
  double escapes = 0;      ///< nonzeros that escape
};

struct PlanChoice {
  Candidate chosen;
  std::vector<Candidate> considered;  ///< one a coding, best first; chosen is the first
  double csr_bytes = 0;
  double csr_nanoseconds = 0;
  bool compression_pays = false;  ///< by the objective, against CSR
  std::string reason;             ///< one sentence
};

/// Chooses among all codings by the objective. Bytes follow from the histogram (within a few
/// percent: coded bits, padding, row lengths, offsets, tables, and the mean loss at the end of a
/// lane), time from a cost a nonzero and coding that was measured on a host and on an H200.
/// Deterministic, on any number of threads. What it finds stays in the survey.
/// Throws Error(invalid_argument) for a forced rows_per_lane out of range, and for one, or row
/// ends, where the forced coding has no streams; Error(not_supported) for patterns or shapes that
/// are forced on a matrix with more than 2^32 entries in distinct ones.
template <class T>
PlanChoice choose_plan(Survey<T>& survey, const PlanRequest& request = {});
/// The same of a matrix in memory whose histogram is at hand.
template <class T>
PlanChoice choose_plan(const Csr<T>& matrix, const Histogram& histogram,
                       const PlanRequest& request = {}) {
  const CsrRows<T> rows(matrix);
  Survey<T> survey(rows, 0, histogram);
  return choose_plan(survey, request);
}

/// "paper", ... to its coding; throws Error(invalid_argument) listing the names.
Coding parse_coding(const std::string& name);

}  // namespace tansolve
