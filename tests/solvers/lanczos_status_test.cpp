// SPDX-License-Identifier: BSD-3-Clause
// How lanczos ends, what it refuses, and what it costs.
#include "solvers/eigen.hpp"
#include "solvers/krylov.hpp"

#include <sstream>

namespace tansolve::test {
namespace {

TEST_CASE_TEMPLATE("lanczos says which limit ended it, with the best pairs so far", S,
                   Setting<double, Host>, Setting<double, Checked>) {
  auto context = S::context();
  const auto matrix = poisson<double>(40, 30);
  const CsrOperator<double, typename S::B> A(context, matrix);
  const auto limited = find(A, {.nev = 4, .max_products = 100}).report;
  CHECK(limited.status == Status::iteration_limit);
  CHECK(limited.operator_applications <= 100 + 2 + 4);  // the probe's before, the measured after
  CHECK(limited.converged_pairs() < 4);
  for (const EigenPair& pair : limited.pairs) CHECK(pair.residual < 0.5);

  const auto none = find(A, {.nev = 4, .max_products = 0}).report;
  CHECK(none.status == Status::iteration_limit);
  CHECK(std::isnan(none.pairs[0].value));

  const auto few = find(A, {.nev = 4, .max_products = 4, .probe_symmetry = false}).report;
  CHECK(std::isfinite(few.pairs[3].value));
  CHECK(few.operator_applications == 8);

  const auto late = find(A, {.nev = 4, .time_limit = 0}).report;
  CHECK(late.status == Status::time_limit);

  std::int64_t calls = 0;
  const auto cancelled = find(A, {.nev = 4,
                                  .monitor =
                                      [&](const EigenState& state) {
                                        CHECK(state.restarts == calls);
                                        return ++calls < 3;
                                      }})
                             .report;
  CHECK(cancelled.status == Status::cancelled);
  CHECK(calls == 3);
  CHECK(std::isfinite(cancelled.pairs[3].residual));
}

// The call of the monitor after which a space of a polynomial is begun is the last with the same
// count of restarts as the next.
TEST_CASE_TEMPLATE("lanczos that is stopped where polynomials would begin keeps its pairs", S,
                   Setting<double, Host>, Setting<double, Checked>) {
  auto context = S::context();
  std::vector<double> d(150);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] = std::pow(10, -6 * double(i) / 149);
  const auto matrix = diagonal_matrix(d);
  const CsrOperator<double, typename S::B> A(context, matrix);
  std::vector<EigenState> states;
  const auto keep = [&](const EigenState& state) {
    states.push_back(state);
    return true;
  };
  CHECK(find(A, {.nev = 5, .monitor = keep, .probe_symmetry = false}).report.converged());
  const auto same = [](const EigenState& a, const EigenState& b) {
    return a.restarts == b.restarts;
  };
  const auto at = std::ranges::adjacent_find(states, same);
  REQUIRE(at != states.end());
  const std::int64_t filling = at[1].products - at[0].products;
  REQUIRE(filling > 100);

