// SPDX-License-Identifier: BSD-3-Clause
// The serial truth against numbers worked out by hand and dense arithmetic, and what must not
// compile.
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include "support/matrices.hpp"

#include <doctest/doctest.h>
#include <Eigen/Dense>

namespace tansolve::test {

template <class Operator, class X, class Y>
concept Applies = requires(const Operator& a, X x, Y y) {
  a.apply(x, y);
};

static_assert(
    Applies<CsrOperator<double, Checked>, Span<const double, Checked>, Span<double, Checked>>);
static_assert(
    !Applies<CsrOperator<double, Checked>, Span<const double, Host>, Span<double, Checked>>,
    "a host vector given to another backend's operator");
static_assert(
    !Applies<CsrOperator<double, Checked>, Span<const double, Checked>, Span<double, Host>>,
    "a host vector written by another backend's operator");
static_assert(!Applies<CsrOperator<double, Host>, Span<const float, Host>, Span<double, Host>>,
              "vectors of another precision");
static_assert(
    !Applies<CsrOperator<double, Host>, Span<const double, Host>, Span<const double, Host>>,
    "a result that is const");

TEST_CASE_TEMPLATE("the reference product gives the numbers worked out by hand", T, double, float) {
  // [ 1 2 0 ]
  // [ 0 0 3 ]
  const auto a = Csr<T>::from_triplets(
      2, 3, std::vector<Triplet<T>>{{0, 0, T(1)}, {0, 1, T(2)}, {1, 2, T(3)}});
  const std::vector<T> x = {10, 20, 30}, u = {1, -1};
  std::vector<T> y = {7, 8}, v(3), d(2);
  reference::product(a, T(2), x.data(), T(10), y.data());
  CHECK(y == std::vector<T>{170, 260});
  reference::product(a, x.data(), y.data());
  CHECK(y == std::vector<T>{50, 90});
  reference::transposed_product(a, u.data(), v.data());
  CHECK(v == std::vector<T>{1, 2, -3});
  reference::diagonal(a, d.data());
  CHECK(d == std::vector<T>{1, 0});
}

TEST_CASE_TEMPLATE("the reference product agrees with dense arithmetic", T, double, float) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Array = Eigen::Matrix<T, Eigen::Dynamic, 1>;
  for (const auto& [name, a] : nasty_matrices<T>()) {
    if (a.cols() > 20000 || a.rows() * a.cols() > 4'000'000 || name == "special values") continue;
    CAPTURE(name);
    Matrix dense = Matrix::Zero(a.rows(), a.cols());
    for (std::int64_t i = 0; i < a.rows(); ++i)
      for (std::int64_t k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k)
        dense(i, a.columns()[k]) = a.values()[k];
    const Array x = Array::LinSpaced(a.cols(), T(-1), T(2)), u = Array::LinSpaced(a.rows(), 1, 3);
    Array y(a.rows()), v(a.cols());
    reference::product(a, x.data(), y.data());
    reference::transposed_product(a, u.data(), v.data());
    const T eps = 100 * std::numeric_limits<T>::epsilon();
    CHECK((y - dense * x).norm() <= eps * dense.norm() * x.norm());
    CHECK((v - dense.transpose() * u).norm() <= eps * dense.norm() * u.norm());
  }
}

}  // namespace tansolve::test
