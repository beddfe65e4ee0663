// SPDX-License-Identifier: BSD-3-Clause
// A recipe of our own: the standard's distributions differ between libraries.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/random_vector.hpp>

#include <algorithm>
#include <array>
#include <random>
#include <span>

namespace tansolve {

template <class T, class B>
void fill_random(Context<B>& context, std::uint64_t seed, Span<T, B> x) {
  constexpr std::int64_t piece = 4096;  // elements that pass through the stack at once
  std::mt19937_64 random(seed);
  std::array<T, piece> buffer;
  for (std::int64_t first = 0; first < x.size(); first += piece) {
    const std::int64_t count = std::min(piece, x.size() - first);
    for (std::int64_t i = 0; i < count; ++i)
      buffer[i] = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
    copy_from_host(context, std::span(buffer.data(), count), x.subspan(first, count));
  }
}

#define TANSOLVE_INSTANTIATE(T, B) \
  template void fill_random(Context<B>&, std::uint64_t, Span<T, B>);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
