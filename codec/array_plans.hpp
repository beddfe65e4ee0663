// SPDX-License-Identifier: BSD-3-Clause
// What the codings without streams would take.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/gather.hpp>
#include <tansolve/codec/planner.hpp>

#include <optional>

namespace tansolve::detail {

/// Predicted bytes and time of such a coding, on a GPU with this gather of x; none where there are
/// too many patterns for it to be considered, unless it is asked for.
template <class T>
std::optional<Candidate> predict_arrays(const Csr<T>& matrix, Coding coding, bool asked,
                                        Processor processor, const Gather& gather);

}  // namespace tansolve::detail
