// SPDX-License-Identifier: BSD-3-Clause
// Every solver of square systems, and known faults against it, on the GPU.
#include "solvers/every_fault.hpp"
#include "solvers/every_system.hpp"

TYPE_TO_STRING_AS("double, Cuda", tansolve::test::Setting<double, tansolve::Cuda>);
TYPE_TO_STRING_AS("float, Cuda", tansolve::test::Setting<float, tansolve::Cuda>);

namespace tansolve::test {

TANSOLVE_EVERY_SYSTEM(Setting<double, Cuda>, Setting<float, Cuda>);
TANSOLVE_EVERY_FAULT(Setting<double, Cuda>, Setting<float, Cuda>);
TEST_CASE_TEMPLATE_INVOKE(fault_false_residual, Setting<double, Cuda>);

}  // namespace tansolve::test
