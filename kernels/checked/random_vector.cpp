// SPDX-License-Identifier: BSD-3-Clause
// Random vectors of the suspicious backend.
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/kernels/random_vector_kernels.hpp>

namespace tansolve::detail {

template <class T>
void fill_random(Context<Checked>&, std::int64_t n, std::uint64_t state, T* x) {
  for (std::int64_t i = 0; i < n; ++i) x[i] = static_cast<T>(random_element(state, i));
}

template void fill_random(Context<Checked>&, std::int64_t, std::uint64_t, double*);
template void fill_random(Context<Checked>&, std::int64_t, std::uint64_t, float*);

}  // namespace tansolve::detail
