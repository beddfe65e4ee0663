// SPDX-License-Identifier: BSD-3-Clause
// A rule of what costs little: blocks that are there, products where they are cheap, the diagonal.
#include "automatic.hpp"

#include <fmt/format.h>

namespace tansolve::app {
namespace {

/// Of natural blocks, from which on they are taken for the unknowns of nodes.
constexpr double least_rows_a_block = 1.9;

}  // namespace

AutomaticChoice automatic_preconditioner(const Traits& traits, bool any_sign) {
  const std::string& unfit = any_sign ? traits.singular_diagonal : traits.unfit_diagonal;
  if (!unfit.empty()) return {"none", unfit};
  if (traits.rows_a_block >= least_rows_a_block)
    return {"block-jacobi", fmt::format("{:.2g} consecutive rows on average have the same columns",
                                        traits.rows_a_block)};
  if (traits.on_gpu && !any_sign && traits.kind() == Kind::definite)
    return {"chebyshev",
            "on a GPU its products take less time than the reductions and vector work they save"};
  if (traits.constant_diagonal) return {"none", "the diagonal is constant"};
  return {"jacobi", any_sign ? "the diagonal varies and has no zeros"
                             : "the diagonal is positive and varies"};
}

}  // namespace tansolve::app
