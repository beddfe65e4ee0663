// SPDX-License-Identifier: BSD-3-Clause
// Matrices that are read in blocks of rows: the same bytes as from memory, by any number of
// threads.
#include "support/matrices.hpp"
#include "support/plans.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <numeric>
#include <stdexcept>

using namespace tansolve;

namespace {

/// A matrix in memory that is read as if it were not; `later`, if given, is what it becomes after
/// so many reads.
template <class T>
class CopiedRows final : public StreamedRows<T> {
 public:
  explicit CopiedRows(const Csr<T>& matrix)
      : StreamedRows<T>(matrix.cols(), {matrix.offsets().begin(), matrix.offsets().end()}),
        matrix_(matrix) {}

  void become(const Csr<T>& later, int reads) {
    later_ = &later;
    reads_ = reads;
  }
  std::int64_t most_rows() const { return most_rows_; }
  std::int64_t entries_read() const { return entries_read_; }

 private:
  void read(std::int64_t begin, std::int64_t end, std::int32_t* columns, T* values) const override {
    const Csr<T>& matrix = later_ != nullptr && reads_-- <= 0 ? *later_ : matrix_;
    for (auto most = most_rows_.load(); end - begin > most;)
      most_rows_.compare_exchange_weak(most, end - begin);
    const std::int64_t first = this->offsets()[begin], count = this->offsets()[end] - first;
    entries_read_ += count;
    std::copy_n(matrix.columns().data() + first, count, columns);
    std::copy_n(matrix.values().data() + first, count, values);
  }

  const Csr<T>& matrix_;
  const Csr<T>* later_ = nullptr;
  mutable std::atomic<int> reads_ = 0;
  mutable std::atomic<std::int64_t> most_rows_ = 0, entries_read_ = 0;
};

template <class T>
bool same_parts(const CompressedParts<T>& a, const CompressedParts<T>& b) {
  const auto bits_of = [](const std::vector<T>& values) {
    std::vector<std::uint64_t> bits;
    for (const T value : values) bits.push_back(value_bits(value));
    return bits;
  };
  bool same = a.plan == b.plan && a.words == b.words && a.slice_offsets == b.slice_offsets &&
              std::ranges::equal(a.row_lengths.bytes(), b.row_lengths.bytes()) &&
              a.row_lengths.constant() == b.row_lengths.constant() &&
              a.tables.size() == b.tables.size();
  for (std::size_t t = 0; same && t < a.tables.size(); ++t)
    same = a.tables[t].code.slots == b.tables[t].code.slots &&
           a.tables[t].deltas == b.tables[t].deltas &&
           bits_of(a.tables[t].values) == bits_of(b.tables[t].values);
  const ArrayParts<T>&x = a.arrays, &y = b.arrays;
  return same && x.patterns.starts == y.patterns.starts &&
         x.patterns.offsets == y.patterns.offsets && x.patterns.negative == y.patterns.negative &&
         bits_of(x.patterns.values) == bits_of(y.patterns.values) &&
         x.column_words == y.column_words && x.columns.bits == y.columns.bits &&
         x.columns.first == y.columns.first && x.columns.relative == y.columns.relative &&
         x.values.bits == y.values.bits && x.values.shift == y.values.shift &&
         x.values.least == y.values.least && x.values.sign == y.values.sign &&
         bits_of(x.values.dictionary) == bits_of(y.values.dictionary) &&
         x.values.exception_places == y.values.exception_places &&
         bits_of(x.values.exceptions) == bits_of(y.values.exceptions) &&
         x.order.order == y.order.order && x.order.long_rows == y.order.long_rows &&
         x.order.long_starts == y.order.long_starts;
}

}  // namespace

TEST_CASE_TEMPLATE("rows that are read give the bytes of rows in memory, by every plan", T, double,
                   float) {
  auto matrices = test::nasty_matrices<T>();
  matrices.push_back({"coefficients", convert<T>(generate("varcoef7:12"))});
  matrices.push_back({"uneven", convert<T>(generate("laplacian:ba:3000:6"))});
  for (const auto& [name, matrix] : matrices)
    for (const Plan& plan : test::all_plans({3})) {
      CAPTURE(name);
      CAPTURE(traits(plan.coding).name);
      const CopiedRows<T> rows(matrix);
      Survey<T> survey(rows, 2);
      const auto streamed = encode(survey, plan);
      CHECK(same_parts(streamed.parts(), encode(matrix, plan, count_pairs(matrix)).parts()));
      CHECK(test::same_bits(streamed.decode(), matrix));
    }
}

TEST_CASE("plans and bytes do not depend on the number of threads or on where rows come from") {
  for (const char* specification :
       {"poisson27:34", "varcoef7:34:1e6", "band:40000:12:300:16", "heisenberg:16"})
    for (const Processor processor : {Processor::host, Processor::gpu})
      for (const Objective objective : {Objective::memory, Objective::time}) {
        CAPTURE(specification);
        const auto matrix = generate(specification);
        const auto rows = generate_rows(specification);
        REQUIRE(rows != nullptr);
        const PlanRequest request = {.processor = processor, .objective = objective};
        PlanChoice choice, streamed_choice;
        const auto once = compress(matrix, {.plan = request, .threads = 1}, &choice);
        CHECK(test::same_bits(once.decode(), matrix));
        for (const int threads : {2, 3})
          CHECK(same_parts(once.parts(),
                           compress(matrix, {.plan = request, .threads = threads}).parts()));
        const auto streamed = compress(*rows, {.plan = request, .threads = 3}, &streamed_choice);
        CHECK(same_parts(once.parts(), streamed.parts()));
        CHECK(choice.chosen.bytes == streamed_choice.chosen.bytes);
        CHECK(choice.chosen.nanoseconds == streamed_choice.chosen.nanoseconds);
      }
}

