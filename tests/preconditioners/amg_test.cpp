// SPDX-License-Identifier: BSD-3-Clause
// The cycle of multigrid against its definition, its costs, new values, refusals.
#include <tansolve/kernels/replay.hpp>
#include <tansolve/preconditioners/amg.hpp>

#include "preconditioners/dense.hpp"
#include "solvers/solving.hpp"

#include <cmath>
#include <sstream>

namespace tansolve::test {
namespace {

/// The smoother's iteration from x for A x = b, as its source has it: corrections z_k of residuals.
Eigen::MatrixXd smoothed(const Eigen::MatrixXd& A, double upper, const AmgOptions& options,
                         const Eigen::MatrixXd& b, Eigen::MatrixXd x) {
  const Eigen::VectorXd inverse = A.diagonal().cwiseInverse();
  Eigen::MatrixXd z = Eigen::MatrixXd::Zero(x.rows(), x.cols());
  for (int k = 1; k <= options.degree; ++k) {
    const Eigen::MatrixXd correction = inverse.asDiagonal() * (b - A * x) / upper;
    if (options.smoother == AmgSmoother::jacobi)
      z = 4.0 / 3 * correction;
    else
      z = (2.0 * k - 3) / (2.0 * k + 1) * z + (8.0 * k - 4) / (2.0 * k + 1) * correction;
    x += z;
  }
  return x;
}

/// M of the levels from l on, by the definition of the cycle.
Eigen::MatrixXd cycle(const Csr<double>& finest, const detail::AmgMatrices& made,
                      const AmgOptions& options, std::size_t l = 0) {
  const auto& level = made.levels[l];
  const Eigen::MatrixXd A = dense(l == 0 ? finest : level.A);
  const Eigen::MatrixXd identity = Eigen::MatrixXd::Identity(A.rows(), A.rows());
  const Eigen::MatrixXd zero = Eigen::MatrixXd::Zero(A.rows(), A.rows());
  if (l + 1 == made.levels.size()) {
    if (made.coarse_inverse.rows() > 0) return dense(made.coarse_inverse);
    return smoothed(A, level.upper, options, identity, zero);
  }
  Eigen::MatrixXd coarse = cycle(finest, made, options, l + 1);
  if (options.cycle == AmgCycle::w && (l + 2 < made.levels.size() || !made.coarse_inverse.rows()))
    coarse = 2 * coarse - coarse * dense(made.levels[l + 1].A) * coarse;
  const Eigen::MatrixXd P = dense(level.P);
  Eigen::MatrixXd x = smoothed(A, level.upper, options, identity, zero);
  x += P * coarse * P.transpose() * (identity - A * x);
  return smoothed(A, level.upper, options, identity, x);
}

struct Cycle {
  AmgCycle cycle;
  AmgSmoother smoother;
  int degree;
};

TEST_CASE("the cycle is that of its definition, symmetric and positive definite") {
  Context<Host> context(2);
  for (const char* spec : {"poisson5:12", "varcoef7:5:1000", "fem3:4"})
    for (const auto& [kind, smoother, degree] :
         {Cycle{AmgCycle::v, AmgSmoother::chebyshev, 1},
          Cycle{AmgCycle::v, AmgSmoother::chebyshev, 2},
          Cycle{AmgCycle::v, AmgSmoother::chebyshev, 3},
          Cycle{AmgCycle::w, AmgSmoother::chebyshev, 2}, Cycle{AmgCycle::v, AmgSmoother::jacobi, 1},
          Cycle{AmgCycle::w, AmgSmoother::jacobi, 3}}) {
      CAPTURE(spec);
      CAPTURE(degree);
      const AmgOptions options = {
          .smoother = smoother, .degree = degree, .cycle = kind, .coarse_rows = 5};
      const Csr<double> matrix = generate(spec);
      const CsrOperator<double, Host> A(context, matrix);
      const Amg<double, Host> M(A, matrix, options);
      CHECK(M.facts().levels.size() >= (matrix.rows() == 144 ? 3 : 2));
      const auto made = detail::AmgSetup(options).matrices(matrix);
      CHECK(distance(dense(M), cycle(matrix, made, options)) < 1e-11);
      check_definite(M);
      const Eigen::MatrixXd L = cholesky_factor(dense(matrix));
      const Eigen::VectorXd spectrum = eigenvalues(L.transpose() * dense(M) * L);  // of M A
      CHECK(spectrum.minCoeff() > 0.1);  // so that it converges by itself
      CHECK(spectrum.maxCoeff() < 1.3);  // above 1 where the coarsest level is only smoothed
    }
}

TEST_CASE("without smoothing, an exact coarse correction is a projection orthogonal by A") {
  for (const char* spec : {"poisson7:6", "varcoef7:6:100"}) {
    const Csr<double> matrix = generate(spec);
    const Eigen::MatrixXd A = dense(matrix);
    const auto made = detail::AmgSetup({.coarse_rows = 60, .most_levels = 2}).matrices(matrix);
    CHECK(made.levels.size() == 2);
    const Eigen::MatrixXd P = dense(made.levels[0].P);
    const Eigen::MatrixXd projection = P * dense(made.coarse_inverse) * P.transpose() * A;
    CHECK(distance(projection * projection, projection) < 1e-9);
    CHECK(distance(projection * P, P) < 1e-9);
    CHECK((A * projection - projection.transpose() * A).norm() < 1e-9 * A.norm());
  }
}

TEST_CASE_TEMPLATE("multigrid is definite on every backend and in fp32", S,
                   Setting<double, Host, 2>, Setting<float, Host, 1>, Setting<double, Checked>,
                   Setting<float, Checked>) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const Csr<double> wide = generate("varcoef7:7:1000");
  const auto matrix = convert<T>(wide);
  const CsrOperator<T, B> A(context, matrix);
  const Amg<T, B> M(A, matrix, {.coarse_rows = 20});
  Context<Host> host(1);
  const CsrOperator<double, Host> exact(host, wide);
  const Amg<double, Host> expected(exact, wide, {.coarse_rows = 20});
  CHECK(distance(dense(M), dense(expected)) < (sizeof(T) == 8 ? 1e-12 : 1e-3));
  check_definite(M);
  CHECK(M.name() == "amg");
}

TEST_CASE("a cycle passes over vectors as often as it says, and allocates nothing") {
  Context<Checked> context;
  const Csr<double> matrix = generate("poisson7:8");
  const CsrOperator<double, Checked> A(context, matrix);
  for (const int degree : {2, 3}) {
    const Amg<double, Checked> M(A, matrix, {.degree = degree, .coarse_rows = 100});
    REQUIRE(M.facts().levels.size() == 2);
    CHECK(M.capturable() == M.facts().levels[0].P.format.starts_with("csr"));
    const std::int64_t n = matrix.rows(), coarse = M.facts().levels[1].A.rows;
    const auto r = upload(context, std::vector<double>(n, 1.0));
    Vector<double, Checked> z(context, n);
    const auto before = context.counters();
    M.apply(r, z);
    CHECK(context.counters().elements - before.elements == (16 * degree + 1) * n + 4 * coarse);
    CHECK(context.counters().products - before.products == 1 + 2 * degree + 3);
    CHECK(context.counters().reductions == before.reductions);
    CHECK(M.launches() == 2 * (4 * degree + 3));
  }
  for (const AmgCycle kind : {AmgCycle::v, AmgCycle::w}) {
    const Amg<double, Checked> M(A, matrix, {.cycle = kind, .coarse_rows = 2});
    check_no_allocation(M);
    const std::int64_t levels = std::ssize(M.facts().levels);
    REQUIRE(levels == 3);
    CHECK(M.launches() == (kind == AmgCycle::v ? 3 : 1 + 2 + 4) * 11);
  }
}

/// A cycle that ends with a transfer, and says that it does not.
class Spoiled final : public LinearOperator<double, Checked> {
 public:
  explicit Spoiled(const LinearOperator<double, Checked>& cycle)
      : LinearOperator<double, Checked>(cycle.context(), cycle.rows(), cycle.cols()),
        cycle_(&cycle),
        number_(cycle.context()) {}
  bool capturable() const override { return true; }

