// SPDX-License-Identifier: BSD-3-Clause
// Random vectors that are the same on every backend and with every standard library.
#pragma once

#include <tansolve/kernels/vector.hpp>

#include <cstdint>

namespace tansolve {

/// Elements uniform in [-1, 1), made on the host and copied piece by piece.
template <class T, class B>
void fill_random(Context<B>& context, std::uint64_t seed, Span<T, B> x);

}  // namespace tansolve
