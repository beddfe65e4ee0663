// SPDX-License-Identifier: BSD-3-Clause
// Threads for the codec: independent tasks, their exceptions and their progress.
#pragma once

#include <cstdint>
#include <functional>

namespace tansolve {

/// Called from the calling thread alone, now and then, with the share of the work done in [0, 1].
using Progress = std::function<void(double done)>;

namespace detail {

/// Runs task(0) ... task(count - 1) on `threads` threads (0: as many as OpenMP would start), in any
/// order; after the first exception no further task starts, and it is rethrown.
void parallel_tasks(int threads, std::int64_t count, const std::function<void(std::int64_t)>& task,
                    const tansolve::Progress& progress = {});

}  // namespace detail
}  // namespace tansolve
