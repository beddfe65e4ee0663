// SPDX-License-Identifier: BSD-3-Clause
// Work that is issued again and again, recorded where the backend can.
#pragma once

#include <tansolve/kernels/backend.hpp>

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

namespace tansolve {

/// Whether work can be recorded there: on a GPU, and where a Checked context plays one.
template <class B>
bool records([[maybe_unused]] const Context<B>& context) {
  if constexpr (std::is_same_v<B, Checked>)
    return context.records();
  else
    return !std::is_same_v<B, Host>;
}

/// Calls `work` on the host. On a GPU, if it is `capturable` (as LinearOperator has it), the first
/// run records what it launches on the context's stream as a graph; every run then launches that
/// graph, at a fraction of the cost of single launches. The context, and the memory that the work
/// refers to, must outlive this.
template <class B>
class Replay {
 public:
  Replay(Context<B>&, bool /*capturable*/, std::function<void()> work) : work_(std::move(work)) {}

  /// Returns whether the work ran without being called, so that nobody counted it. Throws what the
  /// work throws, and Error(device).
  bool run() {
    work_();
    return false;
  }

 private:
  std::function<void()> work_;
};

/// Where the context plays a GPU that records, the work is called each time, too, but must be what
/// could have been recorded: Error(device) says what it did that a recording forbids.
template <>
class Replay<Checked> {
 public:
  Replay(Context<Checked>& context, bool capturable, std::function<void()> work)
      : context_(&context), recorded_(capturable && context.records()), work_(std::move(work)) {}

  bool run();

 private:
  Context<Checked>* context_;
  bool recorded_;
  std::function<void()> work_;
};

}  // namespace tansolve

#if TANSOLVE_HAS_CUDA
#include <tansolve/kernels/cuda/replay.hpp>
#endif