 protected:
  void apply_impl(Span<const double, Checked> x, Span<double, Checked> y) const override {
    cycle_->apply(x, y);
    read(context(), number_);
  }

 private:
  const LinearOperator<double, Checked>* cycle_;
  Scalar<double, Checked> number_;
};

TEST_CASE("a solve by cg records the cycle, which does nothing that a recording forbids") {
  const Csr<double> matrix = generate("varcoef7:12:10000");
  const auto b = random_vector<double>(matrix.rows(), 3);
  for (const AmgCycle kind : {AmgCycle::v, AmgCycle::w}) {
    // For time, a host keeps levels of more than 64 rows as CSR, whose products can be recorded; a
    // W cycle visits one twice that is not inverted.
    const AmgOptions options = {.degree = 1,
                                .cycle = kind,
                                .coarse_rows = kind == AmgCycle::v ? 500 : 100,
                                .most_levels = 2,
                                .plan = {.objective = Objective::time}};
    Context<Checked> recording(true), calling;
    const CsrOperator<double, Checked> A(recording, matrix), plain(calling, matrix);
    const Amg<double, Checked> M(A, matrix, options), of_plain(plain, matrix, options);
    REQUIRE(M.capturable());
    const auto recorded = solve(A, b, {.rtol = 1e-13, .preconditioner = &M});
    const auto called = solve(plain, b, {.rtol = 1e-13, .preconditioner = &of_plain});
    CHECK(recorded.report.converged());
    CHECK(recorded.report.iterations > 12);  // a batch and more
    CHECK(called.report.iterations == recorded.report.iterations);
    CHECK(called.x == recorded.x);
    // Were it not a part of what is recorded, this would pass unseen.
    const Spoiled spoiled(M), unseen(of_plain);
    CHECK(refusal(ErrorCode::device, [&] {
            solve(A, b, {.preconditioner = &spoiled});
          }).ends_with("transfers, which a recording forbids"));
    CHECK(solve(plain, b, {.preconditioner = &unseen}).report.converged());
  }
}

TEST_CASE("recorded work that transfers or allocates is refused where a gpu would refuse it") {
  Context<Checked> context(true);
  Scalar<double, Checked> number(context);
  write(context, 1.0, number);
  Replay<Checked> reads(context, true, [&] { read(context, number); });
  CHECK(refusal(ErrorCode::device, [&] { reads.run(); }) ==
        "recorded work: 1 transfers, which a recording forbids");
  Replay<Checked> allocates(context, true, [&] { Vector<double, Checked>(context, 3); });
  CHECK(refusal(ErrorCode::device, [&] { allocates.run(); }) ==
        "recorded work: 1 allocations, which a recording forbids");
  Replay<Checked> called(context, false, [&] { read(context, number); });
  called.run();
}

TEST_CASE("new values give what a fresh set-up gives") {
  Context<Host> context(2);
  for (const char* spec : {"poisson7:9", "fem3:5"}) {
    const Csr<double> first = generate(spec);
    std::vector<double> values(first.values().begin(), first.values().end());
    // D A D, with an element of D for each node: other values, yet connections as strong.
    const auto d = [](std::int64_t i) { return 1 + 0.25 * static_cast<double>(i / 3 % 5); };
    for (std::int64_t i = 0; i < first.rows(); ++i)
      for (std::int64_t k = first.offsets()[i]; k < first.offsets()[i + 1]; ++k)
        values[k] *= d(i) * d(first.columns()[k]);
    const Csr<double> second(first.rows(), first.cols(),
                             {first.offsets().begin(), first.offsets().end()},
                             {first.columns().begin(), first.columns().end()}, values);
    const CsrOperator<double, Host> A(context, first), scaled(context, second);
    const AmgOptions options = {.coarse_rows = 15, .most_levels = 2};
    Amg<double, Host> updated(scaled, first, options);
    CHECK(distance(dense(updated), dense(Amg<double, Host>(scaled, second, options))) > 0.1);
    updated.update_values(second);
    CHECK((dense(updated) - dense(Amg<double, Host>(scaled, second, options))).norm() == 0);
    // The same numbers of rows and nonzeros, and yet another pattern.
    std::vector<Triplet<double>> moved;
    const std::int64_t n = first.rows();
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t k = first.offsets()[i]; k < first.offsets()[i + 1]; ++k)
        moved.push_back({(i + 1) % n, (first.columns()[k] + 1) % n, first.values()[k]});
    const auto other = Csr<double>::from_triplets(n, n, moved);
    CHECK(refusal(ErrorCode::invalid_argument, [&] {
            updated.update_values(other);
          }).ends_with("nonzeros in another pattern than that it was built for"));
  }
}

