// SPDX-License-Identifier: BSD-3-Clause
// The serial truth about a basis: plain loops over raw arrays.
#pragma once

#include <tansolve/kernels/basis_view.hpp>

namespace tansolve::reference {

// Formulas: kernels/basis.hpp. T is double or float, S a storage type that is not wider.

template <class T, class S>
void basis_store(std::int64_t n, T norm, T* w, S* v);
template <class T, class S>
void basis_project(const detail::BasisView<S>& V, const T* w, T* h);
template <class T, class S>
void basis_subtract(const detail::BasisView<S>& V, const T* h, T* w);
template <class T, class S>
void basis_combine(const detail::BasisView<S>& V, const T* y, T* x);
template <class T, class S>
void basis_rotate(const detail::BasisView<S>& V, std::int64_t k, const T* Q);

}  // namespace tansolve::reference
