// SPDX-License-Identifier: BSD-3-Clause
// What a basis in every storage must do on every backend.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/basis.hpp>
#include <tansolve/kernels/reference/basis_kernels.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include "kernels/random_conformance.hpp"
#include "support/backends.hpp"
#include "support/elements.hpp"
#include "support/systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace tansolve::test {

inline const std::vector<BasisStorage> storages = {BasisStorage::working, BasisStorage::fp32,
                                                   BasisStorage::fp16};

/// A basis whose vectors the test knows as they were rounded.
template <class T, class B>
struct KnownBasis {
  KnownBasis(Context<B>& context, std::int64_t n, std::int64_t k, BasisStorage storage)
      : basis(context, n, k, storage), stored(n * k) {
    Scalar<T, B> norm(context);
    for (std::int64_t j = 0; j < k; ++j) {
      auto w = upload(context, random_elements<T>(n, 10 + j));
      norm2(context, w, norm);
      basis.store(j, norm, w.span());
      const auto rounded = download(context, w);
      std::copy(rounded.begin(), rounded.end(), stored.begin() + j * n);
    }
  }
  detail::BasisView<T> view(std::int64_t k) {
    return {stored.data(), basis.size(), basis.size(), k};
  }
  /// Calls work(V) for the first k vectors in the type that they are stored in.
  template <class Work>
  void with_view(std::int64_t k, const Work& work) {
    if (basis.storage() != BasisStorage::fp16) return work(view(k));
    std::vector<UnitHalf> halves(stored.size());
    for (std::size_t i = 0; i < stored.size(); ++i) halves[i] = UnitHalf(stored[i]);
    work(detail::BasisView<UnitHalf>{halves.data(), basis.size(), basis.size(), k});
  }

  Basis<T, B> basis;
  std::vector<T> stored;  // column after column
};

template <class T>
std::vector<T> reference_projection(const detail::BasisView<T>& V, const std::vector<T>& w) {
  std::vector<T> h(V.k);
  for (std::int64_t j = 0; j < V.k; ++j)
    h[j] = reference::dot(V.n, V.data + j * V.stride, w.data());
  return h;
}

/// How far inner products with a unit vector in that storage may be from exact, relative to the
/// norm of the other factor.
template <class T, class B>
double projection_error(BasisStorage storage) {
  const bool narrow = storage_width<T>(storage) < static_cast<std::int64_t>(sizeof(T));
  return std::is_same_v<B, Cuda> && narrow ? 0x1p-20 : 8 * std::numeric_limits<T>::epsilon();
}

template <class T>
bool close(const std::vector<T>& a, const std::vector<T>& b, double error) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::abs(static_cast<double>(a[i]) - b[i]) <= error)) return false;
  return a.size() == b.size();
}

TEST_CASE_TEMPLATE_DEFINE("a basis stores vectors divided by their norm, rounded as it says", S,
                          basis_stores) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Scalar<T, B> norm(context);
  for (const BasisStorage storage : storages) {
    CAPTURE(static_cast<int>(storage));
    Basis<T, B> basis(context, 3, 2, storage);
    const T huge = std::numeric_limits<T>::max() / 8, tiny = std::numeric_limits<T>::min();
    for (const T size : {T(1), huge, tiny}) {
      auto w = upload<T>(context, {size, -size / 2, size / 4});
      write(context, size, norm);
      basis.store(1, norm, w.span());
      CHECK(download(context, w) == std::vector<T>{1, T(-0.5), T(0.25)});
    }
    auto third = upload<T>(context, {1, -1, 0});
    write(context, 3, norm);
    basis.store(0, norm, third.span());
    const double roundoff = storage_roundoff<T>(storage);
    const auto w = download(context, third);
    CHECK(std::abs(static_cast<double>(w[0]) - 1.0 / 3) <= roundoff / 3);
    if (roundoff > 0x1p-53) CHECK(std::abs(static_cast<double>(w[0]) - 1.0 / 3) > roundoff / 100);
    CHECK(w[1] == -w[0]);
    CHECK(w[2] == 0);
    for (const T bad :
         {T(0), std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
      auto v = upload<T>(context, {1, std::numeric_limits<T>::quiet_NaN(), 3});
      write(context, bad, norm);
      basis.store(0, norm, v.span());
      CHECK(download(context, v) == std::vector<T>{0, 0, 0});
    }
  }
}

