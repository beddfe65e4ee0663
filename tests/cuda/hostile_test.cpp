// SPDX-License-Identifier: BSD-3-Clause
// Containers with right checksums and hostile contents: refused before the GPU sees them, or
// multiplied there without a look or a write beyond their vectors.
#include "cuda/products.hpp"
#include "support/backends.hpp"
#include "support/crafted.hpp"
#include "support/files.hpp"
#include "support/matrices.hpp"
#include "support/plans.hpp"

#include <tansolve/codec/encode.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/primitives.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <variant>
#include <vector>

namespace tansolve::test {
namespace {

template <class T>
std::string container_of(const CompressedMatrix<T>& matrix) {
  const TemporaryFolder folder;
  save_container(folder / "m.tans", matrix);
  return read_bytes(folder / "m.tans");
}

/// Products with vectors that lie between NaN, which who reads beyond them finds, and who writes
/// there changes.
template <class T>
void check_within_bounds(Context<Cuda>& context, const CompressedMatrix<T>& matrix) {
  constexpr std::int64_t margin = 64, columns = 3;
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const std::int64_t rows = matrix.rows(), cols = matrix.cols();
  const Csr<T> decoded = matrix.decode(1);
  const CompressedOperator<T, Cuda> A(context, matrix);
  const auto x = uniform_vector<T>(cols, 3);
  std::vector<T> around(margin, nan);
  for (std::int64_t c = 0; c < columns; ++c) around.insert(around.end(), x.begin(), x.end());
  around.insert(around.end(), margin, nan);
  const auto X = upload(context, around);
  Vector<T, Cuda> Y(context, columns * rows + 2 * margin);
  const Expected<T> expected(decoded, 1, x, 0, std::vector<T>(rows));
  const auto check = [&](std::int64_t count, const auto& product) {
    fill(context, nan, Y.span());
    product(X.span().subspan(margin, count * cols), Y.span().subspan(margin, count * rows));
    const auto found = download(context, Y);
    const auto begin = found.begin() + margin, end = begin + count * rows;
    for (std::int64_t c = 0; c < count; ++c)
      CHECK(expected.agrees(std::vector<T>(begin + c * rows, begin + (c + 1) * rows)));
    const auto untouched = [](T value) { return value != value; };
    CHECK(std::all_of(found.begin(), begin, untouched));
    CHECK(std::all_of(end, found.end(), untouched));
  };
  check(1, [&](auto in, auto out) { A.apply(in, out); });
  check(columns, [&](auto in, auto out) { A.apply_block(columns, in, out); });
}

/// What becomes of a file in which a few bytes are others.
struct Counts {
  int refused = 0, computed = 0;
};

void craft(Context<Cuda>& context, std::string file, std::mt19937_64& random, Counts& counts) {
  for (std::uint64_t n = 1 + random() % 3; n > 0; --n) {
    // Mostly beyond the header and the table of sections.
    const std::size_t first = random() % 8 == 0 ? 8 : 192;
    char& byte = file[first + random() % (file.size() - first)];
    byte = static_cast<char>(random() % 3 == 0 ? 0xff : random() % 2 == 0 ? byte + 1 : random());
  }
  repair_container(file);
  try {
    const AnyCompressedMatrix any = parse_container(file, "crafted", 1);
    std::visit(
        [&](const auto& matrix) {
          if (matrix.rows() > 1 << 20 || matrix.cols() > 1 << 20) return;  // gigabytes of vectors
          check_within_bounds(context, matrix);
          ++counts.computed;
        },
        any);
  } catch (const Error& error) {
    CHECK(error.code() == ErrorCode::bad_input);
    ++counts.refused;
  }
}

/// A code with escapes, short and empty rows.
template <class T>
Csr<T> escaping_matrix() {
  return random_matrix<T>(40, 60, 4, 17, [](auto& random) {
    return random() % 4 == 0 ? static_cast<double>(random() % 1000000) : 1.5;
  });
}

/// Rows in pieces, and exceptions from the format of values.
Csr<double> matrix_of_long_rows() {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t j = 0; j < 600; ++j)
    triplets.push_back({3, j, j % 300 == 7 ? 1e300 : 1 + 1e-9 * static_cast<double>(j * j)});
  for (std::int64_t i = 0; i < 40; ++i) triplets.push_back({i, 600, 1.25});
  return Csr<double>::from_triplets(40, 601, triplets);
}

TEST_CASE("hostile containers with right checksums are refused, or stay within their memory") {
  Context<Cuda> context;
  std::mt19937_64 random(7);
  const auto craft_every_plan = [&](const auto& matrix) {
    const Histogram histogram = count_pairs(matrix);
    for (const Plan& plan : all_plans({1, 3})) {
      CAPTURE(traits(plan.coding).name);
      CAPTURE(plan.rows_per_lane);
      CAPTURE(static_cast<int>(plan.row_ends));
      const std::string file = container_of(encode(matrix, plan, histogram));
      Counts counts;
      for (int trial = 0; trial < 24 || (counts.computed < 6 && trial < 1000); ++trial)
        craft(context, file, random, counts);
      CHECK(counts.refused > 0);
      CHECK(counts.computed >= 6);
    }
  };
  craft_every_plan(escaping_matrix<double>());
  craft_every_plan(escaping_matrix<float>());
  craft_every_plan(matrix_of_long_rows());
  CHECK_NOTHROW(context.synchronize());
}

}  // namespace
}  // namespace tansolve::test
