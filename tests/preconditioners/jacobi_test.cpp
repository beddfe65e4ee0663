// SPDX-License-Identifier: BSD-3-Clause
// Jacobi: the inverse diagonal, and which diagonals it refuses.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/preconditioners/jacobi.hpp>

#include "support/backends.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

namespace tansolve::test {

#define TANSOLVE_SETTINGS                                                      \
  Setting<double, Host, 2>, Setting<float, Host, 2>, Setting<double, Checked>, \
      Setting<float, Checked>

TEST_CASE_TEMPLATE("jacobi divides by the diagonal of an operator", S, TANSOLVE_SETTINGS) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const auto matrix = Csr<T>::from_triplets(
      3, 3,
      std::vector<Triplet<T>>{
          {0, 0, T(2)}, {0, 1, T(9)}, {1, 1, T(-4)}, {2, 0, T(1)}, {2, 2, T(8)}});
  const CsrOperator<T, B> a(context, matrix);
  const Jacobi<T, B> jacobi(context, a);
  CHECK(jacobi.rows() == 3);
  CHECK(jacobi.cols() == 3);
  const auto x = upload<T>(context, {2, 2, 2});
  Vector<T, B> y(context, 3);
  jacobi.apply(x, y);
  CHECK(download(context, y) == std::vector<T>{1, T(-0.5), T(0.25)});
  jacobi.apply_transposed(x, y);
  CHECK(download(context, y) == std::vector<T>{1, T(-0.5), T(0.25)});
  jacobi.apply(2, x, 1, y);
  CHECK(download(context, y) == std::vector<T>{3, T(-1.5), T(0.75)});
  jacobi.diagonal(y);
  CHECK(download(context, y) == std::vector<T>{T(0.5), T(-0.25), T(0.125)});
}

TEST_CASE_TEMPLATE("jacobi refuses a diagonal without an inverse, with count and first row", S,
                   TANSOLVE_SETTINGS) {
  using T = typename S::T;
  using B = typename S::B;
  using Limits = std::numeric_limits<T>;
  auto context = S::context();
  const auto matrix =  // rows 1 and 3 have no diagonal, row 2 has a zero
      Csr<T>::from_triplets(4, 4,
                            std::vector<Triplet<T>>{{0, 0, T(2)}, {1, 0, T(1)}, {2, 2, T(0)}});
  const CsrOperator<T, B> a(context, matrix);
  const auto message = [](const auto& body) -> std::string {
    try {
      body();
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::bad_input);
      return error.what();
    }
    return "nothing was thrown";
  };
  CHECK(message([&] { Jacobi<T, B>(context, a); }) ==
        "jacobi: 3 of 4 diagonal elements are zero, absent or without a finite inverse, first in "
        "row 2 (counting from 1): 0");
  for (const T bad :
       {T(0), T(-0.0), Limits::quiet_NaN(), Limits::infinity(), Limits::denorm_min()}) {
    const auto d = upload<T>(context, {1, 2, bad});
    CHECK(
        message([&] { Jacobi<T, B>(context, d); })
            .find("jacobi: 1 of 3 diagonal elements are zero, absent or without a finite inverse, "
                  "first in row 3 (counting from 1): ") == 0);
  }
}

TEST_CASE("jacobi refuses an operator that is not square") {
  Context<Host> context(1);
  const auto matrix = Csr<double>::from_triplets(2, 3, std::vector<Triplet<double>>{{0, 0, 1.0}});
  const CsrOperator<double, Host> a(context, matrix);
  CHECK_THROWS_WITH_AS((Jacobi<double, Host>(context, a)),
                       "jacobi: csr is 2 x 3, it must be square", Error);
}

}  // namespace tansolve::test
