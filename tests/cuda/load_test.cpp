// SPDX-License-Identifier: BSD-3-Clause
// A GPU whose memory runs out at any point, thousands of solves, and solves beside each other.
#include "load/fail_everywhere.hpp"
#include "load/set_ups.hpp"
#include "support/backends.hpp"
#include "support/files.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/generators.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <string>
#include <thread>
#include <vector>

namespace tansolve::test {
namespace {

/// Bytes that may not return at once: the driver takes and gives blocks of 2 MiB.
constexpr std::size_t kept_by_driver = std::size_t{4} << 20;

TEST_CASE("memory of a gpu that runs out anywhere in set-up is reported, and nothing is lost") {
  Context<Cuda> context;
  const auto matrix = generate("varcoef7:6@3");
  SUBCASE("a context") {
    fail_everywhere([] { Context<Cuda>(); });
  }
  SUBCASE("every coding") {
    for (const auto& [name, run] : coding_set_ups(context, matrix)) {
      CAPTURE(name);
      fail_everywhere(run);
    }
  }
  SUBCASE("every solver") {
    for (const auto& [name, run] : solver_set_ups(context, matrix)) {
      CAPTURE(name);
      fail_everywhere(run);
    }
  }
  SUBCASE("every preconditioner") {
    for (const auto& [name, run] : preconditioner_set_ups(context, matrix)) {
      CAPTURE(name);
      fail_everywhere(run);
    }
  }
}

/// Takes all memory of a GPU that there is, in ever smaller pieces.
class FullDevice {
 public:
  explicit FullDevice(Context<Cuda>& context) : context_(&context) {
    for (std::size_t bytes = std::size_t{1} << 36; bytes >= 4096;) {
      try {
        pieces_.push_back(context.allocate(bytes));
      } catch (const Error&) {
        bytes /= 2;
      }
    }
  }
  FullDevice(const FullDevice&) = delete;
  FullDevice& operator=(const FullDevice&) = delete;
  ~FullDevice() {
    for (void* piece : pieces_) context_->release(piece);
  }

