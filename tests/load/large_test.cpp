// SPDX-License-Identifier: BSD-3-Clause
// More than 2^31 nonzeros: encoded, stored, read back and multiplied. The variable TANSOLVE_LARGE
// names the edge of the grid; 440 is the first multiple of 10 that has so many.
#include "support/files.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/container.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/csr_operator.hpp>

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace tansolve::test {
namespace {

double free_gigabytes() {
  return 1e-9 * static_cast<double>(sysconf(_SC_AVPHYS_PAGES)) *
         static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Integers, so that sums are exact in any order.
double element(std::int64_t j) {
  return static_cast<double>(j * 2654435761 % 1021 - 510);
}

/// Whether y is the product of the 27-point Laplacian of an n x n x n grid with x: 27 times the
/// point less the sum of the points around it, itself included.
bool is_product(const std::vector<double>& x, const std::vector<double>& y, std::int64_t n) {
  std::int64_t wrong = 0;
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i) {
        double sum = 27 * x[(k * n + j) * n + i];
        for (std::int64_t c = std::max<std::int64_t>(k - 1, 0); c <= std::min(k + 1, n - 1); ++c)
          for (std::int64_t b = std::max<std::int64_t>(j - 1, 0); b <= std::min(j + 1, n - 1); ++b)
            for (std::int64_t a = std::max<std::int64_t>(i - 1, 0); a <= std::min(i + 1, n - 1);
                 ++a)
              sum -= x[(c * n + b) * n + a];
        wrong += y[(k * n + j) * n + i] != sum;
      }
  return wrong == 0;
}

TEST_CASE("more than 2^31 nonzeros are encoded, stored, read back and multiplied") {
  const char* edge = std::getenv("TANSOLVE_LARGE");
  if (edge == nullptr) {
    MESSAGE("skipped: takes minutes and 12 GB; TANSOLVE_LARGE=440 asks for it");
    return;
  }
  if (free_gigabytes() < 12) {
    MESSAGE("skipped: " << free_gigabytes() << " GB of memory are free, 12 are needed");
    return;
  }
  const std::int64_t n = std::atoll(edge), rows = n * n * n;
  const std::int64_t nnz = (3 * n - 2) * (3 * n - 2) * (3 * n - 2);
  const std::string spec = "poisson27:" + std::to_string(n);
  Context<Host> context;
  std::vector<double> x(rows), y(rows);
  for (std::int64_t j = 0; j < rows; ++j) x[j] = element(j);
  const auto multiply = [&](const LinearOperator<double, Host>& A) {
    std::fill(y.begin(), y.end(), 0.0);
    A.apply({x.data(), rows}, {y.data(), rows});
    return is_product(x, y, n);
  };
  const auto source = generate_rows(spec);
  for (const Coding coding : {Coding::patterns, Coding::packed, Coding::fixed8}) {
    CAPTURE(traits(coding).name);
    const auto matrix = compress(*source, {.plan = {.coding = coding}});
    CHECK(matrix.nnz() == nnz);
    CHECK(multiply(CompressedOperator<double, Host>(context, matrix)));
    if (coding == Coding::packed) continue;  // a larger file of the same kinds of numbers
    const TemporaryFolder folder;
    save_container(folder / "large.tans", matrix);
    const auto any = load_container(folder / "large.tans");
    const auto& loaded = std::get<CompressedMatrix<double>>(any);
    CHECK(loaded.nnz() == nnz);
    CHECK(loaded.parts().words == matrix.parts().words);
    CHECK(multiply(CompressedOperator<double, Host>(context, loaded)));
  }
  if (free_gigabytes() < 64) {
    MESSAGE("CSR skipped: " << free_gigabytes() << " GB of memory are free, 64 are needed");
    return;
  }
  const auto csr = generate(spec);
  CHECK(csr.nnz() == nnz);
  CHECK(multiply(CsrOperator<double, Host>(context, csr)));
  CHECK(compress(csr, {.plan = {.coding = Coding::fixed8}}).nnz() == nnz);
}

}  // namespace
}  // namespace tansolve::test
