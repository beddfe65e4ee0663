// SPDX-License-Identifier: BSD-3-Clause
// Blocks of vectors, the vector work of least squares, and matrices with their transposes on the
// host's backends.
#include "kernels/block_conformance.hpp"

#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/with_transpose.hpp>

#include "support/matrices.hpp"

namespace tansolve::test {

TANSOLVE_BLOCK_CONFORMS(Setting<double, Host, 1>, Setting<double, Host, 2>, Setting<float, Host, 2>,
                        Setting<double, Checked>, Setting<float, Checked>);

TEST_CASE("the checked backend counts the passes that blocks claim") {
  Context<Checked> context;
  const std::int64_t n = 100, j = 5, k = 9;
  Vector<double, Checked> X(context, n * j), Y(context, n * k), C(context, j * k),
      G(context, j * k);
  context.counters() = {};
  gram<double>(context, j, X.span(), k, Y, G.span());
  CHECK(context.counters().elements == n * (j * 3 + k * 2));
  CHECK(context.counters().reductions == j * k);
  context.counters() = {};
  combine(context, j, X, C, 1, k, Y.span());
  CHECK(context.counters().elements == n * (j * 2 + 2 * k));
  context.counters() = {};
  combine(context, j, X, C, 0, k, Y.span());
  CHECK(context.counters().elements == n * (j * 2 + k));
  CHECK(context.counters().allocations == 0);
}

TEST_CASE("a matrix with its transpose gives the bits of both, for every shape") {
  Context<Host> context(2);
  for (const auto& [name, matrix] : nasty_matrices<double>()) {
    if (matrix.cols() > 1'000'000) continue;
    CAPTURE(name);
    const auto transposed = transpose(matrix);
    const CsrOperator<double, Host> a(context, matrix), at(context, transposed);
    const WithTranspose<double, Host> both(a, at);
    const auto x = upload(context, random_elements<double>(matrix.cols(), 1));
    const auto u = upload(context, random_elements<double>(matrix.rows(), 2));
    Vector<double, Host> y(context, matrix.rows()), z(context, matrix.rows());
    Vector<double, Host> v(context, matrix.cols()), w(context, matrix.cols());
    a.apply(x, y);
    both.apply(x, z);
    CHECK(same(download(context, y), download(context, z)));
    copy(context, u, y.span());
    copy(context, u, z.span());
    a.apply(2, x, -1, y);
    both.apply(2, x, -1, z);
    CHECK(same(download(context, y), download(context, z)));
    a.apply_block(1, x, y);
    both.apply_block(1, x, z);
    CHECK(same(download(context, y), download(context, z)));
    a.apply_transposed(u, v);
    both.apply_transposed(u, w);
    CHECK(same(download(context, v), download(context, w)));
    CHECK(both.applications() == 4);
    CHECK(at.applications() == 1);
    if (matrix.rows() == matrix.cols()) {
      Scalar<double, Host> ay(context), bz(context);
      a.apply_dot(x, y, ay);
      both.apply_dot(x, z, bz);
      CHECK(same<double>({read(context, ay)}, {read(context, bz)}));
    }
  }
}

TEST_CASE("a matrix refuses a transpose of another shape or context") {
  Context<Host> context(1), elsewhere(1);
  const auto matrix = Csr<double>::from_triplets(2, 3, std::vector<Triplet<double>>{{0, 1, 1.0}});
  const auto transposed = transpose(matrix);
  const CsrOperator<double, Host> a(context, matrix), at(context, transposed);
  const CsrOperator<double, Host> far(elsewhere, transposed);
  CHECK_THROWS_WITH_AS((WithTranspose<double, Host>(a, a)),
                       "the transpose of csr (2 x 3) is 2 x 3, it must be 3 x 2", Error);
  CHECK(refuses([&] { WithTranspose<double, Host>(a, far); }));
  CHECK_FALSE(refuses([&] { WithTranspose<double, Host>(a, at); }));
}

}  // namespace tansolve::test