 private:
  Context<Cuda>* context_;
  std::vector<void*> pieces_;
};

TEST_CASE("a full gpu refuses set-up with the bytes asked for and free, and works on afterwards") {
  Context<Cuda> context;
  const auto matrix = generate("poisson7:60");
  const auto compressed = compress(matrix);
  const auto solve_anew = [&] {
    const CompressedOperator<double, Cuda> A(context, compressed);
    const auto b = upload(context, std::vector<double>(A.rows(), 1.0));
    auto x = upload(context, std::vector<double>(A.cols(), 0.0));
    REQUIRE(cg(A, b, x).converged());
    return download(context, x);
  };
  const auto expected = solve_anew();
  const CompressedOperator<double, Cuda> A(context, compressed);
  const auto b = upload(context, std::vector<double>(A.rows(), 1.0));
  auto x = upload(context, std::vector<double>(A.cols(), 0.0));
  Workspace<double, Cuda> work(context, cg_workspace(A.rows(), false));
  REQUIRE(cg(A, b, x, {}, work).converged());
  A.apply_dot(b, work.vector(0), work.scalar(0));
  const double product = read(context, work.scalar(0));
  const std::size_t free = context.free_memory();
  {
    const FullDevice full(context);
    CHECK(context.free_memory() < std::size_t{64} << 20);
    for (const auto& [name, run] :
         {SetUp{"an operator", [&] { CompressedOperator<double, Cuda>(context, compressed); }},
          SetUp{"a solve", [&] { cg(A, b, x); }},
          SetUp{"multigrid", [&] { Amg<double, Cuda>(A, matrix); }}}) {
      CAPTURE(name);
      const auto error = error_of(run);
      REQUIRE(error);
      CHECK(error->code() == ErrorCode::out_of_memory);
      CAPTURE(error->what());
      CHECK(std::string(error->what()).find("bytes requested") != std::string::npos);
      CHECK(std::string(error->what()).find("are free") != std::string::npos);
    }
    fill(context, 0.0, x.span());
    Scalar<double, Cuda>& xy = work.scalar(0);  // what has its memory goes on
    A.apply_dot(b, work.vector(0), xy);
    CHECK(read(context, xy) == product);
    // But the driver may want some for a graph.
    bool converged = false;
    const auto error = error_of([&] { converged = cg(A, b, x, {}, work).converged(); });
    CHECK(converged == !error);
    if (error) CHECK(error->code() == ErrorCode::out_of_memory);
  }
  CHECK(context.free_memory() + kept_by_driver >= free);
  CHECK(solve_anew() == expected);
}

/// Bytes of this process that lie in memory.
std::int64_t resident_bytes() {
  long total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  REQUIRE(file != nullptr);
  REQUIRE(std::fscanf(file, "%ld %ld", &total, &resident) == 2);
  std::fclose(file);
  return resident * std::int64_t{4096};
}

TEST_CASE("ten thousand solves on the gpu leave no memory behind, there or on the host") {
  Context<Cuda> context;
  const auto matrix = compress(generate("poisson5:6"));
  const CompressedOperator<double, Cuda> A(context, matrix);
  const auto b = upload(context, std::vector<double>(A.rows(), 1.0));
  Vector<double, Cuda> x(context, A.cols());
  Workspace<double, Cuda> work(context, cg_workspace(A.rows(), false));
  const auto solve_some = [&](int times, bool anew) {
    for (int k = 0; k < times; ++k) {
      fill(context, 0.0, x.span());
      REQUIRE((anew ? cg(A, b, x) : cg(A, b, x, {}, work)).converged());
    }
  };
  solve_some(1000, false);
  solve_some(20, true);
  const std::size_t free = context.free_memory();
  const std::int64_t blocks = live_blocks(), resident = resident_bytes();
  solve_some(9000, false);
  solve_some(200, true);
  CHECK(live_blocks() == blocks);
  CHECK(context.free_memory() + kept_by_driver >= free);
  CHECK(resident_bytes() <= resident + (std::int64_t{16} << 20));  // 1800 bytes a solve
}

TEST_CASE("solves on streams beside each other give the bits that they give alone") {
  const std::vector<std::string> names = {"poisson7:40", "varcoef7:32@2", "fem3:12",
                                          "poisson5:300"};
  const auto solve = [&](std::size_t k) {
    Context<Cuda> context;
    const auto matrix = generate(names[k]);
    const auto compressed = compress(matrix);
    const CompressedOperator<double, Cuda> A(context, compressed);
    const BlockJacobi<double, Cuda> M(context, matrix);
    const auto b = upload(context, std::vector<double>(A.rows(), 1.0));
    auto x = upload(context, std::vector<double>(A.cols(), 0.0));
    const Report report = k % 2 == 0 ? cg(A, b, x, {.preconditioner = &M})
                                     : gmres(A, b, x, {.rtol = 1e-4, .preconditioner = &M});
    auto answer = download(context, x);
    answer.push_back(static_cast<double>(report.iterations));
    if (!report.converged()) answer.clear();
    return answer;
  };
  std::vector<std::vector<double>> alone, beside(names.size());
  for (std::size_t k = 0; k < names.size(); ++k) alone.push_back(solve(k));
  for (int round = 0; round < 3; ++round) {
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < names.size(); ++k)
      threads.emplace_back([&, k] { beside[k] = solve(k); });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t k = 0; k < names.size(); ++k) {
      CAPTURE(names[k]);
      CHECK_FALSE(alone[k].empty());
      CHECK(beside[k] == alone[k]);
    }
  }
}

TEST_CASE("one compressed matrix serves the streams of several threads") {
  const auto matrix = compress(generate("varcoef7:24@1"));
  std::vector<std::vector<double>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results)
    threads.emplace_back([&] {
      Context<Cuda> context;
      const CompressedOperator<double, Cuda> A(context, matrix);
      const auto x = upload(context, std::vector<double>(A.cols(), 0.5));
      Vector<double, Cuda> y(context, A.rows());
      for (int k = 0; k < 50; ++k) A.apply(x, y);
      result = download(context, y);
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) CHECK(result == results.front());
}

}  // namespace
}  // namespace tansolve::test
