// SPDX-License-Identifier: BSD-3-Clause
// Every solver of square systems on the host's backends, and on a Checked one that plays a GPU.
#include "solvers/every_solver.hpp"
#include "solvers/batches.hpp"

namespace tansolve::test {
struct RecordingDouble : Recording {
  using T = double;
};
}  // namespace tansolve::test

TYPE_TO_STRING_AS("double, recording Checked", tansolve::test::RecordingDouble);

namespace tansolve::test {

TANSOLVE_EVERY_SOLVER(Setting<double, Host, 2>, Setting<float, Host, 2>, Setting<double, Checked>,
                      Setting<float, Checked>, RecordingDouble);
TEST_CASE_TEMPLATE_INVOKE(every_scale, Setting<double, Host, 2>, Setting<double, Checked>,
                          RecordingDouble);

}  // namespace tansolve::test
