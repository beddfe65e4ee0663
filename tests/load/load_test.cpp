// SPDX-License-Identifier: BSD-3-Clause
// Thousands of solves, and many threads of the user's at once.
#include "load/allocations.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/preconditioners/block_jacobi.hpp>
#include <tansolve/solvers/cg.hpp>
#include <tansolve/solvers/gmres.hpp>

#include <doctest/doctest.h>
#include <malloc.h>

#include <string>
#include <thread>
#include <vector>

namespace tansolve::test {
namespace {

template <class Solve>
std::vector<double> solution(const Csr<double>& matrix, const Solve& solve, int threads = 1) {
  Context<Host> context(threads);
  const auto compressed = compress(matrix);
  const CompressedOperator<double, Host> A(context, compressed);
  std::vector<double> b(A.rows(), 1.0), x(A.cols(), 0.0);
  const Report report = solve(A, Span<const double, Host>(b.data(), A.rows()),
                              Span<double, Host>(x.data(), A.cols()));
  if (!report.converged()) x.clear();
  return x;
}

std::vector<double> by_cg(const Csr<double>& matrix, int threads = 1) {
  return solution(
      matrix, [](const auto& A, auto b, auto x) { return cg(A, b, x); }, threads);
}

}  // namespace

TEST_CASE("ten thousand solves leave no memory behind") {
  Context<Host> context(1);
  const auto matrix = compress(generate("poisson5:6"));
  const CompressedOperator<double, Host> A(context, matrix);
  const std::vector<double> b(A.rows(), 1.0);
  std::vector<double> x(A.cols());
  const auto solve_some = [&](int times) {
    for (int k = 0; k < times; ++k) {
      std::fill(x.begin(), x.end(), 0.0);
      REQUIRE(cg(A, {b.data(), A.rows()}, {x.data(), A.cols()}).converged());
    }
  };
  solve_some(100);
  const std::int64_t blocks = live_blocks();
#ifndef __SANITIZE_ADDRESS__  // whose allocator reports nothing here
  const std::size_t bytes = mallinfo2().uordblks;
#endif
  solve_some(10000);
  CHECK(live_blocks() == blocks);
#ifndef __SANITIZE_ADDRESS__
  CHECK(mallinfo2().uordblks <= bytes + 4096);
#endif
}

TEST_CASE("threads with matrices and contexts of their own do not disturb each other") {
  const std::vector<std::string> names = {"poisson5:15", "varcoef7:5@2", "poisson27:5",
                                          "poisson7:6"};
  const auto work = [&](std::size_t k) { return by_cg(generate(names[k % names.size()])); };
  std::vector<std::vector<double>> alone, together(24);
  for (std::size_t k = 0; k < names.size(); ++k) alone.push_back(work(k));
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t k = t; k < together.size(); k += 8) together[k] = work(k);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t k = 0; k < together.size(); ++k) {
    CAPTURE(k);
    CHECK_FALSE(together[k].empty());
    CHECK(together[k] == alone[k % names.size()]);
  }
}

TEST_CASE("one compressed matrix serves the contexts of many threads") {
  const auto matrix = compress(generate("varcoef7:6@1"));
  std::vector<std::vector<double>> results(6);
  std::vector<std::thread> threads;
  for (auto& y : results)
    threads.emplace_back([&] {
      Context<Host> context(1);
      const CompressedOperator<double, Host> A(context, matrix);
      std::vector<double> x(A.cols(), 0.5);
      y.resize(A.rows());
      for (int k = 0; k < 50; ++k) A.apply({x.data(), A.cols()}, {y.data(), A.rows()});
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& y : results) CHECK(y == results.front());
}

}  // namespace tansolve::test
