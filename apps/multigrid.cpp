// SPDX-License-Identifier: BSD-3-Clause
// What multigrid is asked for, and what it made.
#include "multigrid.hpp"

#include "system.hpp"

#include <tansolve/codec/error.hpp>

#include <cmath>
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

/// Says the shape of what a file holds, which must be `right`.
[[noreturn]] void refuse_near_null(const std::string& file, const Dense& given,
                                   const std::string& right) {
  throw Error(ErrorCode::bad_input,
              fmt::format("{}: {} x {}, it must be {}", file, given.rows, given.cols, right));
}

void check_finite(const std::string& file, const Dense& given) {
  for (std::size_t k = 0; k < given.values.size(); ++k)
    if (!std::isfinite(given.values[k]))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: row {}, column {} is {}, it must be finite", file,
                              k % given.rows + 1, k / given.rows + 1, given.values[k]));
}

}  // namespace

void add_near_null_options(CLI::App& parser, NearNullFiles& files) {
  parser
      .add_option("--near-null", files.vectors,
                  "amg: vectors that A makes small, a file like that of --rhs; constant ones")
      ->type_name("FILE");
  parser
      .add_option("--coordinates", files.coordinates,
                  "amg: of the nodes of a body of elasticity, a row of 2 or 3 each; its rigid-body "
                  "modes are the near-null vectors")
      ->type_name("FILE");
}

AmgOptions with_near_null(const NearNullFiles& files, std::int64_t n) {
  AmgOptions amg;
  if (!files.vectors.empty() && !files.coordinates.empty())
    throw Error(ErrorCode::invalid_argument, "--near-null and --coordinates: one of them at most");
  if (!files.vectors.empty()) {
    amg.near_null =
        read_columns("--near-null", "vectors of n rows, as .npy or Matrix Market", files.vectors);
    if (amg.near_null.rows != n || amg.near_null.cols < 1)
      refuse_near_null("--near-null " + files.vectors, amg.near_null,
                       fmt::format("{} x 1, or have more columns", n));
    check_finite("--near-null " + files.vectors, amg.near_null);
  }
  if (!files.coordinates.empty()) {
    const Dense coordinates =
        read_columns("--coordinates", "a row of 2 or 3 for each node, as .npy or Matrix Market",
                     files.coordinates);
    if ((coordinates.cols != 2 && coordinates.cols != 3) ||
        coordinates.rows * coordinates.cols != n)
      refuse_near_null("--coordinates " + files.coordinates, coordinates,
                       fmt::format("n/2 x 2 or n/3 x 3, where n is {}", n));
    check_finite("--coordinates " + files.coordinates, coordinates);
    amg.near_null = rigid_body_modes(coordinates);
    amg.unknowns_per_node = static_cast<int>(coordinates.cols);
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
