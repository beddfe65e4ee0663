// SPDX-License-Identifier: BSD-3-Clause
// Random vectors on the host.
#include <tansolve/kernels/host/chunks.hpp>
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/kernels/random_vector_kernels.hpp>

namespace tansolve::detail {

template <class T>
void fill_random(Context<Host>& context, std::int64_t n, std::uint64_t state, T* x) {
  for_chunks(context, n, [=](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) x[i] = static_cast<T>(random_element(state, i));
  });
}

template void fill_random(Context<Host>&, std::int64_t, std::uint64_t, double*);
template void fill_random(Context<Host>&, std::int64_t, std::uint64_t, float*);

}  // namespace tansolve::detail
