// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks on the host and on the GPU share.
#pragma once

#include "exit_code.hpp"
#include "prepare.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tansolve::app {

inline constexpr int bench_warm_ups = 3, bench_repetitions = 15;

enum class BenchPlans { all, chosen };

struct BenchOptions {
  std::vector<std::string> matrices;
  InputOptions input;
  PlanOptions plan;
  DeviceOptions device;
  BenchPlans plans = BenchPlans::all;
  bool json = false;
};

/// Copies the matrix; y = A x by Eigen's row-major product on `threads` threads at each call.
template <class T>
std::function<void()> eigen_product(const Csr<T>& matrix, int threads, const T* x, T* y);

/// Random elements in [-1, 1).
template <class T>
std::vector<T> bench_vector(std::int64_t size, std::uint64_t seed);

/// The median; reorders.
double median(std::vector<double>& numbers);

/// What one command found. The code is `internal` where a product was wrong, else that of the first
/// matrix that failed.
struct BenchOutcome {
  Json document;
  ExitCode code = ExitCode::done;
};

/// Every matrix against every format of cuSPARSE on a GPU, as manual/benchmark.md says. Throws
/// Error(device) if there is no such GPU.
BenchOutcome bench_on_gpu(const BenchOptions& options, int device, const Console& console);

}  // namespace tansolve::app