/// Every product with a basis of n x count, of its first vector alone and of all.
template <class T, class B>
void check_basis_products(Context<B>& context, std::int64_t n, std::int64_t count,
                          BasisStorage storage) {
  CAPTURE(n);
  CAPTURE(count);
  CAPTURE(static_cast<int>(storage));
  Scalar<T, B> norm(context);
  KnownBasis<T, B> known(context, n, count, storage);
  for (const std::int64_t k : {std::int64_t{1}, count}) {
    const auto V = known.view(k);
    auto expected = random_elements<T>(n, 1);
    const double error = projection_error<T, B>(storage) * reference::norm2(n, expected.data());
    auto w = upload(context, expected);
    Vector<T, B> h(context, k), g(context, k);

    known.basis.project(w, h.span());
    const auto found_h = download(context, h);
    CHECK(close(found_h, reference_projection(V, expected), error));

    known.basis.subtract_project(h, w.span(), g.span());
    known.with_view(k, [&](auto stored) {
      reference::basis_subtract(stored, found_h.data(), expected.data());
    });
    CHECK(download(context, w) == expected);
    const auto found_g = download(context, g);
    CHECK(close(found_g, reference_projection(V, expected), error));

    known.basis.subtract(g, w.span(), norm);
    known.with_view(k, [&](auto stored) {
      reference::basis_subtract(stored, found_g.data(), expected.data());
    });
    CHECK(download(context, w) == expected);
    const double expected_norm = to_eigen(expected).norm();
    CHECK(std::abs(read(context, norm) - expected_norm) <=
          64 * std::numeric_limits<T>::epsilon() * expected_norm);

    known.basis.combine(h, w.span());
    known.with_view(
        k, [&](auto stored) { reference::basis_combine(stored, found_h.data(), expected.data()); });
    CHECK(download(context, w) == expected);
  }
}

TEST_CASE_TEMPLATE_DEFINE("products with a basis agree with the reference", S, basis_products) {
  auto context = S::context();
  for (const std::int64_t n : {1, 513, 4097, 20000})
    for (const std::int64_t count : {1, 33})
      for (const BasisStorage storage : storages)
        check_basis_products<typename S::T>(context, n, count, storage);
}

TEST_CASE_TEMPLATE_DEFINE("projections of huge, tiny and growing elements agree with the reference",
                          S, basis_projection_range) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const std::int64_t n = 20000, k = 5;
  Vector<T, B> h(context, k);
  for (const BasisStorage storage : storages) {
    CAPTURE(static_cast<int>(storage));
    KnownBasis<T, B> known(context, n, k, storage);
    const T huge = std::numeric_limits<T>::max() / n, tiny = std::numeric_limits<T>::min() * 16;
    for (const auto& [first, growth] :
         {std::pair{huge, T(1)}, {tiny, T(1)}, {T(1), T(1.001)}, {T(1), T(0.999)}}) {
      CAPTURE(first);
      CAPTURE(growth);
      auto w = random_elements<T>(n, 1);
      T size = first;
      for (T& x : w) x *= std::exchange(size, size * growth);
      known.basis.project(upload(context, w), h.span());
      CHECK(close(download(context, h), reference_projection(known.view(k), w),
                  projection_error<T, B>(storage) * reference::norm2(n, w.data())));
    }
    for (const T bad : {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::quiet_NaN()}) {
      auto w = random_elements<T>(n, 1);
      w[n / 2] = bad;
      known.basis.project(upload(context, w), h.span());
      for (const T x : download(context, h)) CHECK(!std::isfinite(x));
    }
  }
}

TEST_CASE_TEMPLATE_DEFINE("sums of stored vectors are exact up to their storage", S, basis_sums) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const std::int64_t n = 3000, k = 40;
  for (const BasisStorage storage : storages) {
    CAPTURE(static_cast<int>(storage));
    const bool halves = storage == BasisStorage::fp16;
    const double error = halves ? 0x1p-20 : 40 * std::numeric_limits<T>::epsilon();
    KnownBasis<T, B> known(context, n, k, storage);
    Vector<T, B> x(context, n);
    const T huge = std::numeric_limits<T>::max() / 64, tiny = std::numeric_limits<T>::min() * 1024;
    for (const auto& [first, growth] :
         {std::pair{huge, T(1)}, {tiny, T(1)}, {T(1), T(1.5)}, {T(1), T(0.5)}, {T(0), T(1)}}) {
      CAPTURE(first);
      CAPTURE(growth);
      auto y = random_elements<T>(k, 5);
      T size = first;
      for (T& element : y) element *= std::exchange(size, size * growth);
      known.basis.combine(upload(context, y), x.span());
      const auto found = download(context, x);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < n; ++i) {
        long double sum = 0, sizes = 0;
        for (std::int64_t j = 0; j < k; ++j) {
          sum += static_cast<long double>(y[j]) * known.stored[j * n + i];
          sizes += std::abs(static_cast<long double>(y[j]));
        }
        wrong += !(std::abs(found[i] - sum) <= error * sizes);
      }
      CHECK(wrong == 0);
    }
    auto y = random_elements<T>(k, 5);
    y[35] = std::numeric_limits<T>::quiet_NaN();
    known.basis.combine(upload(context, y), x.span());
    for (const T element : download(context, x)) CHECK(std::isnan(element));
  }
}

