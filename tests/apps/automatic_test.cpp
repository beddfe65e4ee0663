// SPDX-License-Identifier: BSD-3-Clause
// The table of --precond auto, with the rows of a GPU that this machine need not have.
#include "../../apps/automatic.hpp"

#include <doctest/doctest.h>

#include <string>

namespace tansolve::test {
namespace {

using app::Traits;

/// Of a symmetric matrix with a positive diagonal that varies.
Traits definite(bool on_gpu) {
  Traits traits;
  traits.symmetric = true;
  traits.on_gpu = on_gpu;
  traits.positive_diagonal = true;
  return traits;
}

std::string taken(const Traits& traits, bool any_sign = false) {
  return app::automatic_preconditioner(traits, any_sign).name;
}

TEST_CASE("auto takes chebyshev on a gpu for what may be definite, jacobi elsewhere") {
  CHECK(taken(definite(true)) == "chebyshev");
  CHECK(taken(definite(false)) == "jacobi");
  CHECK(taken(definite(true), true) == "jacobi");  // for a solver that takes any sign

  Traits constant = definite(true);
  constant.constant_diagonal = true;
  CHECK(taken(constant) == "chebyshev");
  constant.on_gpu = false;
  CHECK(taken(constant) == "none");
  constant.on_gpu = true;
  CHECK(taken(constant, true) == "none");

  Traits asymmetric = definite(true);
  asymmetric.symmetric = false;
  CHECK(taken(asymmetric) == "jacobi");
  Traits probed = definite(true);  // a container
  probed.symmetric = std::nullopt;
  CHECK(taken(probed) == "chebyshev");
  probed.asymmetry = "u'Av and v'Au differ";
  CHECK(taken(probed) == "jacobi");
  Traits indefinite = definite(true);
  indefinite.positive_diagonal = false;
  CHECK(taken(indefinite) == "jacobi");
}

TEST_CASE("auto takes blocks before anything else, and nothing for an unfit diagonal") {
  for (const bool on_gpu : {false, true}) {
    Traits traits = definite(on_gpu);
    traits.rows_a_block = 1.9;
    CHECK(taken(traits) == "block-jacobi");
    CHECK(taken(traits, true) == "block-jacobi");
    traits.rows_a_block = 1.89;
    CHECK(taken(traits) != "block-jacobi");
    traits.rows_a_block = 3;
    traits.unfit_diagonal = "2 of 3 diagonal elements are not positive";
    CHECK(taken(traits) == "none");
    CHECK(app::automatic_preconditioner(traits, false).reason == traits.unfit_diagonal);
    CHECK(taken(traits, true) == "block-jacobi");  // negative elements do no harm there
    traits.singular_diagonal = "1 of 3 diagonal elements are zero";
    CHECK(app::automatic_preconditioner(traits, true).reason == traits.singular_diagonal);
  }
}

}  // namespace
}  // namespace tansolve::test
