// SPDX-License-Identifier: BSD-3-Clause
// The entry point of the GPU's tests: without a GPU they are skipped, which CTest shows as such.
#define DOCTEST_CONFIG_IMPLEMENT
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/cuda/context.hpp>

#include <doctest/doctest.h>

#include <cstdio>

int main(int argc, char** argv) {
  try {
    const tansolve::Context<tansolve::Cuda> context;
  } catch (const tansolve::Error& error) {
    std::printf("skipped: %s\n", error.what());
    return 77;  // SKIP_RETURN_CODE
  }
  return doctest::Context(argc, argv).run();
}
