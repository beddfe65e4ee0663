// SPDX-License-Identifier: BSD-3-Clause
// The solvers by short recurrences as a list, for tests that hold of all of them.
#pragma once

#include <tansolve/solvers/bicgstab.hpp>
#include <tansolve/solvers/fcg.hpp>
#include <tansolve/solvers/idr.hpp>

#include "solvers/krylov.hpp"

#include <vector>

namespace tansolve::test {

template <class T, class B>
struct Method {
  const char* name;
  bool definite;  ///< needs a symmetric positive definite matrix
  Report (*solve)(const LinearOperator<T, B>&, Span<const T, B>, Span<T, B>,
                  const SolveOptions<T, B>&);
};

template <class T, class B>
std::vector<Method<T, B>> methods() {
  return {{"fcg", true, fcg<T, B>},
          {"bicgstab", false, bicgstab<T, B>},
          {"idr", false, [](const auto& A, auto b, auto x, const auto& options) {
             return idr(A, b, x, options);
           }}};
}

/// Those for matrices of any kind.
template <class T, class B>
std::vector<Method<T, B>> general_methods() {
  auto all = methods<T, B>();
  std::erase_if(all, [](const auto& method) { return method.definite; });
  return all;
}

template <class T, class B>
Answer<T> solve_by(const Method<T, B>& method, const LinearOperator<T, B>& A,
                   const std::type_identity_t<std::vector<T>>& b,
                   const std::type_identity_t<SolveOptions<T, B>>& options = {},
                   std::type_identity_t<std::vector<T>> x0 = {}) {
  Context<B>& context = A.context();
  const auto device_b = upload(context, b);
  x0.resize(A.rows(), T(0));
  auto x = upload(context, x0);
  Report report = method.solve(A, device_b, x, options);
  return {std::move(report), download(context, x)};
}

}  // namespace tansolve::test
