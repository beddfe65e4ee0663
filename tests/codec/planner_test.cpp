// SPDX-License-Identifier: BSD-3-Clause
// The planner's predictions against what encoding gives, and its choices.
#include "support/matrices.hpp"
#include "support/plans.hpp"

#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/planner.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

using namespace tansolve;

TEST_CASE("predicted bytes agree with the encoded matrix within a tenth") {
  for (const char* specification : {"poisson27:20", "poisson7:24", "fem3:10", "varcoef7:20",
                                    "band:20000:16:300:16", "er:20000:8", "heisenberg:16"})
    for (const Plan& plan : test::all_plans({2})) {
      CAPTURE(specification);
      CAPTURE(traits(plan.coding).name);
      CAPTURE(static_cast<int>(plan.row_ends));
      const auto matrix = generate(specification);
      const Histogram histogram = count_pairs(matrix);
      PlanRequest request = {.coding = plan.coding};
      if (is_stream(plan.coding)) {
        request.rows_per_lane = plan.rows_per_lane;
        request.row_ends = plan.row_ends;
      }
      const auto choice = choose_plan(matrix, histogram, request);
      const auto encoded = encode(matrix, choice.chosen.plan, histogram);
      CHECK(choice.chosen.bytes ==
            doctest::Approx(static_cast<double>(encoded.storage().total())).epsilon(0.1));
    }
}

TEST_CASE("lanes without entries cost nothing, and are predicted so") {
  std::mt19937_64 random(5);
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < 4000; i += 5)
    for (std::int64_t j = random() % 40; j < 4000; j += 1 + random() % 300)
      triplets.push_back({i, j, j % 2 == 0 ? 0.5 : -0.5});
  const auto matrix = Csr<double>::from_triplets(4000, 4000, triplets);
  const Histogram histogram = count_pairs(matrix);
  for (const int rows_per_lane : {1, 2})
    for (const RowEnds row_ends : {RowEnds::aligned, RowEnds::crossing}) {
      const auto choice = choose_plan(
          matrix, histogram,
          {.coding = Coding::paper, .rows_per_lane = rows_per_lane, .row_ends = row_ends});
      const auto encoded = encode(matrix, choice.chosen.plan, histogram);
      CHECK(choice.chosen.bytes ==
            doctest::Approx(static_cast<double>(encoded.storage().total())).epsilon(0.1));
    }
}

TEST_CASE("where few columns have many signs, shapes is encoded as it was predicted") {
  std::mt19937_64 random(7);
  std::vector<Triplet<double>> triplets;
  for (std::int64_t i = 0; i < 1000; ++i)
    for (std::int64_t j = i; j < std::min<std::int64_t>(i + 12, 1000); ++j)
      triplets.push_back({i, j, std::normal_distribution<double>()(random)});
  const auto matrix = Csr<double>::from_triplets(1000, 1000, triplets);
  const Histogram histogram = count_pairs(matrix);
  const auto choice = choose_plan(matrix, histogram, {.objective = Objective::memory});
  REQUIRE(choice.chosen.plan.coding == Coding::shapes);
  const auto encoded = encode(matrix, choice.chosen.plan, histogram);
  CHECK(choice.chosen.bytes ==
        doctest::Approx(static_cast<double>(encoded.storage().total())).epsilon(0.02));
}

TEST_CASE("the memory objective takes the fewest bytes and the time objective the least time") {
  const auto matrix = generate("poisson27:16");
  const Histogram histogram = count_pairs(matrix);
  for (const Objective objective : {Objective::memory, Objective::time}) {
    const auto choice = choose_plan(matrix, histogram, {.objective = objective});
    CHECK(choice.considered.size() == all_codings.size());
    for (const Candidate& candidate : choice.considered) {
      if (objective == Objective::memory)
        CHECK(choice.chosen.bytes <= candidate.bytes);
      else
        CHECK(choice.chosen.nanoseconds <= candidate.nanoseconds);
    }
  }
}

