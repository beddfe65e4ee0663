// SPDX-License-Identifier: BSD-3-Clause
// The scalars of a conjugate gradient step as kernels take them.
#pragma once

#include <tansolve/kernels/primitives.hpp>

namespace tansolve::detail {

/// CgScalars as pointers into the memory of their backend.
template <class T>
struct CgPointers {
  template <class B>
  explicit CgPointers(const CgScalars<T, B>& s)
      : rho(s.rho.data()),
        rho_old(s.rho_old.data()),
        pq(s.pq.data()),
        rr(s.rr.data()),
        rr_next(s.rr_next.data()) {}

  const T *rho, *rho_old, *pq, *rr;
  T* rr_next;
};

}  // namespace tansolve::detail
