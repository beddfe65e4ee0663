// SPDX-License-Identifier: BSD-3-Clause
// The vector work and scalar recurrences of short recurrences on the host's backends.
#include "kernels/bicgstab_conformance.hpp"
#include "kernels/idr_conformance.hpp"
#include "kernels/lanczos_conformance.hpp"

namespace tansolve::test {

TANSOLVE_LANCZOS_CONFORMS(Setting<double, Host, 2>, Setting<float, Host, 2>,
                          Setting<double, Checked>, Setting<float, Checked>);
TANSOLVE_BICGSTAB_CONFORMS(Setting<double, Host, 2>, Setting<float, Host, 2>,
                           Setting<double, Checked>, Setting<float, Checked>);
TANSOLVE_IDR_CONFORMS(Setting<double, Host, 2>, Setting<float, Host, 2>, Setting<double, Checked>,
                      Setting<float, Checked>);

}  // namespace tansolve::test
