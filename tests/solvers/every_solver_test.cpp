// SPDX-License-Identifier: BSD-3-Clause
// Every solver on every kind of system, on the host's backends and on a Checked one that plays a
// GPU.
#include "solvers/batches.hpp"
#include "solvers/every_system.hpp"

namespace tansolve::test {

TANSOLVE_EVERY_SYSTEM(Setting<double, Host, 2>, Setting<float, Host, 2>, Setting<double, Checked>,
                      Setting<float, Checked>, RecordingDouble);

}  // namespace tansolve::test
