// SPDX-License-Identifier: BSD-3-Clause
// The copy, through pinned memory.
#include <tansolve/kernels/cuda/device_layout.hpp>
#include <tansolve/kernels/cuda/runtime.cuh>

#include <algorithm>
#include <cstring>

namespace tansolve::detail {
namespace {

/// Copies to the device through two pinned buffers: one fills while the other travels.
class Upload {
 public:
  explicit Upload(Context<Cuda>& context) : stream_(context.stream()) {}

  void send(std::span<const std::byte> from, std::byte* to) {
    for (std::size_t first = 0; first < from.size(); first += size) {
      Buffer& buffer = buffers_[turn_++ % 2];
      const std::size_t count = std::min(size, from.size() - first);
      TANSOLVE_CUDA_CHECK(cudaEventSynchronize(buffer.sent));
      std::memcpy(buffer.memory, from.data() + first, count);
      TANSOLVE_CUDA_CHECK(
          cudaMemcpyAsync(to + first, buffer.memory, count, cudaMemcpyHostToDevice, stream_));
      TANSOLVE_CUDA_CHECK(cudaEventRecord(buffer.sent, stream_));
    }
  }

 private:
  static constexpr std::size_t size = std::size_t{8} << 20;
  struct Buffer {
    Buffer() {
      TANSOLVE_CUDA_CHECK(cudaEventCreateWithFlags(&sent, cudaEventDisableTiming));
      if (const cudaError_t status = cudaMallocHost(&memory, size); status != cudaSuccess) {
        cudaEventDestroy(sent);
        check(status, "cudaMallocHost");
      }
    }
    Buffer(const Buffer&) = delete;
    Buffer& operator=(const Buffer&) = delete;
    ~Buffer() {
      cudaEventSynchronize(sent);
      cudaEventDestroy(sent);
      cudaFreeHost(memory);
    }
    void* memory = nullptr;
    cudaEvent_t sent = nullptr;
  };
  cudaStream_t stream_;
  Buffer buffers_[2];
  std::size_t turn_ = 0;
};

}  // namespace

void* DeviceLayout::send(Context<Cuda>& context) const {
  void* memory = context.allocate(bytes_);
  try {
    Upload upload(context);
    for (const auto& [elements, offset, place] : sections_) {
      std::byte* at = static_cast<std::byte*>(memory) + offset;
      place(at);
      upload.send(elements, at);
    }
    context.synchronize();
  } catch (...) {
    context.release(memory);
    throw;
  }
  return memory;
}

}  // namespace tansolve::detail