TEST_CASE("compression pays in memory on a stencil and not on unique pairs") {
  const PlanRequest memory = {.objective = Objective::memory};
  const auto stencil = generate("poisson7:12");
  CHECK(choose_plan(stencil, count_pairs(stencil), memory).compression_pays);
  const auto unique = test::random_matrix<double>(
      3000, 2000000000, 3, 8, [](auto& random) { return value_of_bits<double>(random()); });
  CHECK_FALSE(choose_plan(unique, count_pairs(unique), memory).compression_pays);
}

TEST_CASE("on a gpu rows that repeat are patterns, their columns shapes, and bands are packed") {
  for (const auto& [specification, coding] :
       {std::pair("poisson27:48", Coding::patterns), std::pair("poisson7:70", Coding::patterns),
        std::pair("fem3:24", Coding::patterns), std::pair("varcoef7:64", Coding::shapes),
        std::pair("fem3u:24", Coding::shapes), std::pair("band:90000:32:1500:16", Coding::packed),
        std::pair("band:90000:32:1500:0", Coding::packed)}) {
    CAPTURE(specification);
    const auto matrix = generate(specification);
    const auto choice = choose_plan(matrix, count_pairs(matrix), {.processor = Processor::gpu});
    CHECK(traits(choice.chosen.plan.coding).name == traits(coding).name);
    CHECK(choice.compression_pays);
  }
  // Scattered columns of the same few values compress, all values different do not.
  const auto random = generate("er:300000:16");
  CHECK(choose_plan(random, count_pairs(random), {.processor = Processor::gpu}).compression_pays);
  const auto unique = test::random_matrix<double>(
      100'000, 100'000, 16, 8, [](auto& generator) { return value_of_bits<double>(generator()); });
  CHECK_FALSE(
      choose_plan(unique, count_pairs(unique), {.processor = Processor::gpu}).compression_pays);
}

TEST_CASE("on a gpu rows that one lane waits for cost what they wait") {
  // A small band's rows hide no latencies; where more warps have rows, others multiply meanwhile.
  for (const auto& [specification, pays] :
       {std::pair("band:2000:80:300:0", false), std::pair("band:200000:80:300:0", true)}) {
    CAPTURE(specification);
    const auto matrix = generate(specification);
    const auto choice = choose_plan(matrix, count_pairs(matrix),
                                    {.processor = Processor::gpu, .coding = Coding::packed});
    CHECK(choice.compression_pays == pays);
  }
}

TEST_CASE("forced parts of a plan are kept, and bad ones refused") {
  const auto matrix = generate("poisson5:40");
  const Histogram histogram = count_pairs(matrix);
  const auto choice =
      choose_plan(matrix, histogram,
                  {.coding = Coding::paper, .rows_per_lane = 5, .row_ends = RowEnds::crossing});
  CHECK(choice.chosen.plan == Plan{Coding::paper, 5, RowEnds::crossing});
  CHECK(choice.reason == "paper was asked for");
  CHECK(is_stream(choose_plan(matrix, histogram, {.rows_per_lane = 3}).chosen.plan.coding));
  CHECK_THROWS_WITH_AS(
      choose_plan(matrix, histogram, {.coding = Coding::patterns, .rows_per_lane = 3}),
      doctest::Contains("patterns has no streams"), Error);
  CHECK_THROWS_WITH_AS(choose_plan(matrix, histogram, {.rows_per_lane = 0}),
                       doctest::Contains("rows per lane"), Error);
  CHECK(parse_coding("fixed12") == Coding::fixed12);
  CHECK_THROWS_WITH_AS(parse_coding("huffman"), doctest::Contains("paper, joint, byte"), Error);
}

TEST_CASE("matrices without rows or nonzeros have a plan") {
  for (const auto& [name, matrix] : test::nasty_matrices<double>()) {
    CAPTURE(name);
    const Histogram histogram = count_pairs(matrix);
    for (const Objective objective : {Objective::memory, Objective::time}) {
      const auto choice = choose_plan(matrix, histogram, {.objective = objective});
      CHECK(test::same_bits(encode(matrix, choice.chosen.plan, histogram).decode(), matrix));
    }
  }
}
