// SPDX-License-Identifier: BSD-3-Clause
// The codings without streams: their bits, their formats, and what a reader must refuse.
#include "support/matrices.hpp"

#include <tansolve/codec/array_encode.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/fields.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/row_patterns.hpp>
#include <tansolve/codec/value_format.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <random>

using namespace tansolve;

namespace {

template <class T>
CompressedMatrix<T> encoded(const Csr<T>& matrix, Coding coding, int threads = 2) {
  return encode(matrix, {.coding = coding}, count_pairs(matrix), {.threads = threads});
}

template <class T>
void check_round_trip(const Csr<T>& matrix, Coding coding) {
  const auto once = encoded(matrix, coding, 1), again = encoded(matrix, coding, 3);
  CHECK(test::same_bits(once.decode(), matrix));
  CHECK(once.parts().words == again.parts().words);
  CHECK(once.parts().arrays.values.exception_places ==
        again.parts().arrays.values.exception_places);
  CHECK_NOTHROW(CompressedMatrix<T>(once.parts()));
}

/// `rows` rows of `per_row` entries, values from value(k).
Csr<double> dense_band(std::int64_t rows, std::int64_t per_row,
                       const std::function<double(std::int64_t)>& value) {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < per_row; ++k)
      triplets.push_back({i, i + k, value(i * per_row + k)});
  return Csr<double>::from_triplets(rows, rows + per_row, triplets);
}

}  // namespace

TEST_CASE("fields of every width come back from their planes") {
  std::mt19937_64 random(7);
  for (int bits = 0; bits <= 64; ++bits) {
    CAPTURE(bits);
    CHECK(stored_bits(bits) >= bits);
    CHECK(stored_bits(stored_bits(bits)) == stored_bits(bits));
    if (stored_bits(bits) != bits) continue;
    for (std::int64_t width = 1; width < 9; ++width) {
      const FieldSlice slices[] = {{0, width}, {width, 3}};
      const std::int64_t entries = width + 3;
      std::vector<std::uint32_t> words(entries * bits);
      std::vector<std::uint64_t> fields(entries * warp_size);
      for (auto& field : fields) field = bits == 0 ? 0 : random() >> (64 - bits);
      with_field_writer(words.data(), bits, entries, [&](const auto& writer) {
        for (const FieldSlice& slice : slices)
          for (int j = 0; j < warp_size; ++j)
            writer.put_lane(slice, j, slice.width, [&](std::int64_t k) {
              return fields[(slice.first + k) * warp_size + j];
            });
      });
      const FieldPlanes planes(words.data(), bits, entries);
      bool same = true;
      for (const FieldSlice& slice : slices)
        for (std::int64_t k = 0; k < slice.width; ++k)
          for (int j = 0; j < warp_size; ++j)
            same = same && planes.get(slice, k, j) == fields[(slice.first + k) * warp_size + j];
      CHECK(same);
    }
  }
}

TEST_CASE("the example of the specification has its words") {
  const auto matrix = Csr<double>::from_triplets(
      2, 3, std::vector<Triplet<double>>{{0, 0, 1.0}, {0, 1, -1.0}, {1, 1, 1.0}, {1, 2, 2.0}});
  const auto packed = encoded(matrix, Coding::packed);
  std::vector<std::uint32_t> columns(16), values(16);
  columns[0] = 0x02010100;
  values[0] = 0x01008000;
  CHECK(packed.parts().arrays.column_words == columns);
  CHECK(packed.parts().arrays.values.shift == 52);
  CHECK(packed.parts().words == values);
}

TEST_CASE("rows of a stencil follow few patterns, and boundary rows have their own") {
  const auto matrix = generate("poisson27:6");
  const auto found = find_patterns(CsrRows(matrix), PatternKind::values, 1000);
  REQUIRE(found.has_value());
  CHECK(found->patterns.count() == 27);
  CHECK_FALSE(find_patterns(CsrRows(matrix), PatternKind::values, 26).has_value());
  const auto compressed = encoded(matrix, Coding::patterns);
  CHECK(compressed.storage().row_lengths == matrix.rows());
  CHECK(compressed.storage().payload == 0);
}

