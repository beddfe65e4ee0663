// SPDX-License-Identifier: BSD-3-Clause
// Known faults against every solver, on the host's backends and on a Checked one that plays a GPU.
#include "solvers/every_fault.hpp"
#include "solvers/batches.hpp"

namespace tansolve::test {

TANSOLVE_EVERY_FAULT(Setting<double, Host, 2>, Setting<float, Host, 2>, Setting<double, Checked>,
                     Setting<float, Checked>, RecordingDouble);
TEST_CASE_TEMPLATE_INVOKE(fault_false_residual, Setting<double, Host, 2>, Setting<double, Checked>,
                          RecordingDouble);

}  // namespace tansolve::test
