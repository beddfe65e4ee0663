// SPDX-License-Identifier: BSD-3-Clause
// Every solver of square systems on the GPU.
#include "solvers/every_solver.hpp"

TYPE_TO_STRING_AS("double, Cuda", tansolve::test::Setting<double, tansolve::Cuda>);
TYPE_TO_STRING_AS("float, Cuda", tansolve::test::Setting<float, tansolve::Cuda>);

namespace tansolve::test {

TANSOLVE_EVERY_SOLVER(Setting<double, Cuda>, Setting<float, Cuda>);
TEST_CASE_TEMPLATE_INVOKE(every_scale, Setting<double, Cuda>);

}  // namespace tansolve::test
