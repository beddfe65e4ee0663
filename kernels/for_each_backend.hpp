// SPDX-License-Identifier: BSD-3-Clause
// The value types and backends that this build instantiates its templates for.
#pragma once

/// Expands instantiate(T, B) for every value type and backend.
#define TANSOLVE_FOR_EACH_BACKEND(instantiate) \
  TANSOLVE_FOR_EACH_HOST_BACKEND(instantiate)  \
  TANSOLVE_FOR_EACH_GPU_BACKEND(instantiate)

/// Those whose memory the host can read.
#define TANSOLVE_FOR_EACH_HOST_BACKEND(instantiate)                               \
  instantiate(double, Host) instantiate(float, Host) instantiate(double, Checked) \
      instantiate(float, Checked)

#if TANSOLVE_HAS_CUDA
#define TANSOLVE_FOR_EACH_GPU_BACKEND(instantiate) \
  instantiate(double, Cuda) instantiate(float, Cuda)
#else
#define TANSOLVE_FOR_EACH_GPU_BACKEND(instantiate)
#endif
