// SPDX-License-Identifier: BSD-3-Clause
// Times by the GPU's own clock, warm and cold, and what the GPU itself can do.
#pragma once

#include "bench.hpp"

#include <tansolve/codec/csr.hpp>
#include <tansolve/kernels/linear_operator.hpp>
#include <tansolve/kernels/vector.hpp>

#include <cstddef>
#include <functional>
#include <vector>

struct CUevent_st;

namespace tansolve::app {

/// Times what a function launches on the context's stream by events around it, bench_warm_ups times
/// unmeasured and bench_repetitions times measured; the median, in seconds.
class DeviceTimer {
 public:
  using Launch = std::function<void()>;

  explicit DeviceTimer(Context<Cuda>& context);
  ~DeviceTimer();
  DeviceTimer(const DeviceTimer&) = delete;
  DeviceTimer& operator=(const DeviceTimer&) = delete;

  /// One after another, queued up so that the GPU never waits for the host.
  double warm(const Launch& launch);
  /// The L2 overwritten before each.
  double cold(const Launch& launch);

  std::int64_t flush_bytes() const { return flush_.size(); }  ///< written before each cold one

 private:
  double median_time(const Launch& before, const Launch& launch);
  void flush();

  Context<Cuda>* context_;
  Vector<std::byte, Cuda> flush_;
  std::vector<CUevent_st*> events_;  // before and after each repetition
};

/// Fills the vector with NaN.
template <class T>
void poison(Vector<T, Cuda>& y);

/// device{...}: the GPU, its clocks, the bandwidth of a copy.
Json device_json(Context<Cuda>& context, DeviceTimer& timer);

/// Products of A, which is the matrix, with so many vectors at once, one at a time, and by
/// cuSPARSE's SpMM in either layout; warm. Clears `right` where one is wrong.
template <class T>
Json bench_block(const Csr<T>& matrix, const LinearOperator<T, Cuda>& A, int columns,
                 std::uint64_t seed, DeviceTimer& timer, const Console& console, bool& right);

/// Times of the primitives next to cuBLAS's, one object a primitive and precision.
Json bench_primitives(Context<Cuda>& context, DeviceTimer& timer, const Console& console);

}  // namespace tansolve::app
