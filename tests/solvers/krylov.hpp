// SPDX-License-Identifier: BSD-3-Clause
// Systems and one-line solves for the tests of GMRES and MINRES.
#pragma once

#include <tansolve/solvers/gmres.hpp>
#include <tansolve/solvers/minres.hpp>

#include "solvers/solving.hpp"

#include <functional>
#include <utility>

namespace tansolve::test {

/// Runs solver(A, b, x) from the guess x0.
template <class T, class B, class Solver>
Answer<T> run_from(const LinearOperator<T, B>& A, const std::vector<T>& x0, const std::vector<T>& b,
                   const Solver& solver) {
  Context<B>& context = A.context();
  const auto device_b = upload(context, b);
  auto x = upload(context, x0);
  Report report = solver(A, Span<const T, B>(device_b), Span<T, B>(x));
  return {std::move(report), download(context, x)};
}

/// The 5-point Laplacian with wind of strength `wind` (below 1) along both axes: not symmetric,
/// diagonally dominant.
template <class T>
Csr<T> convection(std::int64_t nx, std::int64_t ny, double wind) {
  std::vector<Triplet<T>> triplets;
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t x = 0; x < nx; ++x) {
      const std::int64_t i = y * nx + x;
      triplets.push_back({i, i, T(4)});
      if (x > 0) triplets.push_back({i, i - 1, static_cast<T>(-1 - wind)});
      if (x + 1 < nx) triplets.push_back({i, i + 1, static_cast<T>(-1 + wind)});
      if (y > 0) triplets.push_back({i, i - nx, static_cast<T>(-1 - wind)});
      if (y + 1 < ny) triplets.push_back({i, i + nx, static_cast<T>(-1 + wind)});
    }
  return Csr<T>::from_triplets(nx * ny, nx * ny, triplets);
}

/// The same matrix with every other row negated: as well conditioned, and indefinite.
template <class T>
Csr<T> flipped(const Csr<T>& matrix) {
  return with_values(matrix, [](auto i, auto, T value) { return i % 2 == 0 ? value : -value; });
}

/// The Laplacian of the nx x ny grid without boundary: the constant vectors are its null space.
template <class T>
Csr<T> neumann(std::int64_t nx, std::int64_t ny) {
  std::vector<Triplet<T>> triplets;
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t x = 0; x < nx; ++x) {
      const std::int64_t i = y * nx + x;
      T degree = 0;
      const auto join = [&](bool there, std::int64_t j) {
        if (!there) return;
        triplets.push_back({i, j, T(-1)});
        ++degree;
      };
      join(x > 0, i - 1);
      join(x + 1 < nx, i + 1);
      join(y > 0, i - nx);
      join(y + 1 < ny, i + nx);
      triplets.push_back({i, i, degree});
    }
  return Csr<T>::from_triplets(nx * ny, nx * ny, triplets);
}

/// A vector's image has a tenth of its length along itself, the rest is orthogonal to all before.
inline Csr<double> shifted(std::int64_t n) {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < n; ++i) {
    triplets.push_back({i, i, 0.1});
    triplets.push_back({i, (i + 1) % n, 1.0});
  }
  return Csr<double>::from_triplets(n, n, triplets);
}

/// x less its mean.
template <class T>
std::vector<T> centred(std::vector<T> x) {
  double sum = 0;
  for (const T element : x) sum += element;
  for (T& element : x) element -= static_cast<T>(sum / static_cast<double>(x.size()));
  return x;
}

/// ||x - y|| <= bound
template <class T>
bool within(const std::vector<T>& x, const Eigen::VectorXd& y, double bound) {
  return (to_eigen(x) - y).norm() <= bound;
}

/// M v times a factor that changes from one application to the next.
template <class T, class B>
class Moody : public LinearOperator<T, B> {
 public:
  Moody(Context<B>& context, std::int64_t n, std::function<T(std::int64_t)> factor)
      : LinearOperator<T, B>(context, n, n), factor_(std::move(factor)) {}

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override {
    axpby(this->context(), factor_(++calls_), x, 0, y);
  }

 private:
  std::function<T(std::int64_t)> factor_;
  mutable std::int64_t calls_ = 0;
};

}  // namespace tansolve::test