TEST_CASE("what is regular is inverted as such, however ill its condition") {
  const std::int64_t n = 300;
  std::vector<Triplet<double>> entries;
  const auto conductivity = [](std::int64_t i) { return i % 3 == 0 ? 1e4 : i % 3 == 1 ? 1 : 1e-4; };
  for (std::int64_t i = 0; i < n; ++i) {
    const double left = conductivity(i), right = conductivity(i + 1);
    entries.push_back({i, i, left + right});
    if (i > 0) entries.push_back({i, i - 1, -left});
    if (i + 1 < n) entries.push_back({i, i + 1, -right});
  }
  const auto matrix = Csr<double>::from_triplets(n, n, entries);
  Context<Host> context(1);
  const CsrOperator<double, Host> A(context, matrix);
  const Amg<double, Host> M(A, matrix);
  CHECK(M.facts().levels.size() == 1);
  std::vector<double> b(n), x(n);
  for (const auto& entry : entries) b[entry.row] += entry.value;
  const Report report = cg(A, {b.data(), n}, {x.data(), n}, {.rtol = 1e-8, .preconditioner = &M});
  CHECK(report.converged());
  CHECK(report.iterations <= 10);
}

TEST_CASE("sizes of numbers do not change the hierarchy") {
  const auto unscaled = generate("poisson5:40");
  Context<Host> context(1);
  const CsrOperator<double, Host> original(context, unscaled);
  const AmgFacts expected = Amg<double, Host>(original, unscaled).facts();
  for (const double size : {1e170, 1e-170}) {
    std::vector<double> values(unscaled.values().begin(), unscaled.values().end());
    for (double& value : values) value *= size;
    const Csr<double> matrix(unscaled.rows(), unscaled.cols(),
                             {unscaled.offsets().begin(), unscaled.offsets().end()},
                             {unscaled.columns().begin(), unscaled.columns().end()}, values);
    const CsrOperator<double, Host> A(context, matrix);
    const Amg<double, Host> M(A, matrix);
    REQUIRE(M.facts().levels.size() == 2);
    CHECK(M.facts().levels[1].A.rows == expected.levels[1].A.rows);
  }
}

