// SPDX-License-Identifier: BSD-3-Clause
// Records by stream capture.
#include <tansolve/kernels/cuda/replay.hpp>
#include <tansolve/kernels/cuda/runtime.cuh>

namespace tansolve {

Replay<Cuda>::~Replay() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
}

void Replay<Cuda>::record() {
  const cudaStream_t stream = context_->stream();
  TANSOLVE_CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t graph = nullptr;
  try {
    work_();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);  // whatever it says, the work's failure comes first
    cudaGetLastError();
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  TANSOLVE_CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  const cudaError_t status = cudaGraphInstantiate(&graph_, graph, 0);
  cudaGraphDestroy(graph);
  detail::check(status, "cudaGraphInstantiate");
}

bool Replay<Cuda>::run() {
  if (!capturable_) {
    work_();
    return false;
  }
  const bool recorded = graph_ != nullptr;
  if (!recorded) record();
  TANSOLVE_CUDA_CHECK(cudaGraphLaunch(graph_, context_->stream()));
  return recorded;
}

}  // namespace tansolve
