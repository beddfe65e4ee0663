// SPDX-License-Identifier: BSD-3-Clause
// The path of the short recurrences that a GPU takes, where there is none.
#include "solvers/batches.hpp"
#include "solvers/krylov.hpp"

#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/idr.hpp>

#include <functional>

namespace tansolve::test {
using RecordedCg = By<Recording, Plain>;
using RecordedFcg = By<Recording, Flexible>;
}  // namespace tansolve::test

TYPE_TO_STRING_AS("cg, recording Checked", tansolve::test::RecordedCg);
TYPE_TO_STRING_AS("fcg, recording Checked", tansolve::test::RecordedFcg);

namespace tansolve::test {

TANSOLVE_BATCHES(RecordedCg, RecordedFcg);

namespace {

using Operator = LinearOperator<double, Checked>;
using Options = SolveOptions<double, Checked>;

struct Batched {
  const char* name;
  std::int64_t transfers;  ///< in the second batch below
  Report (*solve)(const Operator&, Span<const double, Checked>, Span<double, Checked>,
                  const Options&);
  std::int64_t batch = detail::batch_size;
};

template <int dimension>
Report idr_of(const Operator& A, Span<const double, Checked> b, Span<double, Checked> x,
              const Options& options) {
  return idr(A, b, x, options, {.dimension = dimension});
}

const std::vector<Batched> batched = {{"cg", 1, cg<double, Checked>},
                                      {"fcg", 1, fcg<double, Checked>},
                                      {"bicgstab", 1, bicgstab<double, Checked>},
                                      {"minres", 2, minres<double, Checked>},  // and the truth
                                      {"idr(1)", 1, idr_of<1>},
                                      {"idr(4)", 1, idr_of<4>, 10},
                                      {"idr(16)", 1, idr_of<16>, 17}};

using Make = std::function<std::unique_ptr<Operator>(Context<Checked>&)>;

Answer<double> solve_on(Context<Checked>& context, const Batched& method, const Make& matrix,
                        const std::vector<double>& b, Options options, const Make& M) {
  const auto a = matrix(context), preconditioner = M ? M(context) : nullptr;
  options.preconditioner = preconditioner.get();
  const auto device_b = upload(context, b);
  auto x = upload(context, std::vector<double>(b.size(), 0.0));
  Report report = method.solve(*a, device_b, x, options);
  return {std::move(report), download(context, x)};
}

/// Checks that a recording context ends as one that looks at each iteration, to the bit. Returns
/// its report.
Report check_same(const Batched& method, const Make& matrix, const std::vector<double>& b,
                  const Options& options = {}, const Make& M = nullptr) {
  Context<Checked> recording(true), plain;
  const auto batch = solve_on(recording, method, matrix, b, options, M);
  const auto single = solve_on(plain, method, matrix, b, options, M);
  CHECK(batch.report.status == single.report.status);
  CHECK(batch.report.detail == single.report.detail);
  CHECK(batch.report.iterations == single.report.iterations);
  CHECK(batch.report.restarts == single.report.restarts);
  CHECK(batch.report.history == single.report.history);
  CHECK(batch.x == single.x);
  return batch.report;
}

Make csr(Csr<double> matrix) {
  return [matrix](Context<Checked>& context) {
    return std::make_unique<CsrOperator<double, Checked>>(context, matrix);
  };
}
Make diagonal_inverse(std::vector<double> d) {
  return [d](Context<Checked>& context) {
    return std::make_unique<Jacobi<double, Checked>>(context, upload(context, d));
  };
}
Make exaggerated(Csr<double> matrix, double factor) {
  return [matrix, factor](Context<Checked>& context) {
    return std::make_unique<Exaggerated<Checked>>(context, matrix, factor);
  };
}

TEST_CASE("a recording context gives the bits of one that looks at each iteration") {
  const auto matrix = poisson<double>(14, 12);
  std::vector<double> weights(matrix.rows());
  for (std::int64_t i = 0; i < matrix.rows(); ++i) weights[i] = static_cast<double>(4 + i % 3);
  const auto b = random_vector<double>(matrix.rows(), 3);
  for (const auto& method : batched) {
    CAPTURE(method.name);
    for (const Make& M : {Make(), diagonal_inverse(weights)}) {
      CHECK(check_same(method, csr(matrix), b, {}, M).converged());
      for (const std::int64_t limit : {0, 1, 11, 12, 13, 24, 25}) {
        const auto report =
            check_same(method, csr(matrix), b, {.rtol = 1e-12, .max_iterations = limit}, M);
        CHECK(report.status == Status::iteration_limit);
        CHECK(report.iterations == limit);
      }
    }
  }
}

/// Divides by a diagonal, in so many launches as it says.
class Costly final : public LinearOperator<double, Checked> {
 public:
  Costly(Context<Checked>& context, const std::vector<double>& d, std::int64_t launches)
      : LinearOperator<double, Checked>(context, std::ssize(d), std::ssize(d)),
        divide_(context, upload(context, d)),
        launches_(launches) {}
  bool capturable() const override { return true; }
  std::int64_t launches() const override { return launches_; }

 protected:
  void apply_impl(Span<const double, Checked> x, Span<double, Checked> y) const override {
    divide_.apply(x, y);
  }

