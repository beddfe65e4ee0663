// SPDX-License-Identifier: BSD-3-Clause
// What multigrid is asked for, and what it made.
#include "multigrid.hpp"

#include "system.hpp"

#include <tansolve/codec/error.hpp>

#include <utility>

namespace tansolve::app {
namespace {

Json matrix_facts_json(const AmgMatrixFacts& facts) {
  if (facts.rows == 0) return nullptr;
  Json json = {{"rows", facts.rows}, {"nnz", facts.nonzeros}, {"csr_bytes", facts.csr_bytes}};
  if (facts.bytes > 0) {
    json["bytes"] = facts.bytes;
    json["format"] = facts.format;
  }
  return json;
}

}  // namespace

void add_multigrid_options(CLI::App& parser, MultigridOptions& options) {
  parser
      .add_option("--amg-theta", options.amg.theta,
                  "amg: unknowns are aggregated along |a_ij| > THETA sqrt(a_ii a_jj), half as much "
                  "on each coarser level")
      ->check(not_negative)
      ->type_name("THETA")
      ->capture_default_str();
  add_choice<AmgCycle>(parser, "--amg-cycle", {{"v", AmgCycle::v}, {"w", AmgCycle::w}},
                       options.amg.cycle, "amg: v, the default, or w");
  add_choice<AmgSmoother>(parser, "--amg-smoother",
                          {{"chebyshev", AmgSmoother::chebyshev}, {"jacobi", AmgSmoother::jacobi}},
                          options.amg.smoother, "amg: chebyshev, the default, or damped Jacobi");
  parser.add_option("--amg-degree", options.amg.degree, "amg: steps of the smoother")
      ->check(whole_number(1000))
      ->type_name("N")
      ->capture_default_str();
  parser
      .add_option("--unknowns-per-node", options.amg.unknowns_per_node,
                  "amg: consecutive rows that belong to a node; found where not given")
      ->check(whole_number(1000))
      ->type_name("N");
  parser
      .add_option("--near-null", options.near_null,
                  "amg: vectors that A makes small, a file like that of --rhs; constant ones")
      ->type_name("FILE");
  parser
      .add_option("--coordinates", options.coordinates,
                  "amg: of the nodes of a body of elasticity, a row of 2 or 3 each; its rigid-body "
                  "modes are the near-null vectors")
      ->type_name("FILE");
}

AmgOptions amg_options(const MultigridOptions& options) {
  AmgOptions amg = options.amg;
  if (!options.near_null.empty() && !options.coordinates.empty())
    throw Error(ErrorCode::invalid_argument, "--near-null and --coordinates: one of them at most");
  if (!options.near_null.empty())
    amg.near_null = read_columns("--near-null", "vectors of n rows, as .npy or Matrix Market",
                                 options.near_null);
  if (!options.coordinates.empty()) {
    const Dense coordinates =
        read_columns("--coordinates", "a row of 2 or 3 for each node, as .npy or Matrix Market",
                     options.coordinates);
    amg.near_null = rigid_body_modes(coordinates);
    if (amg.unknowns_per_node == 0) amg.unknowns_per_node = static_cast<int>(coordinates.cols);
  }
  return amg;
}

Json hierarchy_json(const AmgFacts& facts) {
  Json levels = Json::array();
  for (const AmgLevelFacts& level : facts.levels)
    levels.push_back({{"A", matrix_facts_json(level.A)},
                      {"P", matrix_facts_json(level.P)},
                      {"R", matrix_facts_json(level.R)},
                      {"largest_eigenvalue", level.largest_eigenvalue}});
  return {{"levels", levels},
          {"coarse_inverse", matrix_facts_json(facts.coarse_inverse)},
          {"unknowns_per_node", facts.unknowns_per_node},
          {"operator_complexity", facts.operator_complexity()},
          {"grid_complexity", facts.grid_complexity()},
          {"bytes", facts.bytes()},
          {"csr_bytes", facts.csr_bytes()}};
}

}  // namespace tansolve::app
