// SPDX-License-Identifier: BSD-3-Clause
// Work recorded as a CUDA graph.
#pragma once

#include <tansolve/kernels/cuda/context.hpp>
#include <tansolve/kernels/replay.hpp>

struct CUgraphExec_st;  // the CUDA runtime's graph, so that this header needs no CUDA

namespace tansolve {

template <>
class Replay<Cuda> {
 public:
  Replay(Context<Cuda>& context, bool capturable, std::function<void()> work)
      : context_(&context), capturable_(capturable), work_(std::move(work)) {}
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay();

  bool run();

 private:
  void record();

  Context<Cuda>* context_;
  bool capturable_;
  std::function<void()> work_;
  CUgraphExec_st* graph_ = nullptr;
};

}  // namespace tansolve
