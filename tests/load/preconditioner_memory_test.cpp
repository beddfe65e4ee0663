// SPDX-License-Identifier: BSD-3-Clause
// What preconditioners say that they hold, and are told to need, against what was allocated.
#include "load/allocations.hpp"

#include <tansolve/codec/generators.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/preconditioners/amg.hpp>
#include <tansolve/preconditioners/incomplete.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>

namespace tansolve::test {
namespace {

struct Used {
  std::int64_t peak, held, said;
};

/// Bytes while M is made and once it is there, and what it says of itself.
template <class Operator>
Used used(const std::function<std::unique_ptr<Operator>()>& make) {
  make();  // what is made once and kept, as threads' stacks
  const std::int64_t before = live_bytes();
  forget_peak();
  const auto M = make();
  return {peak_bytes() - before, live_bytes() - before, M->bytes()};
}

TEST_CASE("multigrid stays within the memory that was told, and holds what it says") {
  if (live_bytes() == 0) {
    MESSAGE("skipped: allocated bytes are not told here");
    return;
  }
  for (const std::string spec :
       {"poisson7:40", "poisson5:250", "poisson27:28", "varcoef7:32:10000", "fem3:16"}) {
    CAPTURE(spec);
    const auto matrix = generate(spec);
    Context<Host> context(2);
    const CsrOperator<double, Host> A(context, matrix);
    const AmgOptions options = {
        .unknowns_per_node = spec == "fem3:16" ? 3 : 1, .coarse_rows = 200, .threads = 2};
    const AmgBytes told = amg_bytes(matrix.rows(), matrix.nnz(), options);
    const auto [peak, held, said] = used<Amg<double, Host>>(
        [&] { return std::make_unique<Amg<double, Host>>(A, matrix, options); });
    CHECK(peak <= told.setup);
    CHECK(told.setup <= 6 * peak);
    // Beside that, tables of compressed matrices.
    CHECK(held >= said);
    CHECK(held <= said + said / 20 + 10 * (std::int64_t{1300} << 10));
  }
}

TEST_CASE("incomplete factors hold what they say, in one order of rows or in two") {
  if (live_bytes() == 0) {
    MESSAGE("skipped: allocated bytes are not told here");
    return;
  }
  const auto matrix = generate("poisson5:200");
  using M = Incomplete<double, Host>;
  for (const int threads : {1, 2})
    for (const auto kind : {M::Kind::cholesky, M::Kind::lu}) {
      Context<Host> context(threads);
      const auto [peak, held, said] =
          used<M>([&] { return std::make_unique<M>(context, matrix, kind); });
      CHECK(held >= said);
      CHECK(held <= said + (64 << 10));
    }
}

}  // namespace
}  // namespace tansolve::test