 private:
  Jacobi<double, Checked> divide_;
  std::int64_t launches_;
};

TEST_CASE("the more a preconditioner launches, the fewer iterations of cg are issued at a time") {
  const auto matrix = poisson<double>(14, 12);
  std::vector<double> weights(matrix.rows());
  for (std::int64_t i = 0; i < matrix.rows(); ++i) weights[i] = static_cast<double>(4 + i % 3);
  const auto b = random_vector<double>(matrix.rows(), 3);
  struct Case {
    std::int64_t launches, batch;
  };
  for (const auto& method : {batched[0], batched[1]}) {
    CAPTURE(method.name);
    for (const auto& [launches, batch] : {Case{1, 12}, Case{14, 8}, Case{23, 5}, Case{999, 3}}) {
      CAPTURE(launches);
      const Make M = [&](Context<Checked>& context) {
        return std::make_unique<Costly>(context, weights, launches);
      };
      CHECK(check_same(method, csr(matrix), b, {}, M).converged());
      for (const std::int64_t limit : {1, 2, 3, 4, 5, 8, 9, 13})
        check_same(method, csr(matrix), b, {.rtol = 1e-12, .max_iterations = limit}, M);
      Context<Checked> context(true);
      const Options cancelled{.monitor = [](std::int64_t i, double) { return i < 1; }};
      CHECK(solve_on(context, method, csr(matrix), b, cancelled, M).report.iterations == batch);
    }
  }
}

TEST_CASE("short batches end where single iterations break down") {
  for (const auto& method : {batched[0], batched[1]}) {
    CAPTURE(method.name);
    for (const double last : {1.0, -1.0}) {
      CAPTURE(last);
      // The direction that is indefinite comes up in the second, third, ... iteration.
      const std::vector<double> d = {1, 2, 3, 4, 5, last};
      const Make M = [&](Context<Checked>& context) {
        return std::make_unique<Costly>(context, std::vector<double>(6, 1.0), 999);
      };
      check_same(method, csr(diagonal_matrix(d)), {1, 1, 1, 1, 1, 1e-3}, {.rtol = 1e-12}, M);
      const Make indefinite = [&](Context<Checked>& context) {
        return std::make_unique<Costly>(context, std::vector<double>{1, 2, 1, 2, 1, last}, 999);
      };
      check_same(method, csr(diagonal_matrix<double>({1, 2, 3, 4, 5, 6})), {1, 1, 1, 1, 1, 1e-3},
                 {.rtol = 1e-12}, indefinite);
    }
  }
}

TEST_CASE("a recording context is read once a batch") {
  for (const auto& method : batched) {
    CAPTURE(method.name);
    const auto transfers = [&](std::int64_t iterations) {
      Context<Checked> context(true);
      const auto matrix = csr(poisson<double>(60, 50));
      const auto b = random_vector<double>(3000, 3);
      const Options options{.rtol = 0, .max_iterations = iterations};
      REQUIRE(solve_on(context, method, matrix, b, options, nullptr).report.iterations ==
              iterations);
      return context.counters().transfers;
    };
    CHECK(transfers(2 * method.batch) - transfers(method.batch) == method.transfers);
  }
}

TEST_CASE("a recording context is cancelled after the batch, whose iterations count") {
  const auto b = random_vector<double>(168, 3);
  for (const auto& method : batched) {
    CAPTURE(method.name);
    Context<Checked> context(true);
    std::int64_t calls = 0;
    const Options options{.monitor = [&](std::int64_t i, double) {
      ++calls;
      return i < 5;
    }};
    const auto [report, x] =
        solve_on(context, method, csr(poisson<double>(14, 12)), b, options, nullptr);
    CHECK(report.status == Status::cancelled);
    CHECK(report.iterations == method.batch);
    CHECK(calls == 6);
  }
}

TEST_CASE("breakdowns within a batch are those of single iterations") {
  const double inf = std::numeric_limits<double>::infinity();
  const auto from = [](std::int64_t n, const std::vector<Triplet<double>>& triplets) {
    return csr(Csr<double>::from_triplets(n, n, triplets));
  };
  for (const auto& method : batched) {
    CAPTURE(method.name);
    const std::string name = method.name;
    const bool symmetric = name == "cg" || name == "fcg" || name == "minres";
    check_same(method, from(3, {}), {1, 0, 2});
    check_same(method, from(2, {{0, 0, 1.0}, {1, 1, -1.0}}), {1, 2});
    check_same(method, from(2, {{0, 1, 1.0}, {1, 0, symmetric ? 1.0 : -1.0}}), {1, 0});
    check_same(method, from(2, {{0, 0, 1.0}, {0, 1, 1.0}, {1, 0, 1.0}}), {1, 0});
    check_same(method, from(2, {{0, 0, 1.0}}), {1, 1});
    check_same(method, from(2, {{0, 0, inf}, {1, 1, 1.0}}), {1, 1});
    check_same(method, from(2, {{0, 0, 1e-200}, {1, 1, 2e-200}}), {1e200, 1e200});
    check_same(method, from(3, {{0, 0, 1.0}, {1, 1, 2.0}, {2, 2, 3.0}}), {1, 1, 1}, {},
               diagonal_inverse({1, -1, 1}));
  }
}

TEST_CASE("batches restart from the true residual as single iterations do") {
  const auto matrix = poisson<double>(10, 10);
  const auto b = random_vector<double>(100, 1);
  for (const auto& method : batched) {
    CAPTURE(method.name);
    Context<Checked> context(true);
    const auto [report, x] = solve_on(context, method, exaggerated(matrix, 1.001), b, {}, nullptr);
    CHECK(report.converged());
    CHECK(report.restarts >= 1);
    CHECK(eigen_residual(matrix, b, x) <= 1.0001e-8 * report.baseline);
    const auto lost = solve_on(context, method, exaggerated(matrix, 3), b, {}, nullptr).report;
    CHECK(lost.status == Status::stagnated);
  }
}

}  // namespace
}  // namespace tansolve::test
