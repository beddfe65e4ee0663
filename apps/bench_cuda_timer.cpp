// SPDX-License-Identifier: BSD-3-Clause
// Events, the L2 flush and the properties of a GPU.
#include "bench_cuda_timer.hpp"

#include <tansolve/kernels/cuda/runtime.cuh>

#include <algorithm>

namespace tansolve::app {
namespace {

int device_attribute(const Context<Cuda>& context, cudaDeviceAttr which) {
  int value = 0;
  TANSOLVE_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, context.device()));
  return value;
}

/// Four times the L2, so that no part of it survives, whatever its replacement.
std::int64_t bytes_to_flush(const Context<Cuda>& context) {
  const std::int64_t cache = device_attribute(context, cudaDevAttrL2CacheSize);
  return std::max<std::int64_t>(4 * cache, std::int64_t{64} << 20);
}

}  // namespace

DeviceTimer::DeviceTimer(Context<Cuda>& context)
    : context_(&context),
      flush_(context, bytes_to_flush(context)),
      events_(2 * bench_repetitions, nullptr) {
  for (CUevent_st*& event : events_) TANSOLVE_CUDA_CHECK(cudaEventCreate(&event));
}

DeviceTimer::~DeviceTimer() {
  for (CUevent_st* event : events_) cudaEventDestroy(event);
}

void DeviceTimer::flush() {
  TANSOLVE_CUDA_CHECK(
      cudaMemsetAsync(flush_.span().data(), 0x5a, flush_.size(), context_->stream()));
}

double DeviceTimer::median_time(const Launch& before, const Launch& launch) {
  const cudaStream_t stream = context_->stream();
  for (int i = 0; i < bench_warm_ups; ++i) {
    before();
    launch();
  }
  for (int i = 0; i < bench_repetitions; ++i) {
    before();
    TANSOLVE_CUDA_CHECK(cudaEventRecord(events_[2 * i], stream));
    launch();
    TANSOLVE_CUDA_CHECK(cudaEventRecord(events_[2 * i + 1], stream));
  }
  context_->synchronize();
  std::vector<double> seconds;
  for (int i = 0; i < bench_repetitions; ++i) {
    float milliseconds = 0;
    TANSOLVE_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, events_[2 * i], events_[2 * i + 1]));
    seconds.push_back(1e-3 * milliseconds);
  }
  return median(seconds);
}

double DeviceTimer::warm(const Launch& launch) {
  // About half a millisecond of other work, in which the host queues up all that follows: small
  // products would otherwise be timed by how fast they are launched.
  for (std::int64_t queued = 0; queued < std::int64_t{2} << 30; queued += flush_.size()) flush();
  return median_time([] {}, launch);
}

double DeviceTimer::cold(const Launch& launch) {
  return median_time([this] { flush(); }, launch);
}

template <class T>
void poison(Vector<T, Cuda>& y) {
  TANSOLVE_CUDA_CHECK(
      cudaMemsetAsync(y.span().data(), 0xff, y.size() * sizeof(T), y.context().stream()));
}

template void poison(Vector<double, Cuda>&);
template void poison(Vector<float, Cuda>&);

Json device_json(Context<Cuda>& context, DeviceTimer& timer) {
  const auto size = static_cast<std::int64_t>(
      std::min<std::size_t>(std::size_t{1} << 30, context.free_memory() / 4));
  double copy_seconds = 0;
  {
    Vector<std::byte, Cuda> from(context, size), to(context, size);
    copy_seconds = timer.warm([&] {
      TANSOLVE_CUDA_CHECK(cudaMemcpyAsync(to.span().data(), from.span().data(), size,
                                          cudaMemcpyDeviceToDevice, context.stream()));
    });
  }
  int driver = 0, runtime = 0;
  TANSOLVE_CUDA_CHECK(cudaDriverGetVersion(&driver));
  TANSOLVE_CUDA_CHECK(cudaRuntimeGetVersion(&runtime));
  const auto& properties = context.properties();
  return {{"name", properties.name},
          {"index", context.device()},
          {"compute_capability", properties.compute_capability},
          {"multiprocessors", properties.multiprocessors},
          {"memory_bytes", properties.memory},
          {"l2_bytes", device_attribute(context, cudaDevAttrL2CacheSize)},
          {"highest_clock_hz", 1e3 * device_attribute(context, cudaDevAttrClockRate)},
          {"memory_clock_hz", 1e3 * device_attribute(context, cudaDevAttrMemoryClockRate)},
          {"nominal_bytes_per_second", properties.memory_bandwidth},
          {"copy_bytes_per_second", 2 * static_cast<double>(size) / copy_seconds},
          {"driver_version", driver},
          {"runtime_version", runtime}};
}

}  // namespace tansolve::app
