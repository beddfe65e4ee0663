// SPDX-License-Identifier: BSD-3-Clause
// Every way in which GMRES can end, and what it refuses to start on.
#include "solvers/krylov.hpp"

#include <string>

namespace tansolve::test {
namespace {

using Options = SolveOptions<double, Checked>;

Answer<double> solve_by_gmres(const Csr<double>& matrix, const std::vector<double>& b,
                              const Options& options = {}, const KrylovBasis& basis = {}) {
  Context<Checked> context;
  const CsrOperator<double, Checked> a(context, matrix);
  return run_from(a, std::vector<double>(matrix.rows()), b,
                  [&](const auto& A, auto db, auto x) { return gmres(A, db, x, options, basis); });
}

/// A matrix whose products can be spoilt, the `product`-th from 1 on.
class Spoilt : public LinearOperator<double, Checked> {
 public:
  using Spoil = std::function<void(std::int64_t product, Span<double, Checked> y)>;
  Spoilt(Context<Checked>& context, const Csr<double>& matrix, Spoil spoil)
      : LinearOperator(context, matrix.rows(), matrix.cols()),
        honest_(context, matrix),
        spoil_(std::move(spoil)) {}

 protected:
  void apply_impl(Span<const double, Checked> x, Span<double, Checked> y) const override {
    honest_.apply(x, y);
    spoil_(++products_, y);
  }

 private:
  CsrOperator<double, Checked> honest_;
  Spoil spoil_;
  mutable std::int64_t products_ = 0;
};

/// x_i = b_(i + 1), cyclically: nothing is gained before the n-th iteration.
Csr<double> cyclic_shift(std::int64_t n) {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < n; ++i) triplets.push_back({(i + 1) % n, i, 1.0});
  return Csr<double>::from_triplets(n, n, triplets);
}

TEST_CASE("gmres reports limits and cancelling with the true residual of what it has") {
  const auto matrix = convection<double>(10, 10, 0.4);
  const auto b = random_vector<double>(100, 1);
  for (const std::int64_t limit : {0, 1, 5, 8}) {
    const auto limited = solve_by_gmres(matrix, b, {.max_iterations = limit}, {.restart = 5});
    CHECK(limited.report.status == Status::iteration_limit);
    CHECK(limited.report.iterations == limit);
    CHECK(limited.report.true_residual ==
          doctest::Approx(eigen_residual(matrix, b, limited.x)).epsilon(1e-12));
    CHECK(limited.report.true_residual == doctest::Approx(limited.report.residual));
    const auto cancelled = solve_by_gmres(
        matrix, b, {.monitor = [&](std::int64_t i, double) { return i < limit; }}, {.restart = 5});
    CHECK(cancelled.report.status == Status::cancelled);
    CHECK(cancelled.report.iterations == limit);
    CHECK(cancelled.x == limited.x);
  }
  CHECK(solve_by_gmres(matrix, b, {.time_limit = 0}).report.status == Status::time_limit);
  CHECK(solve_by_gmres(matrix, b, {.divergence_factor = 0.5}).report.status == Status::diverged);
}

TEST_CASE("gmres says stagnated when a cycle gains nothing, and needs n iterations otherwise") {
  const auto matrix = cyclic_shift(50);
  std::vector<double> b(50);
  b[0] = 1;
  const auto [report, x] = solve_by_gmres(matrix, b, {}, {.restart = 30});
  CHECK(report.status == Status::stagnated);
  CHECK(report.iterations == 60);
  CHECK(report.true_residual == 1);
  const auto full = solve_by_gmres(matrix, b, {}, {.restart = 50});
  CHECK(full.report.converged());
  CHECK(full.report.iterations == 50);
  CHECK(full.x[49] == doctest::Approx(1));
}

TEST_CASE("gmres does not claim more than an ill-conditioned system allows") {
  const auto matrix = with_condition(40, 1e10, 5);
  const auto b = random_vector<double>(40, 1);
  for (const BasisStorage storage : {BasisStorage::working, BasisStorage::fp32}) {
    const auto [report, x] =
        solve_by_gmres(matrix, b, {.rtol = 1e-13}, {.restart = 40, .storage = storage});
    CHECK_FALSE(report.converged());
    CHECK(report.status != Status::inconsistent);
    CHECK(report.true_residual <= report.initial_residual);
    CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(0.5));
  }
}

