// SPDX-License-Identifier: BSD-3-Clause
// When and how a basis makes the second pass of Gram-Schmidt on every backend.
#pragma once

#include "kernels/krylov_conformance.hpp"

#include <algorithm>

namespace tansolve::test {

/// The largest |v_i'v_j|, i < j, of `count` nearly dependent vectors that pass(basis, j, w, norm)
/// makes orthogonal to the j before it.
template <class T, class B, class Pass>
double worst_overlap(Context<B>& context, std::int64_t n, std::int64_t count, BasisStorage storage,
                     const Pass& pass) {
  Basis<T, B> basis(context, n, count, storage);
  Scalar<T, B> norm(context);
  Vector<T, B> h(context, count);
  const auto common = random_elements<T>(n, 1);
  const T apart = static_cast<T>(8 * std::sqrt(storage_roundoff<T>(storage)));
  double worst = 0;
  for (std::int64_t j = 0; j < count; ++j) {
    auto elements = random_elements<T>(n, 10 + j);
    for (std::int64_t i = 0; i < n; ++i) elements[i] = common[i] + apart * elements[i];
    auto w = upload(context, elements);
    pass(basis, j, w.span(), norm);
    basis.store(j, norm, w.span());
    basis.project(w, h.span().subspan(0, j));
    const auto overlaps = download(context, h);
    for (std::int64_t i = 0; i < j; ++i)
      worst = std::max(worst, std::abs(static_cast<double>(overlaps[i])));
  }
  return worst;
}

TEST_CASE_TEMPLATE_DEFINE("a second pass where it is needed is as good as one each time", S,
                          basis_second_pass) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  const std::int64_t n = 3000, count = 40;  // two runs
  Vector<T, B> h(context, count), g(context, count);
  const auto once = [&](auto& basis, std::int64_t j, Span<T, B> w, Scalar<T, B>& norm) {
    basis.project(w, h.span().subspan(0, j));
    basis.subtract(h.span().subspan(0, j), w, norm);
  };
  const auto needed = [&](auto& basis, std::int64_t j, Span<T, B> w, Scalar<T, B>& norm) {
    once(basis, j, w, norm);
    basis.subtract_again(h.span().subspan(0, j), w, g.span().subspan(0, j), norm);
  };
  const auto always = [&](auto& basis, std::int64_t j, Span<T, B> w, Scalar<T, B>& norm) {
    basis.project(w, h.span().subspan(0, j));
    basis.subtract_project(h.span().subspan(0, j), w, g.span().subspan(0, j));
    basis.subtract(g.span().subspan(0, j), w, norm);
  };
  for (const BasisStorage storage : storages) {
    CAPTURE(static_cast<int>(storage));
    const double bound = 8 * storage_roundoff<T>(storage);
    CHECK(worst_overlap<T>(context, n, count, storage, needed) <= bound);
    CHECK(worst_overlap<T>(context, n, count, storage, always) <= bound);
    if (storage == BasisStorage::working)
      CHECK(worst_overlap<T>(context, n, count, storage, once) > 10 * bound);
  }
}

TEST_CASE_TEMPLATE_DEFINE("a second pass is made where less than 1/sqrt(2) of a vector is left", S,
                          basis_second_pass_by_hand) {
  using T = typename S::T;
  using B = typename S::B;
  auto context = S::context();
  Basis<T, B> basis(context, 3, 2, BasisStorage::working);
  Scalar<T, B> norm(context);
  write(context, 1, norm);
  for (const auto& [j, v] : {std::pair{0, std::vector<T>{1, 0, 0}}, {1, {0, 1, 0}}}) {
    auto w = upload(context, v);
    basis.store(j, norm, w.span());
  }
  const T huge = std::numeric_limits<T>::max() / 8, nan = std::numeric_limits<T>::quiet_NaN();
  Vector<T, B> g(context, 2);
  // The first pass has left rounding errors of 2 and 1 along the basis beside a third element.
  const auto check = [&](const std::vector<T>& h, T left, bool again) {
    auto w = upload<T>(context, {2, 1, left});
    write(context, left, norm);
    basis.subtract_again(upload(context, h), w.span(), g.span(), norm);
    CHECK(download(context, g) == (again ? std::vector<T>{2, 1} : std::vector<T>{0, 0}));
    CHECK(same(download(context, w),
               again ? std::vector<T>{0, 0, left} : std::vector<T>{2, 1, left}));
    CHECK(same<T>({read(context, norm)}, {left}));
  };
  check({30, 40}, 49, true);
  check({30, 40}, 50, false);
  check({3 * (huge / 8), 4 * (huge / 8)}, 4 * (huge / 8), true);
  check({3 * (huge / 8), 4 * (huge / 8)}, 6 * (huge / 8), false);
  check({0, 0}, 0, false);
  check({3, 4}, nan, false);
  check({nan, 4}, 1, false);
}

#define TANSOLVE_SECOND_PASS_CONFORMS(...)                   \
  TEST_CASE_TEMPLATE_INVOKE(basis_second_pass, __VA_ARGS__); \
  TEST_CASE_TEMPLATE_INVOKE(basis_second_pass_by_hand, __VA_ARGS__)

}  // namespace tansolve::test
