// SPDX-License-Identifier: BSD-3-Clause
// Tasks on OpenMP threads.
#include <tansolve/codec/parallel.hpp>

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>

namespace tansolve::detail {

void parallel_tasks(int threads, std::int64_t count, const std::function<void(std::int64_t)>& task,
                    const Progress& progress) {
  std::exception_ptr failure;
  std::atomic<bool> failed = false;
  std::atomic<std::int64_t> done = 0;
  const std::int64_t most = threads > 0 ? threads : omp_get_max_threads();
  const int team = static_cast<int>(std::clamp<std::int64_t>(count, 1, most));
#pragma omp parallel for schedule(dynamic) num_threads(team)
  for (std::int64_t i = 0; i < count; ++i) {
    if (failed) continue;
    try {
      task(i);
      ++done;
      if (progress && omp_get_thread_num() == 0)
        progress(static_cast<double>(done) / static_cast<double>(count));
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace tansolve::detail
