// SPDX-License-Identifier: BSD-3-Clause
// What the benchmarks on the host and on the GPU share.
#pragma once

#include "exit_code.hpp"
#include "prepare.hpp"

#include <tansolve/codec/error.hpp>

#include <cstdio>
#include <functional>
#include <new>
#include <string>
#include <utility>
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
  int columns = 1;
  bool json = false;
};

/// Copies the matrix; y = A x by Eigen's row-major product on `threads` threads at each call.
template <class T>
std::function<void()> eigen_product(const Csr<T>& matrix, int threads, const T* x, T* y);

/// Random elements in [-1, 1).
template <class T>
std::vector<T> bench_vector(std::int64_t size, std::uint64_t seed);

/// ||y - A x|| / ||A x|| beyond which a product is wrong.
template <class T>
constexpr double error_bound = sizeof(T) == 8 ? 1e-14 : 1e-6;

/// A x by plain loops on the host, summed in long double.
template <class T>
class ExpectedProduct {
 public:
  ExpectedProduct(const Csr<T>& A, const std::vector<T>& x);
  /// ||y - A x|| / ||A x||, absolute where A x = 0.
  double error(const std::vector<T>& y) const;

 private:
  std::vector<double> y_;
};

/// The median; reorders.
double median(std::vector<double>& numbers);

/// What one command found. The code is `internal` where a product was wrong, else that of the first
/// matrix that failed.
struct BenchOutcome {
  Json document;
  ExitCode code = ExitCode::done;
};

/// Adds what `bench` returns for each matrix, a Source<T>, to the document. What fails leaves the
/// results of the others.
template <class Bench>
void bench_each(const BenchOptions& options, BenchOutcome& outcome, const Bench& bench) {
  Json& results = outcome.document["results"] = Json::array();
  for (const std::string& matrix : options.matrices) {
    const auto failed = [&](ExitCode code, const char* reason) {
      std::fflush(stdout);  // what was said before comes before
      complain("tansolve: {}: {}\n", matrix, reason);
      results.push_back({{"matrix", {{"name", matrix}}}, {"failed", reason}});
      if (outcome.code == ExitCode::done) outcome.code = code;
    };
    InputOptions input = options.input;
    input.matrix = matrix;
    try {
      results.push_back(
          std::visit([&](auto&& source) { return bench(std::forward<decltype(source)>(source)); },
                     load(input)));
    } catch (const Error& error) {
      failed(exit_code(error.code()), error.what());
      if (error.code() == ErrorCode::device) break;  // all that follows would fail, too
    } catch (const std::bad_alloc&) {
      failed(ExitCode::resources, "the host has too little memory");
    }
  }
}

/// Every matrix against every format of cuSPARSE on a GPU, as manual/benchmark.md says. Throws
/// Error(device) if there is no such GPU.
BenchOutcome bench_on_gpu(const BenchOptions& options, int device, const Console& console);

}  // namespace tansolve::app