TEST_CASE("gmres restarts where the recurrence converges and the truth does not") {
  Context<Checked> context;
  const auto matrix = convection<double>(10, 10, 0.4);
  const auto b = random_vector<double>(100, 1);
  const CsrOperator<double, Checked> a(context, matrix);
  // 1 in the iterations, 1.001 in the steps: what has been seen of it last belongs to an iteration.
  std::int64_t seen = 1;
  const Moody<double, Checked> drifting(
      context, 100, [&](std::int64_t call) { return call > seen ? 1.001 : 1.0; });
  const auto monitor = [&](std::int64_t iteration, double residual) {
    if (residual > 1e-7) seen = drifting.applications() + 1;
    return iteration < 1000;
  };
  Options options{.preconditioner = &drifting, .monitor = monitor};
  const auto [report, x] =
      run_from(a, std::vector<double>(100), b,
               [&](const auto& A, auto db, auto dx) { return gmres(A, db, dx, options); });
  CHECK(report.converged());
  CHECK(eigen_residual(matrix, b, x) <= 1.0001e-8 * report.baseline);
}

TEST_CASE("gmres keeps the last finite x when a product turns NaN or infinite") {
  Context<Checked> context;
  const auto matrix = convection<double>(10, 10, 0.4);
  const auto b = random_vector<double>(100, 1);
  const auto before = solve_by_gmres(matrix, b, {.max_iterations = 2});
  for (const double poison : {nan_of<double>, std::numeric_limits<double>::infinity()}) {
    const Spoilt a(context, matrix, [=](std::int64_t product, Span<double, Checked> y) {
      if (product == 4) y.data()[7] = poison;  // the first is that of b - A x0
    });
    const auto [report, x] =
        run_from(a, std::vector<double>(100), b,
                 [&](const auto& A, auto db, auto dx) { return gmres(A, db, dx); });
    CHECK(report.status == Status::not_finite);
    CHECK(report.iterations == 2);
    CHECK(x == before.x);
    CHECK(report.true_residual == before.report.true_residual);
  }
}

TEST_CASE("gmres reports where b or x0 is not finite, and solutions beyond the largest number") {
  const auto matrix = convection<double>(3, 3, 0.4);
  auto b = random_vector<double>(9, 1);
  b[4] = nan_of<double>;
  const auto bad_b = solve_by_gmres(matrix, b);
  CHECK(bad_b.report.status == Status::not_finite);
  CHECK(bad_b.report.detail == "b[4] = nan");
  CHECK(bad_b.x == std::vector<double>(9));
  const auto overflow = solve_by_gmres(diagonal_matrix<double>({1e-200, 2e-200}), {1e200, 1e200});
  CHECK(overflow.report.status == Status::not_finite);
  CHECK(overflow.x == std::vector<double>{0, 0});
}

TEST_CASE("gmres solves consistent singular systems") {
  const auto [report, x] = solve_by_gmres(diagonal_matrix<double>({1, 0, 2}), {1, 0, 4});
  CHECK(report.converged());
  CHECK(within(x, to_eigen(std::vector<double>{1, 0, 2}), 1e-7));
  const auto grid = neumann<double>(12, 9);
  const auto b = centred(random_vector<double>(108, 2));
  CHECK(solve_by_gmres(grid, b).report.converged());
}

TEST_CASE("gmres reports systems without solution, with a least-squares one") {
  const auto flat = solve_by_gmres(diagonal_matrix<double>({1, 0}), {1, 1});
  CHECK(flat.report.status == Status::inconsistent);
  CHECK(flat.report.true_residual == doctest::Approx(1));
  CHECK(flat.report.detail.find("|r'Av| = ") == 0);
  const auto zero = solve_by_gmres(Csr<double>::from_triplets(3, 3, {}), {1, 0, 2});
  CHECK(zero.report.status == Status::inconsistent);
  CHECK(zero.x == std::vector<double>(3));

  const auto grid = neumann<double>(7, 6);
  for (const std::uint64_t seed : {2, 4, 7, 8}) {
    const auto b = random_vector<double>(42, seed);
    double sum = 0;
    for (const double element : b) sum += element;
    for (const std::int64_t restart : {10, 50}) {
      CAPTURE(seed);
      CAPTURE(restart);
      const auto [report, x] = solve_by_gmres(grid, b, {}, {.restart = restart});
      CHECK((report.status == Status::inconsistent || report.status == Status::stagnated));
      CHECK(report.detail.find("|r'Av| = ") != std::string::npos);
      CHECK(report.true_residual ==
            doctest::Approx(std::abs(sum) / std::sqrt(42.0)).epsilon(1e-10));
      const Eigen::VectorXd r = to_eigen(b) - to_eigen(grid) * to_eigen(x);
      CHECK((to_eigen(grid) * r).norm() <= 1e-5 * r.norm());
    }
  }
}