TEST_CASE("multigrid refuses what is not symmetric positive definite, with count and first row") {
  const auto refused = [](const Csr<double>& matrix, ErrorCode code = ErrorCode::bad_input,
                          const AmgOptions& options = {}) {
    Context<Host> context(1);
    const CsrOperator<double, Host> A(context, matrix);
    return refusal(code, [&] { Amg<double, Host>(A, matrix, options); });
  };
  const auto triplets = [](std::vector<Triplet<double>> all) {
    return Csr<double>::from_triplets(3, 3, all);
  };
  const auto invalid = ErrorCode::invalid_argument;
  CHECK(refused(Csr<double>::from_triplets(2, 3, std::vector<Triplet<double>>{{0, 0, 1.0}}),
                invalid) == "amg: the matrix is 2 x 3, it must be square");
  CHECK(refused(diagonal_matrix<double>({1, 0, -3, 1})) ==
        "amg: 2 of 4 diagonal elements are not positive with a finite inverse, first in row 2 "
        "(counting from 1): 0");
  CHECK(refused(triplets({{0, 0, 1.0}, {1, 2, 1.0}, {2, 1, 1.0}, {2, 2, 1.0}})) ==
        "amg: 1 of 3 diagonal elements are not positive with a finite inverse, first in row 2 "
        "(counting from 1): 0");
  CHECK(refused(triplets({{0, 0, 1.0}, {1, 1, 1.0}, {1, 2, std::nan("")}, {2, 2, 1.0}})) ==
        "amg: 1 of 4 entries are not finite, the first in row 2 (counting from 1)");
  const char* asymmetric =
      "amg: 2 of 3 rows differ from their columns in pattern or values, the first is row 2 "
      "(counting from 1); the matrix must be symmetric";
  CHECK(refused(triplets({{0, 0, 1.0}, {1, 1, 1.0}, {1, 2, 0.5}, {2, 1, 0.4}, {2, 2, 1.0}})) ==
        asymmetric);
  CHECK(refused(triplets({{0, 0, 1.0}, {1, 1, 1.0}, {1, 2, 0.5}, {2, 2, 1.0}})) ==
        "amg: 1 of 3 rows differ from their columns in pattern or values, the first is row 2 "
        "(counting from 1); the matrix must be symmetric");
  CHECK(refused(upwind(5, 5)).find("amg: 25 of 25 rows differ") == 0);
  // Indefinite, which the diagonal does not show: found where it is inverted, or by Lanczos.
  const Csr<double> indefinite =
      triplets({{0, 0, 1.0}, {0, 1, 2.0}, {1, 0, 2.0}, {1, 1, 1.0}, {2, 2, 1.0}});
  CHECK(refused(indefinite).find("amg: the matrix is not positive definite") == 0);
  CHECK(refused(indefinite, ErrorCode::bad_input, {.coarse_rows = 1})
            .find("is not positive definite") != std::string::npos);

  const Csr<double> fine = poisson<double>(4, 4);
  CHECK(refused(fine, invalid, {.theta = 1}) == "amg: theta is 1, it must be from 0 to below 1");
  CHECK(refused(fine, invalid, {.degree = 0}) == "amg: degree is 0, it must be at least 1");
  CHECK(refused(fine, invalid, {.unknowns_per_node = 3}) ==
        "amg: 16 rows are no multiple of 3 unknowns a node");
  CHECK(refused(fine, invalid, {.near_null = {4, 1, {1, 1, 1, 1}}}) ==
        "amg: near-null vectors of 4 elements, they must be finite and of 16, the rows of the "
        "matrix");
}

