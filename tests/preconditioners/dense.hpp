// SPDX-License-Identifier: BSD-3-Clause
// Preconditioners as dense matrices, and the systems that they are tried on.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/primitives.hpp>

#include "support/backends.hpp"
#include "support/systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace tansolve::test {

/// Its columns, one product each.
template <class T, class B>
Eigen::MatrixXd dense(const LinearOperator<T, B>& M) {
  Context<B>& context = M.context();
  Eigen::MatrixXd columns(M.rows(), M.cols());
  Vector<T, B> y(context, M.rows());
  for (std::int64_t j = 0; j < M.cols(); ++j) {
    std::vector<T> unit(M.cols());
    unit[j] = 1;
    M.apply(upload(context, unit), y);
    columns.col(j) = to_eigen(download(context, y));
  }
  return columns;
}

inline double distance(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return (a - b).norm() / b.norm();
}

/// Symmetry and z'Mz > 0 on random vectors.
template <class T, class B>
void check_definite(const LinearOperator<T, B>& M) {
  const double rounding = 100 * static_cast<double>(std::numeric_limits<T>::epsilon());
  Context<B>& context = M.context();
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  std::vector<std::vector<T>> z(4, std::vector<T>(M.rows()));
  std::vector<Eigen::VectorXd> Mz;
  for (auto& vector : z) {
    for (T& element : vector) element = static_cast<T>(normal(random));
    Vector<T, B> y(context, M.rows());
    M.apply(upload(context, vector), y);
    Mz.push_back(to_eigen(download(context, y)));
    CHECK(to_eigen(vector).dot(Mz.back()) > 0);
  }
  for (std::size_t i = 0; i < z.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const double ij = to_eigen(z[i]).dot(Mz[j]), ji = to_eigen(z[j]).dot(Mz[i]);
      CHECK(std::abs(ij - ji) <= rounding * to_eigen(z[i]).norm() * Mz[j].norm());
    }
}

/// Five points, weakly coupled in y: by `epsilon`.
template <class T>
Csr<T> anisotropic(std::int64_t nx, std::int64_t ny, double epsilon) {
  std::vector<Triplet<T>> triplets;
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t x = 0; x < nx; ++x) {
      const std::int64_t i = y * nx + x;
      triplets.push_back({i, i, static_cast<T>(2 + 2 * epsilon)});
      if (x > 0) triplets.push_back({i, i - 1, T(-1)});
      if (x + 1 < nx) triplets.push_back({i, i + 1, T(-1)});
      if (y > 0) triplets.push_back({i, i - nx, static_cast<T>(-epsilon)});
      if (y + 1 < ny) triplets.push_back({i, i + nx, static_cast<T>(-epsilon)});
    }
  return Csr<T>::from_triplets(nx * ny, nx * ny, triplets);
}

/// Upwind convection and diffusion on nx x ny points: not symmetric.
inline Csr<double> upwind(std::int64_t nx, std::int64_t ny) {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t y = 0; y < ny; ++y)
    for (std::int64_t x = 0; x < nx; ++x) {
      const std::int64_t i = y * nx + x;
      triplets.push_back({i, i, 4.75});
      if (x > 0) triplets.push_back({i, i - 1, -1.5});
      if (x + 1 < nx) triplets.push_back({i, i + 1, -1.0});
      if (y > 0) triplets.push_back({i, i - nx, -1.25});
      if (y + 1 < ny) triplets.push_back({i, i + nx, -1.0});
    }
  return Csr<double>::from_triplets(nx * ny, nx * ny, triplets);
}

/// A dense random symmetric positive definite matrix as Csr, its diagonal scaled unevenly.
inline Csr<double> full_definite(std::int64_t n, std::uint64_t seed) {
  const Csr<double> even = with_condition(n, 100, seed);
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = even.offsets()[i]; k < even.offsets()[i + 1]; ++k) {
      const std::int32_t j = even.columns()[k];
      triplets.push_back({i, j, even.values()[k] * (1.0 + i) * (1.0 + j)});
    }
  return Csr<double>::from_triplets(n, n, triplets);
}

/// The message of what `body` throws, whose code is checked.
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

/// Products allocate nothing on the suspicious backend, also the first one.
template <class T>
void check_no_allocation(const LinearOperator<T, Checked>& M) {
  Context<Checked>& context = M.context();
  const auto x = upload(context, std::vector<T>(M.cols(), T(1)));
  Vector<T, Checked> y(context, M.rows());
  Scalar<T, Checked> xy(context);
  const auto before = context.counters();
  M.apply(x, y);
  M.apply_dot(x, y, xy);
  CHECK(context.counters().allocations == before.allocations);
  CHECK(context.counters().transfers == before.transfers);
}

}  // namespace tansolve::test
