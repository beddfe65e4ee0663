// SPDX-License-Identifier: BSD-3-Clause
// The CUDA backend conforms, and reports what goes wrong on a device.
#include "kernels/conformance.hpp"

TYPE_TO_STRING_AS("double, Cuda", tansolve::test::Setting<double, tansolve::Cuda>);
TYPE_TO_STRING_AS("float, Cuda", tansolve::test::Setting<float, tansolve::Cuda>);

namespace tansolve::test {

TANSOLVE_CONFORMS(Setting<double, Cuda>, Setting<float, Cuda>);

TEST_CASE("a device that is not there is refused with the number of those that are") {
  CHECK(code_thrown_by([] { Context<Cuda>(-1); }) == ErrorCode::device);
  CHECK(code_thrown_by([] { Context<Cuda>{cuda_device_count()}; }) == ErrorCode::device);
}

TEST_CASE("device memory that does not exist is reported with bytes, and the context lives on") {
  Context<Cuda> context;
  CHECK_THROWS_WITH_AS((Vector<double, Cuda>(context, std::int64_t{1} << 45)),
                       doctest::Contains("281474976710656"), Error);
  const auto x = upload<double>(context, {1, 2, 3});
  CHECK(download(context, x) == std::vector<double>{1, 2, 3});
}

TEST_CASE_TEMPLATE("reductions give the same bits every time, and close to the host's", T, double,
                   float) {
  const std::int64_t n = 3'000'001;
  const auto hx = random_elements<T>(n, 1), hy = random_elements<T>(n, 2);
  Context<Cuda> context;
  Context<Host> host;
  const auto x = upload(context, hx), y = upload(context, hy);
  const auto host_x = upload(host, hx), host_y = upload(host, hy);
  Scalar<T, Cuda> s(context);
  Scalar<T, Host> h(host);
  double size = 0;
  for (std::int64_t i = 0; i < n; ++i) size += std::abs(static_cast<double>(hx[i]) * hy[i]);
  dot(context, x, y, s);
  dot(host, host_x, host_y, h);
  const T first = read(context, s);
  CHECK(std::abs(static_cast<double>(first) - read(host, h)) <=
        std::numeric_limits<T>::epsilon() * size);
  for (int i = 0; i < 5; ++i) {
    dot(context, x, y, s);
    CHECK(read(context, s) == first);
  }
}

}  // namespace tansolve::test
