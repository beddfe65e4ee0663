// SPDX-License-Identifier: BSD-3-Clause
// What sets itself up in memory of a backend: every coding, solver and preconditioner once, each
// from a matrix on the host to its first results.
#pragma once

#include <tansolve/codec/encode.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/with_transpose.hpp>
#include <tansolve/preconditioners/amg.hpp>
#include <tansolve/preconditioners/block_jacobi.hpp>
#include <tansolve/preconditioners/fsai.hpp>
#include <tansolve/preconditioners/incomplete.hpp>
#include <tansolve/preconditioners/jacobi.hpp>
#include <tansolve/preconditioners/polynomial.hpp>
#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/block_cg.hpp>
#include <tansolve/solvers/block_gmres.hpp>
#include <tansolve/solvers/cg.hpp>
#include <tansolve/solvers/fcg.hpp>
#include <tansolve/solvers/gmres.hpp>
#include <tansolve/solvers/idr.hpp>
#include <tansolve/solvers/lanczos.hpp>
#include <tansolve/solvers/lobpcg.hpp>
#include <tansolve/solvers/lsmr.hpp>
#include <tansolve/solvers/lsqr.hpp>
#include <tansolve/solvers/minres.hpp>
#include <tansolve/solvers/refinement.hpp>
#include <tansolve/solvers/richardson.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tansolve::test {

/// What is done, and what it is called.
struct SetUp {
  std::string name;
  std::function<void()> run;
};

/// A system of `matrix`, symmetric and positive definite, and a few columns of vectors.
template <class B>
struct SmallSystem {
  static constexpr std::int64_t columns = 2;

  SmallSystem(Context<B>& context, const Csr<double>& matrix)
      : A(context, matrix),
        b(context, columns * matrix.rows()),
        x(context, columns * matrix.rows()) {
    fill(context, 1.0, b.span());
    fill(context, 0.0, x.span());
  }
  Span<const double, B> rhs() const { return b.span().subspan(0, A.rows()); }
  Span<double, B> guess() { return x.span().subspan(0, A.rows()); }

  CsrOperator<double, B> A;
  Vector<double, B> b, x;
};

/// Multiplies once by a matrix encoded with each coding.
template <class B>
std::vector<SetUp> coding_set_ups(Context<B>& context, const Csr<double>& matrix) {
  std::vector<SetUp> all;
  for (const CodingTraits& coding : all_codings)
    all.push_back({std::string(coding.name), [=, &context, &matrix] {
                     const auto compressed =
                         encode(matrix, {.coding = coding.coding}, count_pairs(matrix));
                     const CompressedOperator<double, B> A(context, compressed);
                     Vector<double, B> x(context, A.cols()), y(context, A.rows());
                     fill(context, 1.0, x.span());
                     A.apply(x, y);
                   }});
  return all;
}

template <class B>
std::vector<SetUp> solver_set_ups(Context<B>& context, const Csr<double>& matrix) {
  std::vector<SetUp> all;
  const auto add = [&](const char* name, auto solve) {
    all.push_back({name, [=, &context, &matrix] {
                     SmallSystem<B> system(context, matrix);
                     solve(system);
                   }});
  };
  using System = SmallSystem<B>;
  constexpr std::int64_t columns = System::columns;
  static const SolveOptions<double, B> brief{.max_iterations = 4};
  add("cg", [](System& s) { cg(s.A, s.rhs(), s.guess(), brief); });
  add("fcg", [](System& s) { fcg(s.A, s.rhs(), s.guess(), brief); });
  add("minres", [](System& s) { minres(s.A, s.rhs(), s.guess(), brief); });
  add("gmres", [](System& s) { gmres(s.A, s.rhs(), s.guess(), brief); });
  add("fgmres", [](System& s) { fgmres(s.A, s.rhs(), s.guess(), brief); });
  add("bicgstab", [](System& s) { bicgstab(s.A, s.rhs(), s.guess(), brief); });
  add("idr", [](System& s) { idr(s.A, s.rhs(), s.guess(), brief); });
  add("richardson", [](System& s) { richardson(s.A, s.rhs(), s.guess(), brief); });
  add("lsqr", [](System& s) {
    const WithTranspose<double, B> both(s.A, s.A);
    lsqr(both, s.rhs(), s.guess(), brief);
  });
  add("lsmr", [](System& s) {
    const WithTranspose<double, B> both(s.A, s.A);
    lsmr(both, s.rhs(), s.guess(), brief);
  });
  add("pseudo-block cg", [](System& s) { pseudo_block_cg(s.A, columns, s.b, s.x, brief); });
  add("pseudo-block bicgstab",
      [](System& s) { pseudo_block_bicgstab(s.A, columns, s.b, s.x, brief); });
  add("pseudo-block gmres", [](System& s) { pseudo_block_gmres(s.A, columns, s.b, s.x, brief); });
  add("block cg", [](System& s) { block_cg(s.A, columns, s.b, s.x, brief); });
  all.push_back({"refinement", [=, &context, &matrix] {
                   SmallSystem<B> system(context, matrix);
                   const Csr<float> rounded = convert<float>(matrix);
                   const CsrOperator<float, B> low(context, rounded);
                   refine(
                       system.A,
                       [&](auto r, auto d) { return cg(low, r, d, {.max_iterations = 4}); },
                       system.rhs(), system.guess(), brief);
                 }});
  add("lanczos", [](System& s) { lanczos(s.A, s.x.span(), {.nev = 2}); });
  add("lanczos in blocks",
      [](System& s) { lanczos(s.A, {}, {.nev = 2, .max_products = 40}, {.ncv = 12, .block = 2}); });
  add("lobpcg", [](System& s) { lobpcg(s.A, {}, {.nev = 2, .max_products = 40}); });
  return all;
}

/// Each applied once.
template <class B>
std::vector<SetUp> preconditioner_set_ups(Context<B>& context, const Csr<double>& matrix) {
  std::vector<SetUp> all;
  const auto add = [&](const char* name, auto create) {
    all.push_back({name, [=, &context, &matrix] {
                     SmallSystem<B> system(context, matrix);
                     const std::unique_ptr<LinearOperator<double, B>> M = create(system.A, matrix);
                     M->apply(system.rhs(), system.guess());
                   }});
  };
  using A = const CsrOperator<double, B>&;
  using M = const Csr<double>&;
  add("jacobi", [](A a, M) { return std::make_unique<Jacobi<double, B>>(a.context(), a); });
  add("block-jacobi",
      [](A a, M m) { return std::make_unique<BlockJacobi<double, B>>(a.context(), m); });
  add("chebyshev", [](A a, M) { return std::make_unique<Polynomial<double, B>>(a, Chebyshev()); });
  add("neumann", [](A a, M) { return std::make_unique<Polynomial<double, B>>(a, Neumann()); });
  add("fsai", [](A a, M m) { return std::make_unique<Fsai<double, B>>(a.context(), m); });
  using Factored = Incomplete<double, B>;
  add("ic", [](A a, M m) {
    return std::make_unique<Factored>(a.context(), m, Factored::Kind::cholesky);
  });
  add("ilu",
      [](A a, M m) { return std::make_unique<Factored>(a.context(), m, Factored::Kind::lu); });
  add("amg", [](A a, M m) {
    return std::make_unique<Amg<double, B>>(a, m, AmgOptions{.coarse_rows = 8, .threads = 1});
  });
  return all;
}

}  // namespace tansolve::test
