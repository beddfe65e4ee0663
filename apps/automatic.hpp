// SPDX-License-Identifier: BSD-3-Clause
// The preconditioner that --precond auto takes.
#pragma once

#include "method.hpp"

#include <string>

namespace tansolve::app {

struct AutomaticChoice {
  std::string name;
  std::string reason;
};

/// By the facts alone, for a square matrix of finite entries. `any_sign`: the solver takes
/// preconditioners that are not positive definite.
AutomaticChoice automatic_preconditioner(const Traits& traits, bool any_sign);

}  // namespace tansolve::app
