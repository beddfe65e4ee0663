// SPDX-License-Identifier: BSD-3-Clause
// The host backend conforms, with the same bits for any number of threads.
#include "kernels/conformance.hpp"

namespace tansolve::test {

TANSOLVE_CONFORMS(Setting<double, Host, 1>, Setting<double, Host, 2>, Setting<float, Host, 1>,
                  Setting<float, Host, 2>);

/// The results of every reduction and product with so many threads.
template <class T>
std::vector<T> results(int threads) {
  Context<Host> context(threads);
  const std::int64_t n = 100003;
  const auto normal = [](auto& random) { return std::normal_distribution<double>()(random); };
  const auto matrix = random_matrix<T>(n, n, 4, 1, normal);
  const CsrOperator<T, Host> a(context, matrix);
  auto x = upload(context, random_elements<T>(n, 2));
  Vector<T, Host> y(context, n), p = upload(context, random_elements<T>(n, 3));
  Scalar<T, Host> s(context), rho(context), pq(context);
  std::vector<T> all;
  a.apply_dot(x, y, s);
  all.push_back(read(context, s));
  dot(context, x, y, s);
  all.push_back(read(context, s));
  norm2(context, x, s);
  all.push_back(read(context, s));
  write(context, 1, rho);
  write(context, 3, pq);
  auto r = upload(context, random_elements<T>(n, 4));
  cg_residual(context, {rho, pq, rho, 1, 0}, y, r.span(), s);
  all.push_back(read(context, s));
  cg_direction(context, {rho, pq, rho, 1, 0}, {rho, rho}, s, r, p.span(), x.span());
  for (const auto* vector : {&x, &y, &r}) {
    const auto elements = download(context, *vector);
    all.insert(all.end(), elements.begin(), elements.end());
  }
  return all;
}

TEST_CASE_TEMPLATE("1, 2, 3 and 7 threads give the same bits", T, double, float) {
  const auto one = results<T>(1);
  for (const int threads : {2, 3, 7}) CHECK(results<T>(threads) == one);
}

TEST_CASE("a matrix whose nonzeros sit in one row is multiplied right by many threads") {
  Context<Host> context(3);
  std::vector<Triplet<double>> triplets;
  const std::int64_t n = 30000;
  for (std::int64_t j = 0; j < n; ++j) triplets.push_back({12345, j, 1.0});
  const auto matrix = Csr<double>::from_triplets(n, n, triplets);
  const CsrOperator<double, Host> a(context, matrix);
  const auto x = upload(context, std::vector<double>(n, 2.0));
  Vector<double, Host> y(context, n);
  Scalar<double, Host> xy(context);
  a.apply_dot(x, y, xy);
  std::vector<double> expected(n, 0.0);
  expected[12345] = 2.0 * n;
  CHECK(download(context, y) == expected);
  CHECK(read(context, xy) == 4.0 * n);
}

TEST_CASE("a context refuses a negative number of threads") {
  CHECK(code_thrown_by([] { Context<Host>(-1); }) == ErrorCode::invalid_argument);
  CHECK(Context<Host>().threads() >= 1);
  CHECK(Context<Host>(3).threads() == 3);
}

#ifndef __SANITIZE_ADDRESS__  // whose allocator aborts where others return null
TEST_CASE("host memory that does not exist is reported as such") {
  Context<Host> context;
  CHECK(code_thrown_by([&] { Vector<double, Host>(context, std::int64_t{1} << 59); }) ==
        ErrorCode::out_of_memory);
}
#endif

}  // namespace tansolve::test