  const auto stop = [&](const EigenState& state) { return state.products < at->products; };
  const auto cancelled = find(A, {.nev = 5, .monitor = stop, .probe_symmetry = false}).report;
  CHECK(cancelled.status == Status::cancelled);
  CHECK(cancelled.pairs[0].value >= d.back());
  CHECK(std::ranges::max(cancelled.pairs, {}, &EigenPair::residual).residual ==
        doctest::Approx(at->residual).epsilon(1e-3));
  for (const std::int64_t more : {std::int64_t{0}, std::int64_t{1}, filling / 2}) {
    CAPTURE(more);
    const auto limited =
        find(A, {.nev = 5, .max_products = at->products + more, .probe_symmetry = false}).report;
    CHECK(limited.status == Status::iteration_limit);
    for (int i = 0; i < 5; ++i)  // Ritz values of a space that contains the other
      CHECK(limited.pairs[i].value <= cancelled.pairs[i].value + 1e-14);
  }
}

TEST_CASE("lanczos that is stopped in its search says that pairs may be missing") {
  Context<Host> context;
  const auto matrix = poisson<double>(40, 30);
  const CsrOperator<double, Host> A(context, matrix);
  const auto report =
      find(A, {.nev = 4, .monitor = [](const EigenState& state) { return !state.searching; }})
          .report;
  CHECK(report.status == Status::cancelled);
  CHECK(report.converged_pairs() == 4);
  CHECK_FALSE(report.verified);
  CHECK(report.detail.find("may have been missed") != std::string::npos);
}

TEST_CASE_TEMPLATE("lanczos reports what is not finite", S, Setting<double, Host>,
                   Setting<double, Checked>) {
  auto context = S::context();
  for (const std::int64_t n : {10, 200}) {
    std::vector<double> d(n, 1.0);
    d[3] = std::numeric_limits<double>::quiet_NaN();
    const auto matrix = diagonal_matrix(d);
    const CsrOperator<double, typename S::B> A(context, matrix);
    const auto report = find(A, {.nev = 4}).report;
    CHECK(report.status == Status::not_finite);
    CHECK(std::isnan(report.pairs[0].value));
  }
}

TEST_CASE("lanczos stagnates where the tolerance is below rounding") {
  Context<Host> context;
  const auto matrix = random_symmetric<double>(300, 4, 2);
  const CsrOperator<double, Host> A(context, matrix);
  for (const double tolerance : {0.0, 1e-18}) {
    const auto report = find(A, {.nev = 4, .tolerance = tolerance}).report;
    CHECK(report.status == Status::stagnated);
    for (const EigenPair& pair : report.pairs) CHECK(pair.residual <= 1e-13 * report.norm);
  }
}

TEST_CASE("lanczos does not begin a dense solution that the limit forbids") {
  Context<Host> context;
  const auto matrix = diagonal_matrix<double>({3, 1, 2, 5, 4});
  const CsrOperator<double, Host> A(context, matrix);
  const auto report = find(A, {.nev = 2, .max_products = 4, .probe_symmetry = false}).report;
  CHECK(report.status == Status::iteration_limit);
  CHECK(report.operator_applications == 0);
  CHECK(std::isnan(report.pairs[0].value));
  CHECK(find(A, {.nev = 2, .max_products = 5, .probe_symmetry = false}).report.converged());
}

TEST_CASE("lanczos takes a block as large as the matrix, and needs none for it") {
  Context<Host> context;
  const auto matrix = poisson<double>(10, 10);
  const CsrOperator<double, Host> A(context, matrix);
  check_pairs(matrix, find(A, {.nev = 4}, {.block = 100}), Which::smallest, dense_spectrum(matrix));
  const LanczosWorkspace<double, Host> large(context, 100, 4, {.block = 100}),
      small(context, 100, 4, {.ncv = 100, .degree = 1});
  CHECK(large.dense());
  CHECK(large.bytes() == small.bytes());
}

TEST_CASE("lanczos warns of an operator that is not symmetric") {
  Context<Host> context;
  const auto matrix = convection<double>(20, 10, 0.4);
  const CsrOperator<double, Host> A(context, matrix);
  const auto report = find(A, {.nev = 2, .max_products = 2000}).report;
  REQUIRE(report.warnings.size() == 1);
  CHECK(report.warnings[0].find("not symmetric") != std::string::npos);
  CHECK_FALSE(report.converged());
}

TEST_CASE("lanczos refuses what cannot be meant") {
  Context<Host> context, elsewhere;
  const auto matrix = poisson<double>(10, 10);
  const CsrOperator<double, Host> A(context, matrix);
  const auto refused = [&](const EigenOptions<double>& options, const LanczosSpace& space,
                           const char* why) {
    CHECK_THROWS_WITH_AS(lanczos(A, {}, options, space), doctest::Contains(why), Error);
  };
  refused({.nev = 0}, {}, "nev is 0, it must be from 1 to n = 100");
  refused({.nev = 101}, {}, "nev is 101, it must be from 1 to n = 100");
  constexpr auto huge = std::numeric_limits<std::int64_t>::max();
  refused({.nev = 4}, {.block = 0}, "block is 0, it must be from 1 to n = 100");
  refused({.nev = 4}, {.block = 101}, "block is 101, it must be from 1 to n = 100");
  refused({.nev = 4}, {.block = huge}, "it must be from 1 to n = 100");
  refused({.nev = 4}, {.ncv = 101}, "ncv is 101, it must be");
  refused({.nev = 4}, {.ncv = huge}, "ncv is 9223372036854775807, it must be");
  refused({.nev = 4}, {.ncv = -1}, "ncv is -1, it must be");
  refused({.nev = 4}, {.degree = 0}, "degree is 0");
  refused({.nev = 4}, {.ncv = 5}, "ncv is 5, it must be at least nev + 2 block = 6");
  refused({.nev = 4, .tolerance = -1}, {}, "tolerance is -1");
  refused({.nev = 4, .max_products = -1}, {}, "max_products is -1");
  refused({.nev = 4, .time_limit = std::nan("")}, {}, "time_limit is nan");

  Vector<double, Host> vectors(context, 399);
  CHECK_THROWS_WITH_AS(lanczos(A, vectors, {.nev = 4}), doctest::Contains("room for 399"), Error);
  const auto wide_matrix =
      Csr<double>::from_triplets(2, 3, std::vector<Triplet<double>>{{0, 0, 1.0}});
  const CsrOperator<double, Host> wide(context, wide_matrix);
  CHECK_THROWS_WITH_AS(lanczos(wide), doctest::Contains("2 x 3, it must be square"), Error);
  LanczosWorkspace<double, Host> other(context, 100, 5, {}), foreign(elsewhere, 100, 4, {});
  CHECK_THROWS_WITH_AS(lanczos(A, {}, {.nev = 4}, true, other), doctest::Contains("for 5 pairs"),
                       Error);
  CHECK_THROWS_WITH_AS(lanczos(A, {}, {.nev = 4}, true, foreign),
                       doctest::Contains("another context"), Error);
  CHECK_THROWS_WITH_AS(
      (LanczosWorkspace<double, Host>(context, std::int64_t{1} << 40, 4, {.ncv = 77})),
      doctest::Contains("ncv is 77, lower it"), Error);
}

// From a restart that kept k columns to the next, with j + p vectors at each step: the product,
// project (j + p + 1), subtract_project (j + p + 2), subtract (j + p + 2) and store (3).
TEST_CASE("lanczos allocates nothing after its workspace and passes over memory as it says") {
  Context<Checked> context;
  const auto matrix = poisson<double>(40, 30);
  const std::int64_t n = matrix.rows(), ncv = 30;
  const CsrOperator<double, Checked> A(context, matrix);
  for (const std::int64_t block : {1, 2}) {
    const LanczosSpace space{.ncv = ncv, .block = block};
    LanczosWorkspace<double, Checked> work(context, n, 4, space);
    CHECK(work.bytes() == LanczosWorkspace<double, Checked>::bytes(context, n, 4, space));
    CHECK(work.bytes() >= 8 * n * (ncv + block));
    std::vector<Counters> at;
    const auto monitor = [&](const EigenState&) {
      at.push_back(context.counters());
      return at.size() < 3;
    };
    const std::int64_t before = context.counters().allocations;
    const EigenReport report =
        lanczos(A, {}, {.nev = 4, .monitor = monitor, .probe_symmetry = false}, true, work);
    CHECK(report.status == Status::cancelled);
    CHECK(report.workspace_bytes == work.bytes());
    CHECK(context.counters().allocations == before);
    const std::int64_t k = ncv / 2;
    std::int64_t passes = ncv + k + 2 * block;
    if ((ncv - k) % block != 0) passes += 2 * block;
    for (std::int64_t j = k; j < ncv; ++j) passes += 3 * (j + block) + 8;
    const std::int64_t product = 2 * n;  // what an operator is taken to pass over
    CHECK(at[2].products - at[1].products == ncv - k);
    CHECK(at[2].elements - at[1].elements == passes * n + (ncv - k) * product);
  }
}

/// A matrix that counts how often it is decoded.
class Decoded : public LinearOperator<double, Host> {
 public:
  explicit Decoded(const LinearOperator<double, Host>& A)
      : LinearOperator<double, Host>(A.context(), A.rows(), A.cols()), A_(&A) {}
  mutable std::int64_t decodes = 0;

