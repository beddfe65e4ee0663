// SPDX-License-Identifier: BSD-3-Clause
// The backends that a test is instantiated for, and the two copies that all of them offer.
#pragma once

#include <tansolve/kernels/vector.hpp>

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

namespace tansolve::test {

/// A value type, a backend, and how to make its context.
template <class Value, class Backend, int threads = 1>
struct Setting {
  using T = Value;
  using B = Backend;
  static Context<B> context() {
    if constexpr (std::is_same_v<B, Host>)
      return Context<B>(threads);
    else
      return Context<B>();
  }
};

template <class T, class B>
Vector<T, B> upload(Context<B>& context, const std::vector<T>& elements) {
  Vector<T, B> vector(context, std::ssize(elements));
  copy_from_host(context, elements, vector.span());
  return vector;
}

template <class T, class B>
std::vector<T> download(Context<B>& context, const Vector<T, B>& vector) {
  std::vector<T> elements(vector.size());
  copy_to_host<T>(context, vector, elements);
  return elements;
}

/// Whether the elements are equal, any NaN being equal to any other.
template <class T>
bool same(const std::vector<T>& a, const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(a[i] == b[i]) && !(a[i] != a[i] && b[i] != b[i])) return false;
  return true;
}

}  // namespace tansolve::test

TYPE_TO_STRING_AS("double, Host, 1 thread", tansolve::test::Setting<double, tansolve::Host, 1>);
TYPE_TO_STRING_AS("double, Host, 2 threads", tansolve::test::Setting<double, tansolve::Host, 2>);
TYPE_TO_STRING_AS("float, Host, 1 thread", tansolve::test::Setting<float, tansolve::Host, 1>);
TYPE_TO_STRING_AS("float, Host, 2 threads", tansolve::test::Setting<float, tansolve::Host, 2>);
TYPE_TO_STRING_AS("double, Checked", tansolve::test::Setting<double, tansolve::Checked>);
TYPE_TO_STRING_AS("float, Checked", tansolve::test::Setting<float, tansolve::Checked>);
