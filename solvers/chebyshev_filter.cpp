// SPDX-License-Identifier: BSD-3-Clause
// Chebyshev polynomials of an operator, and of numbers.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/solvers/chebyshev_filter.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tansolve::detail {

double SpectralMap::preimage(double image) const {
  if (identity()) return image;
  if (!(image > 1)) return cut;
  return centre() + half_width() * std::cosh(std::acosh(image) / static_cast<double>(degree));
}

std::optional<SpectralMap> SpectralMap::sharper(double near, double edge, double beyond,
                                                std::int64_t most) const {
  // (lambda - c) / h at `near`, for a cut at the edge; and what T_most takes to about 27.
  const double at_edge = 1 + 2 * (edge - near) / (beyond - edge);
  const double at_near = std::max(at_edge, std::cosh(4 / static_cast<double>(most)));
  const double wanted = std::min(static_cast<double>(most), 6 / std::acosh(at_near));
  if (!(wanted >= 2 * static_cast<double>(degree))) return {};
  return SpectralMap{.degree = static_cast<std::int64_t>(wanted),
                     .cut = near + (beyond - near) * (at_near - 1) / (at_near + 1),
                     .far = beyond};
}

template <class T, class B>
void ChebyshevFilter<T, B>::apply_block_impl(std::int64_t columns, Span<const T, B> x,
                                             Span<T, B> y) const {
  Context<B>& context = this->context();
  const auto multiply = [&](Span<const T, B> from, Span<T, B> to) {
    columns == 1 ? A_->apply(from, to) : A_->apply_block(columns, from, to);
  };
  if (map_.identity()) return multiply(x, y);
  const T c = static_cast<T>(map_.centre() / map_.half_width());
  const T one_by_h = static_cast<T>(1 / map_.half_width());
  // T_k(A) x and T_(k-1)(A) x, which becomes T_(k+1)(A) x.
  Span<T, B> last = s_.subspan(0, x.size()), next = t_.subspan(0, x.size());
  copy<T, B>(context, x, next);
  multiply(x, last);
  axpby<T, B>(context, -c, x, one_by_h, last);
  for (std::int64_t k = 1; k < map_.degree; ++k) {
    multiply(last, y);
    axpbypcz<T, B>(context, 2 * one_by_h, y, -2 * c, last, -1, next);
    std::swap(last, next);
  }
  copy<T, B>(context, last, y);
}

#define TANSOLVE_INSTANTIATE(T, B) template class ChebyshevFilter<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
