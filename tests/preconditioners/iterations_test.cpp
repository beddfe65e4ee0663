// SPDX-License-Identifier: BSD-3-Clause
// What preconditioners are for: fewer iterations, on anisotropic problems and jumping coefficients
// too, compared with Eigen's; and true residuals, whatever M is.
#include <tansolve/preconditioners/amg.hpp>
#include <tansolve/preconditioners/block_jacobi.hpp>
#include <tansolve/preconditioners/fsai.hpp>
#include <tansolve/preconditioners/incomplete.hpp>
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/preconditioners/polynomial.hpp>
#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/gmres.hpp>

#include "preconditioners/dense.hpp"
#include "solvers/solving.hpp"

#include <Eigen/IterativeLinearSolvers>

namespace tansolve::test {
namespace {

using Factored = Incomplete<double, Host>;

/// Iterations of cg for A x = b to a relative residual of 1e-8, which is checked.
std::int64_t cg_iterations(const Csr<double>& matrix, const LinearOperator<double, Host>& M) {
  const CsrOperator<double, Host> A(M.context(), matrix);
  const auto b = random_vector<double>(matrix.rows(), 17);
  const auto [report, x] = solve(A, b, {.preconditioner = &M});
  CHECK(report.status == Status::converged);
  CHECK(eigen_residual(matrix, b, x) <= 1.0001 * report.threshold);
  return report.iterations;
}

template <class Preconditioner>
std::int64_t eigen_iterations(const Csr<double>& matrix) {
  const Eigen::SparseMatrix<double> A = to_eigen(matrix);  // the solver refers to it
  Eigen::ConjugateGradient<Eigen::SparseMatrix<double>, Eigen::Lower | Eigen::Upper, Preconditioner>
      solver(A);
  solver.setTolerance(1e-8);
  const Eigen::VectorXd b = to_eigen(random_vector<double>(matrix.rows(), 17));
  const Eigen::VectorXd x = solver.solve(b);
  CHECK(solver.info() == Eigen::Success);
  CHECK(x.allFinite());
  return solver.iterations();
}

struct Problem {
  std::string name;
  Csr<double> matrix;
};

std::vector<Problem> problems() {
  std::vector<Problem> all;
  all.push_back({"isotropic", poisson<double>(60, 50)});
  all.push_back({"anisotropic", anisotropic<double>(60, 50, 0.01)});
  all.push_back({"jumps", generate("varcoef7:14:10000")});
  return all;
}

TEST_CASE("preconditioners save iterations on anisotropic problems and jumping coefficients") {
  Context<Host> context(2);
  for (const auto& [name, matrix] : problems()) {
    CAPTURE(name);
    const CsrOperator<double, Host> A(context, matrix);
    const Jacobi<double, Host> jacobi(context, A);
    const auto by_jacobi = static_cast<double>(cg_iterations(matrix, jacobi));
    const auto saved = [&](const LinearOperator<double, Host>& preconditioner) {
      return static_cast<double>(cg_iterations(matrix, preconditioner)) / by_jacobi;
    };
    CHECK(saved(Polynomial(A, Chebyshev())) < 0.35);
    CHECK(saved(Polynomial(A, Neumann())) < 0.8);
    CHECK(saved(Fsai<double, Host>(context, matrix)) < 0.75);
    CHECK(saved(Fsai<double, Host>(context, matrix, {.pattern = {.power = 2}})) < 0.6);
    const FsaiPattern adaptive = {.power = 0, .adaptive_steps = 4, .adaptive_entries = 4};
    CHECK(saved(Fsai<double, Host>(context, matrix, {.pattern = adaptive})) < 0.5);
    CHECK(saved(Factored(context, matrix, Factored::Kind::cholesky)) < 0.5);
    CHECK(saved(Amg<double, Host>(A, matrix, {.coarse_rows = 50})) < 0.25);
  }
}

TEST_CASE("incomplete cholesky takes about as many iterations as eigen's") {
  using Theirs = Eigen::IncompleteCholesky<double, Eigen::Lower, Eigen::NaturalOrdering<int>>;
  Context<Host> context(1);
  for (const auto& [name, matrix] : problems()) {
    CAPTURE(name);
    const Factored ours(context, matrix, Factored::Kind::cholesky);
    const auto theirs = static_cast<double>(eigen_iterations<Theirs>(matrix));
    CHECK(static_cast<double>(cg_iterations(matrix, ours)) <= 1.1 * theirs + 2);
  }
}

TEST_CASE("incomplete lu takes no more than twice the iterations of eigen's with thresholds") {
  Context<Host> context(2);
  const Csr<double> matrix = upwind(60, 50);
  const CsrOperator<double, Host> A(context, matrix);
  const auto b = random_vector<double>(matrix.rows(), 17);
  Eigen::BiCGSTAB<Eigen::SparseMatrix<double>, Eigen::IncompleteLUT<double>> theirs;
  theirs.preconditioner().setFillfactor(1);  // as many entries as the matrix has
  const Eigen::SparseMatrix<double> eigen_matrix = to_eigen(matrix);
  theirs.compute(eigen_matrix);
  theirs.setTolerance(1e-8);
  CHECK(Eigen::VectorXd(theirs.solve(to_eigen(b))).allFinite());

  const Factored ours(context, matrix, Factored::Kind::lu);
  const auto device_b = upload(context, b);
  auto x = upload(context, std::vector<double>(matrix.rows(), 0.0));
  const Report report = bicgstab(A, device_b, x, {.preconditioner = &ours});
  CHECK(report.status == Status::converged);
  CHECK(eigen_residual(matrix, b, download(context, x)) <= 1.0001 * report.threshold);
  CHECK(report.iterations <= 2 * theirs.iterations());
}

TEST_CASE("no preconditioner makes a solver claim convergence on a false residual") {
  Context<Host> context(1);
  // Nearly singular: recurrences drift far from the true residual.
  const Csr<double> matrix = with_condition(60, 1e13, 5);
  const CsrOperator<double, Host> A(context, matrix);
  const auto b = random_vector<double>(60, 3);
  const Polynomial chebyshev(A, Chebyshev());
  const Fsai<double, Host> fsai(context, matrix, {.pattern = {.most_entries = 20}});
  const Factored ic(context, matrix, Factored::Kind::cholesky);
  const Factored ilu(context, matrix, Factored::Kind::lu);
  const Jacobi<double, Host> jacobi(context, A);
  const BlockJacobi<double, Host> blocks(context, matrix, {.size = 4});
  const Polynomial neumann(A, Neumann());
  const Amg<double, Host> amg(A, matrix);
  for (const LinearOperator<double, Host>* preconditioner :
       std::initializer_list<const LinearOperator<double, Host>*>{
           &chebyshev, &fsai, &ic, &ilu, &jacobi, &blocks, &neumann, &amg}) {
    CAPTURE(preconditioner->name());
    const auto [report, x] =
        solve(A, b, {.rtol = 1e-12, .max_iterations = 500, .preconditioner = preconditioner});
    CHECK(report.true_residual == doctest::Approx(eigen_residual(matrix, b, x)).epsilon(1e-3));
    CHECK(report.converged() == (report.true_residual <= report.threshold));
  }
}

TEST_CASE("an indefinite preconditioner is a status of cg, not an answer") {
  Context<Checked> context;
  const Csr<double> matrix = diagonal_matrix<double>({1, 1, 1, 1});
  const CsrOperator<double, Checked> A(context, matrix);
  const Polynomial odd(A, Chebyshev{.degree = 1, .bounds = EigenvalueBounds{0.1, 0.3}});
  const auto [report, x] = solve(A, {1, 2, 3, 4}, {.preconditioner = &odd});
  CHECK(report.status == Status::indefinite_preconditioner);
}

}  // namespace
}  // namespace tansolve::test
