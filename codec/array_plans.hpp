// SPDX-License-Identifier: BSD-3-Clause
// What the codings without streams would take.
#pragma once

#include <tansolve/codec/gather.hpp>
#include <tansolve/codec/planner.hpp>
#include <tansolve/codec/survey.hpp>

#include <optional>

namespace tansolve::detail {

/// Predicted bytes and time of such a coding, on a GPU with this gather of x; none where there are
/// too many patterns, or too large ones for the GPU, for it to be considered, unless it is asked
/// for.
template <class T>
std::optional<Candidate> predict_arrays(Survey<T>& survey, Coding coding, bool asked,
                                        Processor processor, const Gather& gather);

}  // namespace tansolve::detail
