// SPDX-License-Identifier: BSD-3-Clause
// Random vectors, counted as what they are: one pass.
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/kernels/random_vector_kernels.hpp>

namespace tansolve {

// The starts of two seeds' sequences are as good as independent: near ones would share elements.
template <class T, class B>
void fill_random(Context<B>& context, std::uint64_t seed, Span<T, B> x) {
  detail::count(context, x.size());
  detail::fill_random(context, x.size(), detail::scramble(seed), x.data());
}

#define TANSOLVE_INSTANTIATE(T, B) \
  template void fill_random(Context<B>&, std::uint64_t, Span<T, B>);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