TEST_CASE("gmres reports breakdown where the Krylov space ends without a solution that exists") {
  // b = e_1 spans it, A e_1 = 0; yet A e_2 = e_1.
  const auto nilpotent =
      Csr<double>::from_triplets(2, 2, std::vector<Triplet<double>>{{0, 1, 1.0}});
  const auto [report, x] = solve_by_gmres(nilpotent, {1, 0});
  CHECK(report.status == Status::breakdown);
  CHECK(report.detail.find("singular on the Krylov space") != std::string::npos);
  CHECK(x == std::vector<double>{0, 0});
}

TEST_CASE("gmres returns at once for b = 0 and for an exact guess") {
  Context<Checked> context;
  const auto matrix = diagonal_matrix<double>({1, 2, 4});
  const CsrOperator<double, Checked> a(context, matrix);
  const auto run = [&](const std::vector<double>& x0, const std::vector<double>& b) {
    return run_from(a, x0, b,
                    [](const auto& A, auto db, auto x) { return gmres(A, db, x, {.rtol = 0}); });
  };
  const auto zero = run({1, 2, 3}, {0, 0, 0});
  CHECK(zero.report.converged());
  CHECK(zero.report.iterations == 0);
  CHECK(zero.x == std::vector<double>{0, 0, 0});
  const auto exact = run({1, 2, 3}, {1, 4, 12});
  CHECK(exact.report.converged());
  CHECK(exact.report.iterations == 0);
  CHECK(exact.report.history == std::vector<double>{0});
  CHECK(exact.x == std::vector<double>{1, 2, 3});
}

template <class Body>
std::string refusal(ErrorCode code, const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "nothing was thrown";
}

TEST_CASE("gmres names a restart that is wrong or that no memory holds") {
  Context<Checked> context;
  const auto invalid = [&](std::int64_t restart) {
    return refusal(ErrorCode::invalid_argument, [&] {
      GmresWorkspace<double, Checked>(context, 10, {.restart = restart}, false);
    });
  };
  CHECK(invalid(0) == "gmres: restart is 0, it must be positive");
  CHECK(refusal(ErrorCode::out_of_memory,
                [&] {
                  GmresWorkspace<double, Checked>(context, std::int64_t{1} << 30,
                                                  {.restart = 1'000'000}, false);
                })
            .find("gmres: restart is 1000000, lower it or narrow the storage: a basis of 1000001 "
                  "vectors of 1073741824 elements of 8 bytes: 8589943181934592 bytes requested") ==
        0);
}

TEST_CASE("gmres refuses shapes and workspaces that do not fit") {
  Context<Checked> context, other;
  const auto matrix = diagonal_matrix<double>({1, 2, 3});
  const CsrOperator<double, Checked> a(context, matrix);
  const auto b = upload<double>(context, {1, 2, 3});
  auto x = upload<double>(context, {0, 0, 0});
  const auto refused = [&](GmresWorkspace<double, Checked>& work, bool flexible) {
    return refusal(ErrorCode::invalid_argument,
                   [&] { flexible ? fgmres(a, b, x, {}, work) : gmres(a, b, x, {}, work); });
  };
  GmresWorkspace<double, Checked> plain(context, 3, {}, false), small(context, 2, {}, true),
      foreign(other, 3, {}, true);
  CHECK(refused(plain, true) == "fgmres: the workspace is for gmres, it has no second basis");
  CHECK(refused(small, true).find("fgmres: a workspace of 4 vectors of 2 elements") == 0);
  CHECK(refused(foreign, false) == "gmres: the workspace is of another context than the operator");
  CHECK(refused(plain, false) == "nothing was thrown");
}

}  // namespace
}  // namespace tansolve::test