TEST_CASE_TEMPLATE_DEFINE("a basis makes a vector orthogonal as its storage allows", S,
                          basis_orthogonalises) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const std::int64_t n = 5000, k = 20;
  Scalar<T, B> norm(context);
  Vector<T, B> h(context, k), g(context, k);
  for (const BasisStorage storage : storages) {
    Basis<T, B> basis(context, n, k + 1, storage);
    for (std::int64_t j = 0; j <= k; ++j) {
      auto w = upload(context, random_elements<T>(n, 10 + j));
      const auto hj = h.span().subspan(0, j), gj = g.span().subspan(0, j);
      basis.project(w, hj);
      basis.subtract_project(hj, w.span(), gj);
      basis.subtract(gj, w.span(), norm);
      basis.store(j, norm, w.span());
      if (j < k) continue;
      basis.project(w, h.span());
      for (const T overlap : download(context, h))
        CHECK(std::abs(overlap) <= 4 * storage_roundoff<T>(storage));
    }
  }
}

TEST_CASE_TEMPLATE_DEFINE("the norm of what is left neither overflows nor underflows", S,
                          basis_norm_range) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Scalar<T, B> norm(context);
  Basis<T, B> basis(context, 3, 1, BasisStorage::working);
  auto first = upload<T>(context, {1, 0, 0});
  write(context, 1, norm);
  basis.store(0, norm, first.span());
  const T huge = std::numeric_limits<T>::max() / 8, tiny = std::numeric_limits<T>::min();
  for (const T size : {huge, tiny}) {
    auto w = upload<T>(context, {7 * size, 3 * size, -4 * size});
    basis.subtract(upload<T>(context, {7 * size}), w.span(), norm);
    CHECK(read(context, norm) == doctest::Approx(5.0 * size).epsilon(1e-6));
  }
  auto w = upload<T>(context, {2, 0, 0});
  basis.subtract(upload<T>(context, {2}), w.span(), norm);
  CHECK(read(context, norm) == 0);
  w = upload<T>(context, {2, std::numeric_limits<T>::quiet_NaN(), 0});
  basis.subtract(upload<T>(context, {2}), w.span(), norm);
  CHECK(std::isnan(read(context, norm)));
}

/// x as an element of that storage holds it.
template <class T>
T rounded(BasisStorage storage, T x) {
  if (storage == BasisStorage::fp16) return static_cast<T>(UnitHalf(x));
  return storage == BasisStorage::fp32 ? static_cast<T>(static_cast<float>(x)) : x;
}

TEST_CASE_TEMPLATE_DEFINE("a basis is rotated in place to the bits of the reference", S,
                          basis_rotates) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  struct Rotation {
    std::int64_t count, first, m, k;
  };
  for (const std::int64_t n : {1, 513, 20000})
    for (const auto [count, first, m, k] :
         {Rotation{1, 0, 1, 1}, Rotation{40, 0, 40, 23}, Rotation{40, 7, 30, 30},
          Rotation{40, 12, 20, 0}, Rotation{300, 1, 250, 9}}) {
      if (count == 300 && n > 513) continue;
      for (const BasisStorage storage : storages) {
        CAPTURE(n);
        CAPTURE(m);
        CAPTURE(static_cast<int>(storage));
        KnownBasis<T, B> known(context, n, count, storage);
        auto Q = random_elements<T>(m * k, 3);
        for (T& q : Q) q /= static_cast<T>(4 * m);  // sums stay within UnitHalf
        known.basis.rotate(first, m, upload(context, Q));
        reference::basis_rotate(detail::BasisView<T>{known.stored.data() + first * n, n, n, m}, k,
                                Q.data());
        Vector<T, B> v(context, n);
        std::vector<T> unit(count);
        for (std::int64_t j = 0; j < count; ++j) {
          unit[j] = 1;
          known.basis.combine(upload(context, unit), v.span());
          unit[j] = 0;
          std::vector<T> expected(known.stored.begin() + j * n, known.stored.begin() + (j + 1) * n);
          for (T& x : expected) x = rounded(storage, x);
          REQUIRE(download(context, v) == expected);
        }
      }
    }
}

