// SPDX-License-Identifier: BSD-3-Clause
// Blocks of vectors and the vector work of least squares on the GPU.
#include "kernels/block_conformance.hpp"

TYPE_TO_STRING_AS("double, Cuda", tansolve::test::Setting<double, tansolve::Cuda>);
TYPE_TO_STRING_AS("float, Cuda", tansolve::test::Setting<float, tansolve::Cuda>);

namespace tansolve::test {

TANSOLVE_BLOCK_CONFORMS(Setting<double, Cuda>, Setting<float, Cuda>);

}  // namespace tansolve::test
