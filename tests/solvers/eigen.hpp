// SPDX-License-Identifier: BSD-3-Clause
// Eigenproblems for the tests, and what must be true of every answer.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/solvers/lanczos.hpp>

#include "support/backends.hpp"
#include "support/systems.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace tansolve::test {

struct Found {
  EigenReport report;
  Eigen::MatrixXd vectors;
};

/// What `solver` reports of A, and the vectors that it writes.
template <class T, class B, class Solver>
Found find_by(const LinearOperator<T, B>& A, std::int64_t nev, const Solver& solver) {
  auto vectors = upload(A.context(), std::vector<T>(A.rows() * nev, T(7)));
  EigenReport report = solver(A, vectors.span());
  const auto elements = download(A.context(), vectors);
  Eigen::MatrixXd matrix(A.rows(), nev);
  std::ranges::copy(elements, matrix.data());
  return {std::move(report), std::move(matrix)};
}

template <class T, class B>
Found find(const LinearOperator<T, B>& A, const std::type_identity_t<EigenOptions<T>>& options,
           const LanczosSpace& space = {}, bool verify = true) {
  return find_by(A, options.nev, [&](const auto& a, auto vectors) {
    return lanczos(a, vectors, options, space, verify);
  });
}

inline double key(Which which, double value) {
  if (which == Which::magnitude) return -std::abs(value);
  return which == Which::smallest ? value : -value;
}

/// The wanted end of a spectrum.
inline std::vector<double> wanted_end(std::vector<double> spectrum, Which which, std::int64_t nev) {
  std::ranges::stable_sort(spectrum, {}, [=](double value) { return key(which, value); });
  spectrum.resize(nev);
  return spectrum;
}

template <class T>
std::vector<double> dense_spectrum(const Csr<T>& a) {
  const Eigen::VectorXd values = eigenvalues(dense(a));
  return {values.begin(), values.end()};
}

/// Every pair's residual as Eigen has it is what the report says, the vectors are orthonormal, and
/// the values are the wanted end of the spectrum, none missed, within the threshold.
template <class T>
void check_pairs(const Csr<T>& a, const Found& found, Which which,
                 const std::vector<double>& spectrum) {
  const EigenReport& report = found.report;
  const auto nev = std::ssize(report.pairs);
  const double eps = std::numeric_limits<T>::epsilon();
  const auto expected = wanted_end(spectrum, which, nev);
  CHECK(report.status == Status::converged);
  CHECK(report.converged_pairs() == nev);
  const Eigen::MatrixXd products = to_eigen(a) * found.vectors;
  for (std::int64_t i = 0; i < nev; ++i) {
    CAPTURE(i);
    const EigenPair& pair = report.pairs[i];
    const double residual = (products.col(i) - pair.value * found.vectors.col(i)).stableNorm();
    CHECK(pair.residual <= report.threshold);
    CHECK(std::abs(residual - pair.residual) <= 50 * eps * report.norm);
    CHECK(std::abs(key(which, pair.value) - key(which, expected[i])) <=
          report.threshold + 50 * eps * report.norm);
  }
  const Eigen::MatrixXd overlap = Eigen::MatrixXd(found.vectors.transpose()) * found.vectors;
  CHECK((overlap - Eigen::MatrixXd::Identity(nev, nev)).cwiseAbs().maxCoeff() <=
        std::max(1e-12, 32 * eps));
}

/// Symmetric with normally distributed elements where the pattern of about `per_row` a row has any.
template <class T>
Csr<T> random_symmetric(std::int64_t n, std::int64_t per_row, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Triplet<T>> triplets;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t k = 0; k < per_row; ++k) {
      const auto j = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
      const T value = static_cast<T>(normal(random));
      triplets.push_back({i, j, value});
      triplets.push_back({j, i, value});
    }
  return Csr<T>::from_triplets(n, n, triplets);
}

/// `copies` of a matrix along the diagonal.
template <class T>
Csr<T> block_diagonal(const Csr<T>& a, std::int64_t copies) {
  std::vector<Triplet<T>> triplets;
  for (std::int64_t c = 0; c < copies; ++c)
    for (std::int64_t i = 0; i < a.rows(); ++i)
      for (std::int64_t k = a.offsets()[i]; k < a.offsets()[i + 1]; ++k)
        triplets.push_back({c * a.rows() + i, c * a.cols() + a.columns()[k], a.values()[k]});
  return Csr<T>::from_triplets(copies * a.rows(), copies * a.cols(), triplets);
}

/// The Laplacian of paths of these lengths, side by side: 0 is as many fold as there are paths.
inline Csr<double> path_laplacians(const std::vector<std::int64_t>& lengths) {
  std::vector<Triplet<double>> triplets;
  std::int64_t first = 0;
  for (const std::int64_t length : lengths) {
    for (std::int64_t i = first; i < first + length; ++i) {
      triplets.push_back({i, i, double(i > first) + double(i + 1 < first + length)});
      if (i > first) triplets.push_back({i, i - 1, -1.0});
      if (i + 1 < first + length) triplets.push_back({i, i + 1, -1.0});
    }
    first += length;
  }
  return Csr<double>::from_triplets(first, first, triplets);
}

template <class T>
Csr<T> scaled(const Csr<T>& a, T factor) {
  std::vector<T> values(a.values().begin(), a.values().end());
  for (T& value : values) value *= factor;
  return Csr<T>(a.rows(), a.cols(), {a.offsets().begin(), a.offsets().end()},
                {a.columns().begin(), a.columns().end()}, values);
}

}  // namespace tansolve::test
