// SPDX-License-Identifier: BSD-3-Clause
// Devices, streams, memory and transfers of the CUDA backend.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/cuda/kernels.hpp>
#include <tansolve/kernels/cuda/runtime.cuh>

#include <fmt/format.h>

#include <cstring>

namespace tansolve {

void detail::check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // or the next check of a launch would report it again
  const ErrorCode code =
      status == cudaErrorMemoryAllocation ? ErrorCode::out_of_memory : ErrorCode::device;
  throw Error(code, fmt::format("CUDA: {} ({}) from {}", cudaGetErrorString(status),
                                cudaGetErrorName(status), call));
}

int cuda_device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();  // taken note of
    return 0;
  }
  return count;
}

std::string cuda_unavailable_reason() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess) return count > 0 ? "" : "no CUDA device";
  cudaGetLastError();
  // CUDA calls a driver that is not there insufficient, too.
  if (status == cudaErrorInsufficientDriver)
    return fmt::format("no NVIDIA driver, or one too old for CUDA {}.{}", CUDART_VERSION / 1000,
                       CUDART_VERSION % 1000 / 10);
  return cudaGetErrorString(status);
}

struct Context<Cuda>::State {
  int device;
  Properties properties;
  cudaStream_t stream = nullptr;
  std::int64_t allocations = 0;
};

namespace {

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  TANSOLVE_CUDA_CHECK(cudaDeviceGetAttribute(&value, which, device));
  return value;
}

Context<Cuda>::Properties properties_of(int device) {
  cudaDeviceProp all;
  TANSOLVE_CUDA_CHECK(cudaGetDeviceProperties(&all, device));
  const double clock = 1e3 * attribute(cudaDevAttrMemoryClockRate, device);  // from kHz
  return {.name = all.name,
          .compute_capability = 10 * all.major + all.minor,
          .multiprocessors = all.multiProcessorCount,
          .shared_memory_per_block = all.sharedMemPerBlockOptin,
          .memory = all.totalGlobalMem,
          // Two transfers a clock.
          .memory_bandwidth = 2 * clock * attribute(cudaDevAttrGlobalMemoryBusWidth, device) / 8};
}

}  // namespace

Context<Cuda>::Context(int device) {
  const int count = cuda_device_count();
  if (device < 0 || device >= count)
    throw Error(ErrorCode::device,
                count == 0
                    ? fmt::format("CUDA device {}: {}", device, cuda_unavailable_reason())
                    : fmt::format("CUDA device {}: there are {}, counted from 0", device, count));
  TANSOLVE_CUDA_CHECK(cudaSetDevice(device));
  state_ = std::make_unique<State>(State{device, properties_of(device)});
  scratch_ = std::make_unique<Scratch>();
  try {
    open();
  } catch (...) {
    close();
    throw;
  }
}

void Context<Cuda>::open() {
  TANSOLVE_CUDA_CHECK(cudaStreamCreateWithFlags(&state_->stream, cudaStreamNonBlocking));
  constexpr std::size_t partials =
      sizeof(double) * detail::reduction_blocks * detail::partials_per_block;
  void* memory = allocate(partials + sizeof(unsigned));
  scratch_->partials = static_cast<double*>(memory);
  scratch_->ticket = reinterpret_cast<unsigned*>(scratch_->partials + partials / sizeof(double));
  TANSOLVE_CUDA_CHECK(cudaMemsetAsync(scratch_->ticket, 0, sizeof(unsigned), state_->stream));
  TANSOLVE_CUDA_CHECK(cudaMallocHost(&scratch_->staging, Scratch::staging_bytes));
  // That it has kernels for this GPU, and that they run.
  detail::fill(*this, 1, 0.0, scratch_->partials);
  synchronize();
  state_->allocations = 0;
}

Context<Cuda>::~Context() {
  close();
}

void Context<Cuda>::close() noexcept {
  // Nothing to be done about failures here: the process is ending or the device is lost.
  cudaSetDevice(state_->device);
  if (state_->stream != nullptr) cudaStreamSynchronize(state_->stream);
  cudaFreeHost(scratch_->staging);
  cudaFree(scratch_->partials);
  if (state_->stream != nullptr) cudaStreamDestroy(state_->stream);
  cudaGetLastError();
}

int Context<Cuda>::device() const {
  return state_->device;
}
const Context<Cuda>::Properties& Context<Cuda>::properties() const {
  return state_->properties;
}
std::int64_t Context<Cuda>::allocations() const {
  return state_->allocations;
}

CUstream_st* Context<Cuda>::stream() const {
  TANSOLVE_CUDA_CHECK(cudaSetDevice(state_->device));
  return state_->stream;
}

void Context<Cuda>::synchronize() {
  TANSOLVE_CUDA_CHECK(cudaStreamSynchronize(stream()));
}

std::size_t Context<Cuda>::free_memory() const {
  TANSOLVE_CUDA_CHECK(cudaSetDevice(state_->device));
  std::size_t free = 0, total = 0;
  TANSOLVE_CUDA_CHECK(cudaMemGetInfo(&free, &total));
  return free;
}

void* Context<Cuda>::allocate(std::size_t bytes) {
  TANSOLVE_CUDA_CHECK(cudaSetDevice(state_->device));
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes == 0 ? 1 : bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it leaves the context usable
    throw Error(ErrorCode::out_of_memory,
                fmt::format("memory of CUDA device {} ({}): {} bytes requested, {} are free",
                            state_->device, state_->properties.name, bytes, free_memory()));
  }
  TANSOLVE_CUDA_CHECK(status);
  ++state_->allocations;
  return memory;
}

void Context<Cuda>::release(void* memory) noexcept {
  cudaSetDevice(state_->device);
  cudaFree(memory);
}

void detail::transfer(Context<Cuda>& context, const void* from, void* to, std::size_t bytes) {
  if (bytes == 0) return;
  const cudaStream_t stream = context.stream();
  void* staging = context.scratch().staging;
  if (bytes > Context<Cuda>::Scratch::staging_bytes) {
    TANSOLVE_CUDA_CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
    context.synchronize();
    return;
  }
  // Small ones are mostly scalars that a solver waits for: through pinned memory they take half the
  // time, and one of the two copies is the host's own.
  cudaPointerAttributes source;
  TANSOLVE_CUDA_CHECK(cudaPointerGetAttributes(&source, from));
  if (source.type == cudaMemoryTypeDevice) {
    TANSOLVE_CUDA_CHECK(cudaMemcpyAsync(staging, from, bytes, cudaMemcpyDeviceToHost, stream));
    context.synchronize();
    std::memcpy(to, staging, bytes);
  } else {
    std::memcpy(staging, from, bytes);
    TANSOLVE_CUDA_CHECK(cudaMemcpyAsync(to, staging, bytes, cudaMemcpyHostToDevice, stream));
    context.synchronize();
  }
}

}  // namespace tansolve