TEST_CASE("values are written in the fewest bits of what suits them") {
  const auto format_of = [](const Csr<double>& matrix, bool sign) {
    return choose_value_format(find_value_facts(CsrRows(matrix)), sign);
  };
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> within(1.0, 255.0);
  SUBCASE("few distinct values: a dictionary") {
    const auto choice = format_of(
        dense_band(500, 6, [](auto k) { return 0.1 * static_cast<double>(k % 200); }), true);
    CHECK(choice.format.dictionary.size() == 200);
    CHECK(choice.format.bits == 8);
  }
  SUBCASE("eight exponents and a sign: seven bytes") {
    const auto matrix = dense_band(2000, 6, [&](auto) { return within(random); });
    const auto choice = format_of(matrix, true);
    CHECK(choice.format.bits == 56);
    CHECK(choice.exceptions == 0);
    CHECK(format_of(matrix, false).format.bits == 56);  // 55 are no width that is stored
    const auto wider =
        dense_band(2000, 6, [&](auto k) { return within(random) * (k % 2 == 0 ? 1 : 256); });
    CHECK(format_of(wider, true).format.bits == 57);
  }
  SUBCASE("integers: their zeros are dropped") {
    const auto matrix =
        dense_band(4000, 6, [](auto k) { return static_cast<double>(k + (1 << 15)); });
    CHECK(format_of(matrix, false).format.bits <= 24);
  }
  SUBCASE("a rare value far off is an exception") {
    const auto matrix =
        dense_band(2000, 6, [&](auto k) { return k % 5000 == 7 ? 1e-300 : within(random); });
    const auto choice = format_of(matrix, true);
    CHECK(choice.exceptions == 3);
    CHECK(choice.format.bits == 56);
    const auto compressed = encoded(matrix, Coding::packed);
    CHECK(compressed.parts().arrays.values.exceptions ==
          std::vector<double>{1e-300, 1e-300, 1e-300});
  }
  SUBCASE("powers of two need no window, and come back") {
    for (const auto& [often, rarely] :
         {std::pair(2.0, 8.0), std::pair(0.5, 2.0), std::pair(2.0, 32.0), std::pair(-1.0, 4.0)}) {
      const auto matrix = dense_band(500, 4, [&, frequent = often, rare = rarely](auto k) {
        return k % 1000 == 7 ? rare : frequent;
      });
      check_round_trip(matrix, Coding::packed);
      check_round_trip(matrix, Coding::shapes);
      CHECK(encoded(matrix, Coding::packed).parts().arrays.values.exceptions.size() <= 2);
    }
  }
  SUBCASE("anything goes as it is") {
    const auto matrix = dense_band(300, 6, [&](auto) { return value_of_bits<double>(random()); });
    CHECK(format_of(matrix, true).format.bits == 64);
  }
}

TEST_CASE("signs ride in the patterns of shapes where these stay few") {
  const auto matrix = generate("varcoef7:12");
  const auto compressed = encoded(matrix, Coding::shapes);
  CHECK_FALSE(compressed.parts().arrays.patterns.negative.empty());
  CHECK_FALSE(compressed.parts().arrays.values.sign);
  check_round_trip(matrix, Coding::shapes);
}

TEST_CASE("long rows are cut into pieces, and uneven rows sorted") {
  const auto matrix = generate("laplacian:ba:30000:6");
  const auto compressed = encoded(matrix, Coding::packed);
  const RowOrder& order = compressed.parts().arrays.order;
  CHECK(order.long_rows.size() > 0);
  CHECK(order.pieces() > std::ssize(order.long_rows));
  CHECK(std::ssize(order.order) == matrix.rows() - std::ssize(order.long_rows) + order.pieces());
  const auto padded = compressed.parts().slice_offsets.back() * warp_size;
  CHECK(padded < 1.25 * static_cast<double>(matrix.nnz()));
  CHECK(std::ranges::equal(compressed.row_offsets(), matrix.offsets()));
  check_round_trip(matrix, Coding::packed);
}