TEST_CASE("blocks that are read stay small") {
  const auto matrix = generate("poisson5:300x300");
  const CopiedRows<double> rows(matrix);
  compress(rows, {.plan = {.processor = Processor::gpu}, .threads = 1});
  CHECK(rows.most_rows() <= 1 << 16);
}

TEST_CASE("a long row is not read anew for each of its pieces") {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t j = 0; j < 100'000; ++j) triplets.push_back({700, j, 1.0 / (1.0 + j)});
  for (std::int64_t i = 0; i < 2000; ++i) triplets.push_back({i, 50 * i, 2.0});
  const auto matrix = Csr<double>::from_triplets(2000, 100'000, triplets);
  const CopiedRows<double> rows(matrix);
  Survey<double> survey(rows, 1);
  const auto packed = encode(survey, {.coding = Coding::packed});
  CHECK(packed.parts().arrays.order.pieces() > 100);
  CHECK(rows.entries_read() < 10 * matrix.nnz());
}

TEST_CASE("what a source throws comes through, whenever it does") {
  class Failing final : public StreamedRows<double> {
   public:
    explicit Failing(int reads)
        : StreamedRows(100'000,
                       [] {
                         std::vector<std::int64_t> offsets(100'001);
                         std::iota(offsets.begin(), offsets.end(), 0);
                         return offsets;
                       }()),
          reads_(reads) {}

   private:
    void read(std::int64_t begin, std::int64_t end, std::int32_t* columns,
              double* values) const override {
      if (reads_-- == 0) throw std::runtime_error("the disk is gone");
      for (std::int64_t row = begin; row < end; ++row) {
        *columns++ = static_cast<std::int32_t>(row);
        *values++ = static_cast<double>(row % 7);
      }
    }
    mutable std::atomic<int> reads_;
  };
  for (const int reads : {0, 1, 600, 4700})
    for (const Plan& plan : test::all_plans({1})) {
      CAPTURE(traits(plan.coding).name);
      const Failing rows(reads);
      Survey<double> survey(rows, 2);
      const auto encode_it = [&] {
        choose_plan(survey, {.processor = Processor::gpu});
        encode(survey, plan);
      };
      CHECK_THROWS_WITH_AS(encode_it(), "the disk is gone", std::runtime_error);
    }
}

TEST_CASE("a source whose columns are no matrix is refused by its row") {
  class Wrong final : public StreamedRows<double> {
   public:
    explicit Wrong(std::int32_t wrong) : StreamedRows(10, {0, 2, 4, 6}), wrong_(wrong) {}

   private:
    void read(std::int64_t begin, std::int64_t end, std::int32_t* columns,
              double* values) const override {
      for (std::int64_t row = begin; row < end; ++row)
        for (int k = 0; k < 2; ++k) {
          *columns++ = row == 1 && k == 1 ? wrong_ : 3 + k;
          *values++ = 1;
        }
    }
    std::int32_t wrong_;
  };
  for (const std::int32_t wrong : {-1, 3, 10, std::numeric_limits<std::int32_t>::max()})
    CHECK_THROWS_WITH_AS(compress(Wrong(wrong)), doctest::Contains("row 1 must increase"), Error);
  CHECK_NOTHROW(compress(Wrong(9)));
}

TEST_CASE("offsets that are no offsets are refused") {
  class Empty final : public StreamedRows<double> {
   public:
    using StreamedRows::StreamedRows;

   private:
    void read(std::int64_t, std::int64_t, std::int32_t*, double*) const override {}
  };
  CHECK_THROWS_WITH_AS(Empty(3, {}), doctest::Contains("must begin with 0"), Error);
  CHECK_THROWS_WITH_AS(Empty(3, {1, 2}), doctest::Contains("must begin with 0"), Error);
  CHECK_THROWS_WITH_AS(Empty(3, {0, 2, 1}), doctest::Contains("row 1 begins at 2 and ends at 1"),
                       Error);
  CHECK_THROWS_WITH_AS(Empty(3, {0, 2, 6}), doctest::Contains("row 1 begins at 2 and ends at 6"),
                       Error);
  CHECK_NOTHROW(Empty(3, {0, 2, 5}));
  CHECK_THROWS_WITH_AS(Empty(-1, {0}), doctest::Contains("the dimensions"), Error);
}

TEST_CASE("a source that changes between two reads gives no matrix that reads out of bounds") {
  const auto matrix = generate("band:500:6:40:16"), other = generate("band:500:6:400:0");
  for (const Plan& plan : test::all_plans({1}))
    for (int reads = 0; reads < 600; reads += 97) {
      CAPTURE(traits(plan.coding).name);
      CAPTURE(reads);
      CopiedRows<double> rows(matrix);
      rows.become(other, reads);
      Survey<double> survey(rows, 1);
      try {
        const auto encoded = encode(survey, plan);
        CHECK_NOTHROW(CompressedMatrix<double>(encoded.parts()));
      } catch (const Error& error) {
        CHECK(error.code() != ErrorCode::internal);
      }
    }
}
