// SPDX-License-Identifier: BSD-3-Clause
// The kernels of random vectors over raw arrays, which every backend defines.
#pragma once

#include <tansolve/kernels/backend.hpp>

#include <cstdint>

namespace tansolve::detail {

// x_i = random_element(state, i)
template <class T>
void fill_random(Context<Host>& context, std::int64_t n, std::uint64_t state, T* x);
template <class T>
void fill_random(Context<Checked>& context, std::int64_t n, std::uint64_t state, T* x);
template <class T>
void fill_random(Context<Cuda>& context, std::int64_t n, std::uint64_t state, T* x);

}  // namespace tansolve::detail