TEST_CASE("arrays that do not fit each other are refused") {
  const auto expect = [](const CompressedMatrix<double>& good, const char* what,
                         const std::function<void(CompressedParts<double>&)>& spoil) {
    CAPTURE(what);
    auto parts = good.parts();
    spoil(parts);
    CHECK_THROWS_AS(CompressedMatrix<double>(std::move(parts)), Error);
  };
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> within(1.0, 200.0);
  const auto values =
      dense_band(300, 5, [&](auto k) { return k % 400 == 7 ? 1e200 : within(random); });
  const auto packed = encoded(values, Coding::packed);
  const auto shapes = encoded(generate("varcoef7:6"), Coding::shapes);
  const auto patterns = encoded(generate("poisson7:6"), Coding::patterns);
  const auto cut = encoded(generate("laplacian:ba:20000:6"), Coding::packed);
  REQUIRE_FALSE(packed.parts().arrays.values.exceptions.empty());
  REQUIRE(cut.parts().arrays.order.pieces() > 2);

  expect(packed, "a word too few", [](auto& p) { p.words.pop_back(); });
  expect(packed, "a column word too few", [](auto& p) { p.arrays.column_words.pop_back(); });
  expect(packed, "a column far off", [](auto& p) { p.arrays.columns.first += 400; });
  expect(packed, "no slice offsets", [](auto& p) { p.slice_offsets.clear(); });
  expect(packed, "slices that overlap", [](auto& p) { --p.slice_offsets[1]; });
  expect(packed, "a width that is not stored", [](auto& p) { p.arrays.values.bits = 61; });
  expect(packed, "a shift beyond the word", [](auto& p) { p.arrays.values.shift = 63; });
  expect(packed, "an exception without a place",
         [](auto& p) { p.arrays.values.exception_places.pop_back(); });
  expect(packed, "an exception at a wrong place",
         [](auto& p) { ++p.arrays.values.exception_places[0]; });
  expect(packed, "an exception too few", [](auto& p) {
    p.arrays.values.exception_places.pop_back();
    p.arrays.values.exceptions.pop_back();
  });
  expect(packed, "an exception beyond the end", [](auto& p) {
    p.arrays.values.exception_places.push_back(std::numeric_limits<std::uint64_t>::max());
    p.arrays.values.exceptions.push_back(1);
  });
  expect(packed, "a field beyond the end of a row", [](auto& p) { p.words.back() = 1; });
  expect(cut, "columns relative to pieces", [](auto& p) { p.arrays.columns.relative = true; });
  expect(cut, "a long row without pieces",
         [](auto& p) { p.arrays.order.long_starts[1] = p.arrays.order.long_starts[0]; });
  expect(packed, "patterns of their own", [](auto& p) {
    p.arrays.patterns.starts = {0};
    p.arrays.patterns.offsets = {1};
  });
  expect(packed, "rows a lane", [](auto& p) { p.plan.rows_per_lane = 2; });
  expect(cut, "a row twice", [](auto& p) { p.arrays.order.order[0] = p.arrays.order.order[1]; });
  expect(cut, "a piece that is none", [](auto& p) { p.arrays.order.order.back() += 9; });
  expect(cut, "pieces in the wrong order", [](auto& p) {
    std::swap(p.arrays.order.order.back(), *(p.arrays.order.order.end() - 2));
  });
  expect(cut, "a long row out of range", [](auto& p) { p.arrays.order.long_rows[0] = 20000; });
  expect(cut, "starts that fall", [](auto& p) { p.arrays.order.long_starts[1] = 1u << 30; });
  expect(shapes, "a pattern that is none", [](auto& p) { p.arrays.patterns.starts.pop_back(); });
  expect(shapes, "a sign that is none", [](auto& p) { p.arrays.patterns.negative[0] = 2; });
  expect(shapes, "an order of rows", [](auto& p) { p.arrays.order.order.resize(p.rows); });
  expect(patterns, "columns that fall",
         [](auto& p) { std::swap(p.arrays.patterns.offsets[0], p.arrays.patterns.offsets[1]); });
  expect(patterns, "a value too few", [](auto& p) { p.arrays.patterns.values.pop_back(); });
  expect(patterns, "fields besides", [](auto& p) { p.words.push_back(0); });
}