TEST_CASE("the hierarchy says what it takes, within what was told beforehand") {
  Context<Host> context(2);
  for (const char* spec : {"poisson7:20", "poisson5:40", "varcoef7:16:10000", "fem3:10"}) {
    CAPTURE(spec);
    const Csr<double> matrix = generate(spec);
    const CsrOperator<double, Host> A(context, matrix);
    const Amg<double, Host> M(A, matrix, {.coarse_rows = 100});
    const AmgFacts& facts = M.facts();
    std::int64_t rows = 0, nonzeros = 0;
    for (const AmgLevelFacts& level : facts.levels) {
      rows += level.A.rows;
      nonzeros += level.A.nonzeros;
    }
    CHECK(facts.levels[0].A.rows == matrix.rows());
    CHECK(facts.levels[0].A.nonzeros == matrix.nnz());
    CHECK(facts.grid_complexity() ==
          static_cast<double>(rows) / static_cast<double>(matrix.rows()));
    CHECK(facts.operator_complexity() ==
          static_cast<double>(nonzeros) / static_cast<double>(matrix.nnz()));
    CHECK(facts.operator_complexity() < 1.9);
    CHECK(facts.bytes() < facts.csr_bytes());
    const AmgBytes told =
        amg_bytes(matrix.rows(), matrix.nnz(),
                  {.unknowns_per_node = facts.unknowns_per_node, .coarse_rows = 100});
    CHECK(facts.csr_bytes() + 3 * 8 * matrix.rows() <= told.held);
    CHECK(told.held <= 3 * (facts.csr_bytes() + 3 * 8 * matrix.rows()));
    CHECK(M.bytes() <= told.setup);
    CHECK(M.host_bytes() == 0);
    std::ostringstream text;
    text << facts;
    CHECK(text.str().find("operator complexity") != std::string::npos);
  }
}

}  // namespace
}  // namespace tansolve::test
