// SPDX-License-Identifier: BSD-3-Clause
// What compression takes of memory while it works, against what goes in and comes out, and what is
// left where memory runs out.
#include "load/allocations.hpp"
#include "support/matrices.hpp"
#include "support/plans.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/update_values.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace tansolve::test {
namespace {

/// Bytes of a compressed matrix, and the most that were in use besides those before.
struct Used {
  std::int64_t compressed, peak;
};

template <class Rows>
Used used(const Rows& rows, const PlanRequest& plan) {
  const std::int64_t before = live_bytes();
  forget_peak();
  const auto matrix = compress(rows, {.plan = plan, .threads = 2});
  return {matrix.storage().total(), peak_bytes() - before};
}

TEST_CASE("compression peaks below 1.3 times the csr matrix and the compressed one") {
  if (live_bytes() == 0) {
    MESSAGE("skipped: allocated bytes are not told here");
    return;
  }
  for (const std::string spec : {"poisson27:60", "varcoef7:90", "fem3u:20", "band:120000:32:1500:0",
                                 "band:120000:32:1500:16", "heisenberg:18", "er:250000:16"})
    for (const Objective objective : {Objective::time, Objective::memory}) {
      CAPTURE(spec);
      CAPTURE(static_cast<int>(objective));
      const auto matrix = generate(spec);
      const auto [compressed, peak] =
          used(matrix, {.processor = Processor::gpu, .objective = objective});
      const std::int64_t csr = 8 * (matrix.rows() + 1) + 12 * matrix.nnz();
      CHECK(static_cast<double>(csr + peak) < 1.3 * static_cast<double>(csr + compressed));
    }
}

TEST_CASE("rows that are read one by one are never in memory together") {
  if (live_bytes() == 0) {
    MESSAGE("skipped: allocated bytes are not told here");
    return;
  }
  const auto rows = generate_rows("poisson27:80");
  const auto [compressed, peak] = used(*rows, {.processor = Processor::gpu});
  CHECK(peak < compressed + 30 * rows->rows() + 2 * 12 * (std::int64_t{27} << 14));
}

TEST_CASE("where memory runs out under new values, the old ones are left, or fields of zeros") {
  const auto matrix = generate("varcoef7:6"), other = generate("varcoef7:6@5");
  std::vector<double> values(other.values().begin(), other.values().end());
  values[77] = 1e-300;
  const std::span<const double> given(values);
  for (const Plan& plan : all_plans({2})) {
    CAPTURE(traits(plan.coding).name);
    bool failed = true;
    for (std::int64_t count = 0; failed; count += 1 + count / 8) {
      CAPTURE(count);
      auto compressed = encode(matrix, plan, count_pairs(matrix));
      fail_after(count);
      try {
        update_values(compressed, given, 1);
      } catch (const std::bad_alloc&) {
      }
      failed = has_failed();
      fail_after(-1);
      CHECK_NOTHROW(CompressedMatrix<double>(compressed.parts()));
      const auto left = compressed.decode();
      if (!failed)
        CHECK(std::ranges::equal(left.values(), values));
      else if (plan.coding == Coding::shapes || plan.coding == Coding::packed)
        CHECK((same_bits(left, matrix) ||
               std::ranges::all_of(left.values(), [](double value) { return value == 0; })));
      else
        CHECK(same_bits(left, matrix));
      update_values(compressed, given);
      CHECK(std::ranges::equal(compressed.decode().values(), values));
    }
  }
}

}  // namespace
}  // namespace tansolve::test
