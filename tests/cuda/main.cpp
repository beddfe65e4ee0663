// SPDX-License-Identifier: BSD-3-Clause
// The entry point of the GPU's tests: without a GPU they are skipped, which CTest shows as such.
#define DOCTEST_CONFIG_IMPLEMENT
#include <tansolve/kernels/cuda/context.hpp>

#include <doctest/doctest.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (tansolve::cuda_device_count() == 0) {
    std::printf("skipped: %s\n", tansolve::cuda_unavailable_reason().c_str());
    return 77;  // SKIP_RETURN_CODE
  }
  return doctest::Context(argc, argv).run();
}