 protected:
  void apply_impl(Span<const double, Host> x, Span<double, Host> y) const override {
    ++decodes;
    A_->apply(x, y);
  }
  void apply_block_impl(std::int64_t columns, Span<const double, Host> X,
                        Span<double, Host> Y) const override {
    ++decodes;
    A_->apply_block(columns, X, Y);
  }

 private:
  const LinearOperator<double, Host>* A_;
};

TEST_CASE("one decode serves a block of lanczos, also through polynomials") {
  Context<Host> context;
  const auto grid = poisson<double>(40, 30), hard = with_condition(200, 1e4, 3);
  for (const auto* matrix : {&grid, &hard}) {
    const CsrOperator<double, Host> A(context, *matrix);
    const std::int64_t nev = 4, block = 3;
    const Decoded counted(A);
    // No part of a block: 3 divides ncv - nev, where a search begins, and what a restart adds.
    const auto found = find(counted, {.nev = nev, .probe_symmetry = false},
                            {.ncv = 40, .block = block, .degree = matrix == &grid ? 1 : 1000});
    REQUIRE(found.report.converged());
    const std::int64_t products = found.report.operator_applications;
    CHECK(counted.applications() == products);
    CHECK(static_cast<double>(counted.decodes) < 0.4 * static_cast<double>(products));
    check_pairs(*matrix, found, Which::smallest, dense_spectrum(*matrix));
  }
}

TEST_CASE("an eigensolver's report prints itself") {
  Context<Host> context;
  const auto matrix = diagonal_matrix<double>({3, 1, 2});
  const CsrOperator<double, Host> A(context, matrix);
  std::ostringstream out;
  out << lanczos(A, {}, {.nev = 2});
  CHECK(out.str().find("converged: 2 of 2 pairs") != std::string::npos);
  CHECK(out.str().find("1.0000000000000000e+00  +- 0.000e+00") != std::string::npos);
}

}  // namespace
}  // namespace tansolve::test
