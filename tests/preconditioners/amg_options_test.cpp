// SPDX-License-Identifier: BSD-3-Clause
// Every option of multigrid changes what it says, and nothing less.
#include <tansolve/preconditioners/amg.hpp>
#include <tansolve/preconditioners/mantissa.hpp>

#include "preconditioners/dense.hpp"
#include "support/matrices.hpp"

#include <string>

namespace tansolve::test {
namespace {

AmgFacts facts(const Csr<double>& matrix, const AmgOptions& options) {
  Context<Host> context(1);
  const CsrOperator<double, Host> A(context, matrix);
  return Amg<double, Host>(A, matrix, options).facts();
}

detail::AmgMatrices made(const Csr<double>& matrix, const AmgOptions& options) {
  return detail::AmgSetup(options).matrices(matrix);
}

TEST_CASE("strength, threshold and distance of roots decide on the aggregates") {
  // Beside 1 along x there is 0.05 along y: 0.0238 of the diagonal.
  const Csr<double> A = anisotropic<double>(24, 24, 0.05);
  const auto rows = [&](const AmgOptions& options) { return facts(A, options).levels[1].A.rows; };
  const AmgOptions lines = {.theta = 0.03, .coarse_rows = 20};
  const AmgOptions all = {.theta = 0.02, .coarse_rows = 20};
  CHECK(rows(lines) == 24 * 8);  // lines of 24 in pieces of 3
  CHECK(rows(all) < 24 * 6);
  // Of the largest entry of a row the threshold is 0.03 itself, and 0.05 is above.
  CHECK(rows({.strength = Strength::absolute, .theta = 0.03, .coarse_rows = 20}) == rows(all));
  CHECK(rows({.strength = Strength::absolute, .theta = 0.06, .coarse_rows = 20}) == rows(lines));

  const auto apart = [&](int distance) {
    return facts(generate("poisson5:30"), {.root_distance = distance, .coarse_rows = 20})
        .levels[1]
        .A.rows;
  };
  CHECK(apart(1) > apart(2));
  CHECK(apart(2) > apart(3));
  CHECK(apart(0) == apart(2));
}

TEST_CASE("the threshold decays from level to level as it is told to") {
  // What is weak along y on the finest level is so on the next, unless the threshold falls.
  const Csr<double> A = anisotropic<double>(30, 30, 0.05);
  const auto rows = [&](double decay) {
    return facts(A, {.theta = 0.03, .theta_decay = decay, .coarse_rows = 20}).levels[2].A.rows;
  };
  CHECK(rows(0) < rows(1));
}

TEST_CASE("unknowns of a node have coarse unknowns of their own") {
  const Csr<double> A = generate("fem3:5");
  const AmgFacts three = facts(A, {.unknowns_per_node = 3, .coarse_rows = 20});
  CHECK(three.unknowns_per_node == 3);
  CHECK(three.levels[1].A.rows % 3 == 0);
  CHECK(facts(A, {.unknowns_per_node = 1, .coarse_rows = 20}).unknowns_per_node == 1);
  CHECK(facts(A, {.coarse_rows = 20}).unknowns_per_node == 3);
}

TEST_CASE("the damping of the prolongation is that of its formula") {
  const Csr<double> A = generate("poisson5:12");
  const auto P = [&](double damping) {
    return made(A, {.prolongation_damping = damping, .coarse_rows = 20, .prolongation_bits = 52});
  };
  const Eigen::MatrixXd T = dense(P(0).levels[0].P);
  for (const double damping : {0.5, 4.0 / 3}) {
    const auto smoothed = P(damping);
    const Eigen::MatrixXd step =
        Eigen::MatrixXd::Identity(144, 144) - damping / smoothed.levels[0].upper / 4 * dense(A);
    CHECK(distance(dense(smoothed.levels[0].P), step * T) < 1e-14);
  }
}

TEST_CASE("levels end where they are told to") {
  const Csr<double> A = generate("poisson5:40");
  const AmgFacts full = facts(A, {.coarse_rows = 10});
  REQUIRE(full.levels.size() == 4);
  CHECK(full.levels[2].A.rows > 10);
  CHECK(full.coarse_inverse.rows == full.levels[3].A.rows);
  CHECK(facts(A, {.coarse_rows = full.levels[2].A.rows}).levels.size() == 3);
  CHECK(facts(A, {.coarse_rows = full.levels[2].A.rows - 1}).levels.size() == 4);
  const AmgFacts two = facts(A, {.coarse_rows = 10, .most_levels = 2});
  CHECK(two.levels.size() == 2);
  CHECK(two.coarse_inverse.rows == 0);  // too many rows: smoothed
}

TEST_CASE("values of coarse levels and prolongations have the bits that were asked for") {
  const Csr<double> A = generate("varcoef7:10:100");
  const auto need = [](const Csr<double>& matrix, int bits) {
    for (const double value : matrix.values())
      if (value != detail::rounded(value, bits)) return false;
    return true;
  };
  const auto rounded = made(A, {.coarse_rows = 50, .coarse_bits = 17, .prolongation_bits = 9});
  CHECK(need(rounded.levels[1].A, 17));
  CHECK_FALSE(need(rounded.levels[1].A, 16));
  CHECK(need(rounded.levels[0].P, 9));
  CHECK_FALSE(need(rounded.levels[0].P, 8));
  const auto exact = made(A, {.coarse_rows = 50, .coarse_bits = 52, .prolongation_bits = 52});
  CHECK_FALSE(need(exact.levels[1].A, 45));
  CHECK_FALSE(need(exact.levels[0].P, 45));
}

TEST_CASE("the plan decides how the matrices are stored") {
  const Csr<double> A = generate("poisson7:16");
  const auto format = [&](const PlanRequest& plan) {
    return facts(A, {.coarse_rows = 20, .plan = plan}).levels[1].A.format;
  };
  CHECK(format({.objective = Objective::memory}) == "dtans");
  CHECK(format({.objective = Objective::time}) == "csr");
  CHECK(facts(A, {.coarse_rows = 20, .plan = {.coding = Coding::paper}}).levels[1].A.bytes !=
        facts(A, {.coarse_rows = 20, .plan = {.coding = Coding::fixed16}}).levels[1].A.bytes);
}

TEST_CASE("the seed is that of the vector which eigenvalues are estimated from") {
  const Csr<double> A = generate("varcoef7:8:100");
  const auto upper = [&](std::uint64_t seed) {
    return made(A, {.coarse_rows = 20, .seed = seed}).levels[0].upper;
  };
  CHECK(upper(1) != upper(2));
  CHECK(upper(1) == upper(1));
  CHECK(upper(2) == doctest::Approx(upper(1)).epsilon(0.1));
}

TEST_CASE("options out of range are refused by name") {
  const auto refused = [](const AmgOptions& options) {
    return refusal(ErrorCode::invalid_argument, [&] { detail::AmgSetup{options}; });
  };
  CHECK(refused({.theta = -0.1}) == "amg: theta is -0.1, it must be from 0 to below 1");
  CHECK(refused({.theta_decay = 1.5}) == "amg: theta_decay is 1.5, it must be from 0 to 1");
  CHECK(refused({.root_distance = -1}) == "amg: root_distance is -1, it must be at least 0");
  CHECK(refused({.unknowns_per_node = -1}) ==
        "amg: unknowns_per_node is -1, it must be at least 0");
  CHECK(refused({.prolongation_damping = 2}) ==
        "amg: prolongation_damping is 2, it must be from 0 to below 2");
  CHECK(refused({.coarse_rows = 0}) == "amg: coarse_rows is 0, it must be at least 1");
  CHECK(refused({.most_levels = 0}) == "amg: most_levels is 0, it must be at least 1");
  CHECK(refused({.coarse_bits = 0}) == "amg: coarse_bits is 0, it must be at least 1");
  CHECK(refused({.prolongation_bits = 0}) == "amg: prolongation_bits is 0, it must be at least 1");
}

}  // namespace
}  // namespace tansolve::test
