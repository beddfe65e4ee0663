// SPDX-License-Identifier: BSD-3-Clause
// The matrices that every test of a format or product runs over, and the folder of real files.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/histogram.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace tansolve::test {

template <class T>
struct Named {
  std::string name;
  Csr<T> matrix;
};

/// Uniformly random: each row has `per_row` entries on average; values from `value(generator)`.
template <class T, class Value>
Csr<T> random_matrix(std::int64_t rows, std::int64_t cols, double per_row, std::uint64_t seed,
                     Value value) {
  std::mt19937_64 random(seed);
  std::vector<Triplet<T>> triplets;
  const auto count = static_cast<std::int64_t>(per_row * static_cast<double>(rows));
  for (std::int64_t k = 0; k < count; ++k)
    triplets.push_back({static_cast<std::int64_t>(random() % rows),
                        static_cast<std::int64_t>(random() % cols), T(0)});
  std::sort(triplets.begin(), triplets.end(), [](const auto& a, const auto& b) {
    return std::tie(a.row, a.col) < std::tie(b.row, b.col);
  });
  triplets.erase(
      std::unique(triplets.begin(), triplets.end(),
                  [](const auto& a, const auto& b) { return a.row == b.row && a.col == b.col; }),
      triplets.end());
  for (auto& triplet : triplets) triplet.value = static_cast<T>(value(random));
  return Csr<T>::from_triplets(rows, cols, triplets);
}

/// The same shape, pattern and values, these to the bit.
template <class T>
bool same_bits(const Csr<T>& a, const Csr<T>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::ranges::equal(a.offsets(), b.offsets()) &&
         std::ranges::equal(a.columns(), b.columns()) &&
         std::ranges::equal(a.values(), b.values(),
                            [](T x, T y) { return value_bits(x) == value_bits(y); });
}

/// The shapes and values that break formats.
template <class T>
std::vector<Named<T>> nasty_matrices() {
  const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  const T tiny = std::numeric_limits<T>::denorm_min(), huge = std::numeric_limits<T>::max();
  const auto normal = [](auto& random) { return std::normal_distribution<double>()(random); };
  const auto few = [](auto& random) { return static_cast<double>(random() % 3) - 1.0; };

  std::vector<Named<T>> all;
  const auto add = [&](std::string name, std::int64_t rows, std::int64_t cols,
                       const std::vector<Triplet<T>>& triplets) {
    all.push_back({std::move(name), Csr<T>::from_triplets(rows, cols, triplets)});
  };
  add("no rows", 0, 5, {});
  add("no columns", 5, 0, {});
  add("0 x 0", 0, 0, {});
  add("no nonzeros", 70, 70, {});
  add("1 x 1", 1, 1, {{0, 0, T(2.5)}});
  add("1 x 1 empty", 1, 1, {});
  add("empty rows first and last", 100, 90, {{40, 3, T(1)}, {40, 89, T(2)}, {41, 0, T(3)}});
  add("special values", 6, 6,
      {{0, 0, nan},
       {0, 3, inf},
       {1, 1, -inf},
       {2, 2, T(-0.0)},
       {2, 5, T(0)},
       {3, 3, tiny},
       {3, 4, -tiny},
       {4, 0, huge},
       {4, 5, -huge},
       {5, 5, T(1)}});
  {
    std::vector<Triplet<T>> triplets;
    for (std::int64_t j = 0; j < 3000; ++j) triplets.push_back({17, j, T(j % 7)});
    for (std::int64_t i = 0; i < 64; ++i) triplets.push_back({i, (i * 37) % 3000, T(0.5)});
    all.push_back({"one dense row", Csr<T>::from_triplets(64, 3000, triplets)});
  }
  {
    std::vector<Triplet<T>> triplets;
    for (std::int64_t i = 0; i < 500; ++i) triplets.push_back({i, 0, T(i)});
    add("one dense column", 500, 3, triplets);
  }
  {
    std::vector<Triplet<T>> triplets;
    for (std::int64_t i = 0; i < 200; ++i)
      for (std::int64_t j = std::max<std::int64_t>(0, i - 1);
           j <= std::min<std::int64_t>(199, i + 1); ++j)
        triplets.push_back({i, j, i == j ? T(2) : T(-1)});
    add("tridiagonal", 200, 200, triplets);
  }
  add("far corners", 40, 2147483647, {{0, 0, T(1)}, {0, 2147483646, T(2)}, {39, 2147483646, T(3)}});
  all.push_back({"few values", random_matrix<T>(300, 300, 6, 1, few)});
  all.push_back({"all values different", random_matrix<T>(1000, 1000, 9, 2, normal)});
  all.push_back({"wide", random_matrix<T>(50, 20000, 300, 3, normal)});
  all.push_back({"tall", random_matrix<T>(5000, 20, 2, 4, few)});
  all.push_back({"uneven", random_matrix<T>(2000, 2000, 0.7, 5, few)});
  return all;
}

/// The folder of real matrices, when the variable TANSOLVE_MATRICES names one.
inline std::optional<std::filesystem::path> real_matrices() {
  const char* folder = std::getenv("TANSOLVE_MATRICES");
  if (folder == nullptr || !std::filesystem::is_directory(folder)) return std::nullopt;
  return folder;
}

}  // namespace tansolve::test
