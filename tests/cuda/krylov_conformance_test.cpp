// SPDX-License-Identifier: BSD-3-Clause
// Bases and short recurrences on the GPU.
#include "kernels/krylov_conformance.hpp"
#include "kernels/bicgstab_conformance.hpp"
#include "kernels/idr_conformance.hpp"
#include "kernels/lanczos_conformance.hpp"
#include "kernels/second_pass_conformance.hpp"

TYPE_TO_STRING_AS("double, Cuda", tansolve::test::Setting<double, tansolve::Cuda>);
TYPE_TO_STRING_AS("float, Cuda", tansolve::test::Setting<float, tansolve::Cuda>);

namespace tansolve::test {

TANSOLVE_KRYLOV_CONFORMS(Setting<double, Cuda>, Setting<float, Cuda>);
TANSOLVE_SECOND_PASS_CONFORMS(Setting<double, Cuda>, Setting<float, Cuda>);
TANSOLVE_LANCZOS_CONFORMS(Setting<double, Cuda>, Setting<float, Cuda>);
TANSOLVE_BICGSTAB_CONFORMS(Setting<double, Cuda>, Setting<float, Cuda>);
TANSOLVE_IDR_CONFORMS(Setting<double, Cuda>, Setting<float, Cuda>);

TEST_CASE_TEMPLATE("products with a basis of many tiles a block agree with the reference", T,
                   double, float) {
  Context<Cuda> context;
  for (const BasisStorage storage : storages)
    for (const std::int64_t count : {7, 40})
      check_basis_products<T>(context, 600'000, count, storage);
  check_basis_products<T>(context, 2'500'000, 3, BasisStorage::fp16);
}

}  // namespace tansolve::test
