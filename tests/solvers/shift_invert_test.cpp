// SPDX-License-Identifier: BSD-3-Clause
// Shift-and-invert against dense spectra and Spectra, what it proves, how it ends, what it refuses.
#include <tansolve/codec/files.hpp>
#include <tansolve/solvers/shift_invert.hpp>

#include "solvers/eigen.hpp"
#include "solvers/krylov.hpp"

#include <cstdlib>
#include <sstream>

#if __has_include(<Spectra/SymEigsShiftSolver.h>)
#include <Spectra/MatOp/SparseSymShiftSolve.h>
#include <Spectra/SymEigsShiftSolver.h>
#endif

namespace tansolve::test {
namespace {

Found find_inverse(const Csr<double>& matrix, const EigenOptions<double>& options,
                   const Csr<double>* mass = nullptr, bool verify = true) {
  Context<Host> context(2);
  const CsrOperator<double, Host> A(context, matrix);
  return find_by(A, options.nev, [&](const auto&, auto vectors) {
    return ShiftInvert(context, matrix, mass).solve(vectors, options, verify);
  });
}

void check_inverse(const Csr<double>& matrix, std::int64_t nev) {
  const auto spectrum = dense_spectrum(matrix);
  for (const Which which : {Which::smallest, Which::largest}) {
    CAPTURE(static_cast<int>(which));
    CAPTURE(nev);
    const auto found = find_inverse(matrix, {.nev = nev, .which = which});
    check_pairs(matrix, found, which, spectrum);
    CHECK(found.report.verified);
    CHECK(found.report.proof.find("by inertia") != std::string::npos);
  }
}

/// Those nearest to `target`, as far as distances differ by more than the threshold.
void check_nearest(const Csr<double>& matrix, std::int64_t nev, double target) {
  CAPTURE(target);
  const auto found = find_inverse(matrix, {.nev = nev, .which = Which::nearest, .target = target});
  const EigenReport& report = found.report;
  REQUIRE(report.status == Status::converged);
  CHECK(report.verified);
  std::vector<double> distances;
  for (const double value : dense_spectrum(matrix)) distances.push_back(std::abs(value - target));
  std::ranges::sort(distances);
  const Eigen::MatrixXd products = to_eigen(matrix) * found.vectors;
  for (std::int64_t i = 0; i < nev; ++i) {
    const EigenPair& pair = report.pairs[i];
    CHECK(std::abs(std::abs(pair.value - target) - distances[i]) <= report.threshold);
    CHECK(std::abs((products.col(i) - pair.value * found.vectors.col(i)).norm() - pair.residual) <=
          1e-13 * report.norm);
  }
  const Eigen::MatrixXd overlap = Eigen::MatrixXd(found.vectors.transpose()) * found.vectors;
  CHECK((overlap - Eigen::MatrixXd::Identity(nev, nev)).cwiseAbs().maxCoeff() <= 1e-12);
}

TEST_CASE("shift-invert finds and proves the ends of dense spectra") {
  for (const std::int64_t nev : {1, 10}) {
    check_inverse(poisson<double>(12, 13), nev);
    check_inverse(random_symmetric<double>(500, 4, 1), nev);
    check_inverse(with_condition(200, 1e9, 3), nev);
  }
}

TEST_CASE("shift-invert finds clusters that polynomials of the matrix do not separate") {
  std::vector<double> d;
  for (int i = 0; i < 20; ++i) d.push_back(1e-10 * (1 + 0.1 * i));
  for (int i = 0; i < 180; ++i) d.push_back(1e-3 + 0.01 * i);
  const auto found = find_inverse(diagonal_matrix(d), {.nev = 10});
  REQUIRE(found.report.status == Status::converged);
  CHECK(found.report.proof.find("9 eigenvalues below 1.") == 0);
  for (int i = 0; i < 10; ++i)
    CHECK(found.report.pairs[i].value == doctest::Approx(d[i]).epsilon(1e-5));
}

TEST_CASE("shift-invert finds every copy of multiple eigenvalues, by their count") {
  std::vector<double> clusters;
  for (std::int64_t i = 0; i < 150; ++i)
    clusters.push_back(i < 4 ? -3 : i < 9 ? -2 + 1e-12 * static_cast<double>(i) : 0.1 * double(i));
  check_inverse(diagonal_matrix(clusters), 10);
  check_inverse(path_laplacians({30, 31, 40, 50, 3, 2, 60, 33}), 10);
  check_inverse(block_diagonal(random_symmetric<double>(100, 3, 5), 3), 8);
}

TEST_CASE("shift-invert takes identities, zeros, one row and all pairs") {
  for (const double value : {0.0, 1.0, -7.0})
    for (const std::int64_t nev : {1, 5}) {
      const auto matrix = diagonal_matrix(std::vector<double>(100, value));
      for (const Which which : {Which::smallest, Which::largest, Which::nearest})
        check_pairs(matrix, find_inverse(matrix, {.nev = nev, .which = which, .target = 0.3}),
                    Which::smallest, dense_spectrum(matrix));
    }
  const auto one = diagonal_matrix<double>({-3});
  check_pairs(one, find_inverse(one, {.nev = 1}), Which::smallest, {-3});
  check_nearest(one, 1, 8);
  check_inverse(random_symmetric<double>(40, 4, 2), 40);
  check_inverse(random_symmetric<double>(2, 2, 1), 2);
}

TEST_CASE("shift-invert finds the eigenvalues nearest to a target, also to an eigenvalue") {
  const auto grid = poisson<double>(12, 13), random = random_symmetric<double>(300, 4, 6);
  const double inner = dense_spectrum(grid)[70];
  for (const double target : {-1.0, 0.0, 2.345, inner, 4.0, 1e3}) check_nearest(grid, 6, target);
  for (const double target : {-0.5, 0.0, 1.1}) check_nearest(random, 9, target);
  check_nearest(path_laplacians({30, 31, 40, 50}), 8, 0);
  std::vector<double> both;
  for (int i = 1; i <= 60; ++i) both.push_back(i), both.push_back(-i);
  check_nearest(diagonal_matrix(both), 8, 0);
}

TEST_CASE("shift-invert takes matrices of any size of elements") {
  const auto matrix = random_symmetric<double>(300, 4, 7);
  for (const double factor : {1e-150, 1e150}) {
    check_inverse(scaled(matrix, factor), 6);
    const auto found =
        find_inverse(scaled(matrix, factor), {.nev = 4, .which = Which::nearest, .target = factor});
    CHECK(found.report.converged());
  }
}

TEST_CASE("shift-invert solves A v = lambda B v, also with a singular B") {
  const auto a = poisson<double>(12, 13);
  const std::int64_t n = a.rows();
  std::vector<double> d(n);
  for (std::int64_t i = 0; i < n; ++i) d[i] = 1 + double(i % 7);
  std::vector<double> singular = d;
  for (std::int64_t i = 0; i < n; i += 3) singular[i] = 0;
  for (const auto& b : {diagonal_matrix(d), with_condition(n, 30, 5), diagonal_matrix(singular),
                        path_laplacians({100, 56})}) {
    const Eigen::MatrixXd dense_a(to_eigen(a)), dense_b(to_eigen(b));
    // The other way round, B v = mu A v, A is definite: lambda = 1 / mu, and mu = 0 is infinite.
    const Eigen::VectorXd mu = eigenvalues(dense_b, dense_a);
    for (const double target : {0.0, 1 / mu[n - 20]}) {
      const bool end = target == 0;
      const auto found = find_inverse(
          a, {.nev = 4, .which = end ? Which::smallest : Which::nearest, .target = target}, &b);
      REQUIRE(found.report.status == Status::converged);
      CHECK(found.report.verified);
      CHECK(found.report.mass_name == "csr");
      std::vector<double> spectrum;
      for (const double value : mu)
        if (value > 1e-12) spectrum.push_back(1 / value);
      std::ranges::sort(spectrum, {}, [=](double value) { return std::abs(value - target); });
      for (int i = 0; i < 4; ++i) {
        const auto& [value, residual, converged] = found.report.pairs[i];
        CHECK(value == doctest::Approx(spectrum[i]).epsilon(1e-7));
        const Eigen::VectorXd v = found.vectors.col(i);
        CHECK(std::abs((dense_a * v - value * (dense_b * v)).norm() / v.norm() - residual) <=
              1e-13 * found.report.norm);
      }
      const Eigen::MatrixXd overlap =
          Eigen::MatrixXd(found.vectors.transpose()) * dense_b * found.vectors;
      CHECK((overlap - Eigen::MatrixXd::Identity(4, 4)).cwiseAbs().maxCoeff() <= 1e-12);
    }
  }
  const auto b = diagonal_matrix(singular), indefinite = diagonal_matrix(std::vector(n, -1.0));
  const auto infinite = find_inverse(a, {.nev = 4, .which = Which::largest}, &b).report;
  CHECK(infinite.status == Status::breakdown);
  CHECK(infinite.detail.find("of a singular mass it may be infinite") != std::string::npos);
  const auto refused = find_inverse(a, {.nev = 4}, &indefinite).report;
  CHECK(refused.status == Status::breakdown);
  CHECK(refused.detail == "the mass has an eigenvalue below 0");
  // Eigenvalues 1 and -1 of the mass, whose pivots are 0: the smallest of the pencil is below 0.
  std::vector<Triplet<double>> swapped = {{0, 1, 1.0}, {1, 0, 1.0}};
  for (std::int64_t i = 2; i < n; ++i) swapped.push_back({i, i, 1.0});
  const auto exchange = Csr<double>::from_triplets(n, n, swapped);
  const auto hidden = find_inverse(a, {.nev = 1}, &exchange).report;
  CHECK(hidden.status == Status::breakdown);
  CHECK(hidden.detail == "the mass has an eigenvalue below 0");
  std::vector<double> few(n);
  few[3] = few[70] = 1;
  const auto rank_two = diagonal_matrix(few);
  CHECK(find_inverse(a, {.nev = 2}, &rank_two).report.converged());
  const auto short_of = find_inverse(a, {.nev = 3}, &rank_two).report;
  CHECK(short_of.status == Status::breakdown);
  CHECK(short_of.detail == "the mass is singular: there are 2 finite eigenvalues");
}

TEST_CASE("shift-invert says how it ended") {
  const auto matrix = poisson<double>(40, 30);
  const auto end = [&](const EigenOptions<double>& options, bool verify = true) {
    return find_inverse(matrix, options, nullptr, verify).report;
  };
  CHECK(end({.nev = 4, .max_products = 0}).status == Status::iteration_limit);
  CHECK(end({.nev = 4, .max_products = 80}).status == Status::iteration_limit);
  CHECK(end({.nev = 4, .time_limit = 0}).status == Status::time_limit);
  CHECK(std::isnan(end({.nev = 4, .time_limit = 0}).pairs[0].value));
  CHECK(end({.nev = 4, .tolerance = 0}).status == Status::stagnated);
  CHECK(end({.nev = 4, .monitor = [](const EigenState&) { return false; }}).status ==
        Status::cancelled);
  const auto unproved = end({.nev = 4}, false);
  CHECK(unproved.converged());
  CHECK_FALSE(unproved.verified);
  CHECK(unproved.proof.empty());
  std::ostringstream printed;
  const auto found = end({.nev = 4});
  printed << found;
  CHECK(printed.str().find("by inertia, as many as found") != std::string::npos);
  CHECK(found.factorizations >= 2);
  CHECK(found.solutions > 4);
  CHECK(found.factor_bytes > 0);
  CHECK(found.workspace_bytes > found.factor_bytes);
}

TEST_CASE("shift-invert that was interrupted while it ordered goes on when it is asked again") {
  Context<Host> context;
  const auto a = poisson<double>(12, 13), b = path_laplacians({100, 56});
  const auto never = [] { return false; };
  ShiftInvert inverse(context, a, &b, never);
  CHECK_FALSE(inverse.ordered());
  CHECK(inverse.cost().nonzeros == 0);
  CHECK(inverse.count_below(1, never).below == -1);
  CHECK(inverse.solve({}, {.nev = 2, .time_limit = 0}).status == Status::time_limit);
  CHECK_FALSE(inverse.ordered());
  const auto found = inverse.solve({}, {.nev = 2});
  CHECK(found.converged());
  CHECK(inverse.ordered());
  CHECK(inverse.cost().nonzeros > 0);
}

// Products enough to look at the norm of A, too few to form the inverse: no solution was wrong.
// By B = diag(1e32, 1, 1, ...) a residual says little of an eigenvalue's distance from a target.
TEST_CASE("shift-invert proves nothing of a target where the mass makes residuals coarse") {
  const auto a = poisson<double>(12, 5);
  std::vector<double> d(a.rows(), 1.0);
  const auto mild = diagonal_matrix(d);
  d[0] = 1e32;
  const auto coarse = diagonal_matrix(d);
  const EigenOptions<double> options{.nev = 3, .which = Which::nearest, .target = 0.5};
  CHECK_FALSE(find_inverse(a, options, &mild).report.proof.empty());
  CHECK(find_inverse(a, options, &coarse).report.proof.empty());
}

TEST_CASE("shift-invert says limit where one leaves no run of Lanczos") {
  const auto matrix = random_symmetric<double>(30, 4, 2);
  const auto report = find_inverse(matrix, {.nev = 3, .max_products = 40}).report;
  CHECK(report.status == Status::iteration_limit);
  CHECK(report.detail.find("max_products = 40, too few") == 0);
  CHECK(std::isnan(report.pairs[0].value));
}

TEST_CASE("shift-invert is deterministic by the seed, for any number of threads") {
  const auto matrix = random_symmetric<double>(400, 6, 9);
  const auto vectors = [&](int threads, std::uint64_t seed) {
    Context<Host> context(threads);
    Vector<double, Host> v(context, 400 * 3);
    CHECK(ShiftInvert(context, matrix).solve(v, {.nev = 3, .seed = seed}).converged());
    return std::vector<double>(v.span().data(), v.span().data() + v.size());
  };
  CHECK(vectors(1, 5) == vectors(2, 5));
  CHECK(vectors(1, 5) != vectors(1, 6));
}

TEST_CASE("inertia counts what lies below, and proves or disproves what lanczos found") {
  Context<Host> context;
  const auto matrix = block_diagonal(random_symmetric<double>(100, 3, 5), 2);
  const auto spectrum = dense_spectrum(matrix);
  ShiftInvert inverse(context, matrix);
  for (const double sigma : {-100.0, spectrum[50] + 1e-6, 0.1, 100.0}) {
    const InertiaCount count = inverse.count_below(sigma);
    CHECK(count.below ==
          std::ranges::count_if(spectrum, [=](double value) { return value < sigma; }));
    CHECK(count.backward_error <= 1e-11);
  }
  const CsrOperator<double, Host> A(context, matrix);
  for (const Which which : {Which::smallest, Which::largest, Which::magnitude}) {
    EigenReport all = find(A, {.nev = 4, .which = which}, {.block = 2}).report;
    all.verified = false;
    CHECK(inverse.prove(all, which));
    CHECK(all.verified);
    CHECK(all.proof.find("as many as found") != std::string::npos);
    EigenReport half = find(A, {.nev = 4, .which = which}, {.ncv = 30}, false).report;
    REQUIRE(half.converged());
    CHECK_FALSE(inverse.prove(half, which));
    CHECK(half.status == Status::stagnated);
    CHECK(half.detail.find("by inertia, ") != std::string::npos);
  }
}

TEST_CASE("nothing is proved where residuals exceed the eigenvalues, or nobody waits") {
  Context<Host> context;
  const auto a = poisson<double>(12, 12);
  const auto b = diagonal_matrix(std::vector(a.rows(), 1e9));
  ShiftInvert inverse(context, a, &b);
  EigenReport report;
  report.status = Status::converged;
  report.norm = 8;
  report.threshold = 8e-8;
  report.pairs = {{1e-9, 2e-8, true}, {2e-9, 2e-8, true}};  // whatever they are
  CHECK_FALSE(inverse.prove(report, Which::smallest));
  CHECK_FALSE(report.verified);
  CHECK(report.warnings.size() == 1);

  ShiftInvert plain(context, a);
  const CsrOperator<double, Host> A(context, a);
  EigenReport found = find(A, {.nev = 3}, {.block = 2}).report;
  found.verified = false;
  CHECK_FALSE(plain.prove(found, Which::smallest, [] { return false; }));
  CHECK_FALSE(found.verified);
  CHECK(found.status == Status::converged);
  CHECK(found.warnings.back().find("interrupted") != std::string::npos);
}

TEST_CASE("shift-invert refuses what cannot be meant") {
  Context<Host> context;
  const auto matrix = poisson<double>(10, 10), other = poisson<double>(5, 5);
  const auto refused = [&](const EigenOptions<double>& options, const char* why) {
    CHECK_THROWS_WITH_AS(ShiftInvert(context, matrix).solve({}, options), doctest::Contains(why),
                         Error);
  };
  refused({.nev = 0}, "nev is 0, it must be from 1 to n = 100");
  refused({.nev = 4, .which = Which::magnitude}, "it must be smallest, largest or nearest");
  refused({.nev = 4, .which = Which::nearest, .target = std::nan("")}, "target is nan");
  refused({.nev = 4, .tolerance = -1}, "tolerance is -1");
  CHECK_THROWS_WITH_AS(ShiftInvert(context, matrix, &other),
                       doctest::Contains("the mass is 25 x 25, it must be 100 x 100"), Error);
  const auto wind = convection<double>(20, 10, 0.4);
  CHECK_THROWS_WITH_AS(ShiftInvert(context, wind), doctest::Contains("A is not symmetric"), Error);
  const auto bad = diagonal_matrix<double>({1, std::nan("")});
  CHECK_THROWS_WITH_AS(ShiftInvert(context, bad), doctest::Contains("A has an element nan"), Error);
  const CsrOperator<double, Host> A(context, matrix);
  CHECK_THROWS_WITH_AS(lanczos(A, {}, {.nev = 4, .which = Which::nearest}),
                       doctest::Contains("ShiftInvert takes it"), Error);
}

TEST_CASE("shift-invert solves real matrices whose small eigenvalues are close together") {
  const char* folder = std::getenv("TANSOLVE_MATRICES");
  if (folder == nullptr) {
    MESSAGE("skipped: TANSOLVE_MATRICES names no folder");
    return;
  }
  for (const char* file :
       {"1138_bus.mtx.gz", "nos7.mtx.gz", "plat1919.mtx.gz", "bcsstk13.mtx.gz"}) {
    CAPTURE(file);
    const auto matrix = read_matrix(std::string(folder) + "/" + file);
    for (const Which which : {Which::smallest, Which::largest}) {
      const auto found = find_inverse(matrix, {.nev = 10, .which = which});
      CHECK(found.report.status == Status::converged);
      CHECK(found.report.proof.find("as many as found") != std::string::npos);
      if (matrix.rows() < 800) check_pairs(matrix, found, which, dense_spectrum(matrix));
    }
  }
}

#if __has_include(<Spectra/SymEigsShiftSolver.h>)
TEST_CASE("shift-invert agrees with Spectra within the spectrum") {
  const auto matrix = poisson<double>(60, 50);
  const auto sparse = to_eigen(matrix);
  Spectra::SparseSymShiftSolve<double> solution(sparse);
  Spectra::SymEigsShiftSolver<Spectra::SparseSymShiftSolve<double>> spectra(solution, 10, 40, 0.5);
  spectra.init();
  REQUIRE(spectra.compute(Spectra::SortRule::LargestMagn, 1000, 1e-12) == 10);
  const auto found = find_inverse(matrix, {.nev = 10, .which = Which::nearest, .target = 0.5});
  REQUIRE(found.report.converged());
  const Eigen::VectorXd other = spectra.eigenvalues();
  std::vector<double> expected(other.begin(), other.end()), values;
  for (const EigenPair& pair : found.report.pairs) values.push_back(pair.value);
  std::ranges::sort(expected);
  std::ranges::sort(values);
  for (int i = 0; i < 10; ++i) CHECK(std::abs(values[i] - expected[i]) <= found.report.threshold);
}
#else
TEST_CASE("shift-invert agrees with Spectra within the spectrum") {
  MESSAGE("skipped: Spectra is not installed");
}
#endif

}  // namespace
}  // namespace tansolve::test