TEST_CASE_TEMPLATE_DEFINE("a basis refuses shapes, overlap and what no memory holds", S,
                          basis_refuses) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Basis<T, B> basis(context, 3, 2, BasisStorage::working);
  Scalar<T, B> norm(context);
  Vector<T, B> two(context, 2), three(context, 3), four(context, 4), other(context, 2);
  const auto refused = [](const auto& body) {
    try {
      body();
    } catch (const Error& error) {
      return error.code() == ErrorCode::invalid_argument;
    }
    return false;
  };
  CHECK(refused([&] { basis.store(2, norm, three.span()); }));
  CHECK(refused([&] { basis.store(-1, norm, three.span()); }));
  CHECK(refused([&] { basis.store(0, norm, four.span()); }));
  CHECK(refused([&] { basis.project(three, three.span()); }));
  CHECK(refused([&] { basis.project(four, two.span()); }));
  CHECK(refused([&] { basis.subtract_project(two, three.span(), two.span()); }));
  CHECK(refused([&] { basis.subtract_project(two, three.span(), other.span().subspan(0, 1)); }));
  CHECK(refused([&] { basis.subtract(three.span().subspan(0, 2), three.span(), norm); }));
  CHECK(refused([&] { basis.subtract_again(two, three.span(), two.span(), norm); }));
  CHECK(refused([&] { basis.subtract_again(two, three.span(), three.span(), norm); }));
  CHECK(refused([&] { basis.subtract_again(two, four.span(), other.span(), norm); }));
  CHECK(refused([&] { basis.combine(three, three.span()); }));
  CHECK(refused([&] { basis.rotate(0, 3, three); }));
  CHECK(refused([&] { basis.rotate(-1, 2, two); }));
  CHECK(refused([&] { basis.rotate(1, 2, two); }));
  CHECK(refused([&] { basis.rotate(0, 2, three); }));
  CHECK(refused([&] { basis.rotate(0, 1, two); }));
  CHECK_THROWS_WITH_AS((Basis<T, B>(context, std::int64_t{1} << 40, 1000, BasisStorage::fp16)),
                       doctest::Contains("2199023255552000 bytes requested"), Error);
}

TEST_CASE_TEMPLATE_DEFINE("a basis tells its bytes beforehand", S, basis_bytes) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const std::int64_t n = 1000, padded = 1024, count = 5;
  const auto bytes = [&](BasisStorage storage) {
    CHECK(Basis<T, B>(context, n, count, storage).bytes() ==
          Basis<T, B>::bytes(context, n, count, storage));
    return Basis<T, B>::bytes(context, n, count, storage);
  };
  const std::int64_t full = bytes(BasisStorage::working);
  CHECK(full >= count * padded * std::int64_t{sizeof(T)});
  CHECK(full - bytes(BasisStorage::fp32) == count * padded * (std::int64_t{sizeof(T)} - 4));
  CHECK(full - bytes(BasisStorage::fp16) == count * padded * (std::int64_t{sizeof(T)} - 2));
}

#define TANSOLVE_KRYLOV_CONFORMS(...)                             \
  TEST_CASE_TEMPLATE_INVOKE(basis_stores, __VA_ARGS__);           \
  TEST_CASE_TEMPLATE_INVOKE(basis_products, __VA_ARGS__);         \
  TEST_CASE_TEMPLATE_INVOKE(basis_orthogonalises, __VA_ARGS__);   \
  TEST_CASE_TEMPLATE_INVOKE(basis_projection_range, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(basis_sums, __VA_ARGS__);             \
  TEST_CASE_TEMPLATE_INVOKE(basis_norm_range, __VA_ARGS__);       \
  TEST_CASE_TEMPLATE_INVOKE(basis_rotates, __VA_ARGS__);          \
  TEST_CASE_TEMPLATE_INVOKE(basis_refuses, __VA_ARGS__);          \
  TEST_CASE_TEMPLATE_INVOKE(basis_bytes, __VA_ARGS__);            \
  TEST_CASE_TEMPLATE_INVOKE(random_vectors, __VA_ARGS__)

}  // namespace tansolve::test
