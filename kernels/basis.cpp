// SPDX-License-Identifier: BSD-3-Clause
// Bases: their memory, the checks and counts, and the way from a storage to its kernels.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/basis.hpp>
#include <tansolve/kernels/basis_kernels.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/for_each_backend.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tansolve {
namespace {

std::int64_t stride_of(std::int64_t n) {
  return (n + detail::basis_alignment - 1) / detail::basis_alignment * detail::basis_alignment;
}

/// Throws Error(out_of_memory) where more is asked for than there is: a host that overcommits would
/// give the address space and end the process later, when it is written to.
template <class T, class B>
std::int64_t elements_of(const Context<B>& context, std::int64_t n, std::int64_t count,
                         BasisStorage storage) {
  const double bytes = static_cast<double>(stride_of(n)) * static_cast<double>(count) *
                       static_cast<double>(storage_width<T>(storage));
  const std::int64_t available = detail::available_memory(context);
  if (bytes > static_cast<double>(available))
    throw Error(ErrorCode::out_of_memory,
                fmt::format("a basis of {} vectors of {} elements of {} bytes: {:.0f} bytes "
                            "requested, {} are there",
                            count, n, storage_width<T>(storage), bytes, available));
  return stride_of(n) * count;
}

template <class T, class B>
std::variant<Vector<double, B>, Vector<float, B>, Vector<UnitHalf, B>> allocate(
    Context<B>& context, std::int64_t elements, BasisStorage storage) {
  if (storage == BasisStorage::fp16) return Vector<UnitHalf, B>(context, elements);
  if (storage == BasisStorage::fp32 || std::is_same_v<T, float>)
    return Vector<float, B>(context, elements);
  return Vector<double, B>(context, elements);
}

template <class T, class B>
void require_apart(const char* name, Span<T, B> written, Span<const T, B> other) {
  if (detail::overlap(written, other))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: a vector that is written overlaps another", name));
}

/// Calls use(data) with the elements as pointer to their type, among those that T may be stored as.
template <class T, class Elements, class Use>
void with_elements(Elements& elements, const Use& use) {
  std::visit(
      [&](auto& vector) {
        using S = std::remove_pointer_t<decltype(vector.span().data())>;
        if constexpr (sizeof(S) <= sizeof(T)) use(vector.span().data());
      },
      elements);
}

}  // namespace

template <class T>
std::int64_t storage_width(BasisStorage storage) {
  if (storage == BasisStorage::fp16) return sizeof(UnitHalf);
  return storage == BasisStorage::fp32 ? sizeof(float) : sizeof(T);
}

template <class T>
double storage_roundoff(BasisStorage storage) {
  if (storage == BasisStorage::fp16) return 0x1p-11;
  const bool narrow = storage == BasisStorage::fp32 || std::is_same_v<T, float>;
  return narrow ? 0x1p-24 : 0x1p-53;
}

template <class T, class B>
Basis<T, B>::Basis(Context<B>& context, std::int64_t n, std::int64_t count, BasisStorage storage)
    : context_(&context),
      n_(n),
      count_(count),
      stride_(stride_of(n)),
      storage_(storage),
      elements_(allocate<T>(context, elements_of<T>(context, n, count, storage), storage)),
      partials_(context, detail::basis_partials(context, n) * count + 1) {}

template <class T, class B>
std::int64_t Basis<T, B>::bytes(const Context<B>& context, std::int64_t n, std::int64_t count,
                                BasisStorage storage) {
  const std::int64_t partials = detail::basis_partials(context, n) * std::int64_t{sizeof(double)};
  return count * (stride_of(n) * storage_width<T>(storage) + partials) +
         std::int64_t{sizeof(double)};
}

template <class T, class B>
void Basis<T, B>::check(const char* name, std::int64_t k, Span<const T, B> w) const {
  if (k < 0 || k > count_ || w.size() != n_)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} vectors and one of {} elements for a basis of {} of {}", name,
                            k, w.size(), count_, n_));
}

template <class T, class B>
void Basis<T, B>::store(std::int64_t j, const Scalar<T, B>& norm, Span<T, B> w) {
  check("store", j < 0 ? j : j + 1, w);
  detail::count(*context_, 3 * n_);
  with_elements<T>(elements_, [&](auto* data) {
    detail::basis_store(*context_, n_, norm.data(), w.data(), data + j * stride_);
  });
}

template <class T, class B>
void Basis<T, B>::project(In<T, B> w, Span<T, B> h) {
  const std::int64_t k = h.size();
  check("project", k, w);
  require_apart("project", h, w);
  detail::count(*context_, (k + 1) * n_, k);
  with_elements<T>(elements_, [&](auto* data) {
    detail::basis_project(*context_, detail::BasisView{data, n_, stride_, k}, w.data(), h.data(),
                          partials_.span().data());
  });
}

template <class T, class B>
void Basis<T, B>::subtract_project(In<T, B> h, Span<T, B> w, Span<T, B> g) {
  const std::int64_t k = h.size();
  check("subtract_project", k, w);
  require_apart("subtract_project", w, h);
  require_apart("subtract_project", g, h);
  require_apart("subtract_project", g, Span<const T, B>(w));
  if (g.size() != k)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("subtract_project: {} and {} coefficients", k, g.size()));
  detail::count(*context_, (k + 2) * n_, k);
  with_elements<T>(elements_, [&](auto* data) {
    detail::basis_subtract_project(*context_, detail::BasisView{data, n_, stride_, k}, h.data(),
                                   w.data(), g.data(), partials_.span().data());
  });
}

template <class T, class B>
void Basis<T, B>::subtract(In<T, B> h, Span<T, B> w, Scalar<T, B>& norm) {
  const std::int64_t k = h.size();
  check("subtract", k, w);
  require_apart("subtract", w, h);
  detail::count(*context_, (k + 2) * n_, 1);
  with_elements<T>(elements_, [&](auto* data) {
    detail::basis_subtract(*context_, detail::BasisView{data, n_, stride_, k}, h.data(), w.data(),
                           norm.data());
  });
}

template <class T, class B>
void Basis<T, B>::subtract_again(In<T, B> h, Span<T, B> w, Span<T, B> g, Scalar<T, B>& norm) {
  const std::int64_t k = h.size();
  check("subtract_again", k, w);
  require_apart("subtract_again", w, h);
  require_apart("subtract_again", g, h);
  require_apart("subtract_again", g, Span<const T, B>(w));
  if (g.size() != k)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("subtract_again: {} and {} coefficients", k, g.size()));
  with_elements<T>(elements_, [&](auto* data) {
    const bool again =
        detail::basis_subtract_again(*context_, detail::BasisView{data, n_, stride_, k}, h.data(),
                                     w.data(), g.data(), norm.data(), partials_.span().data());
    if (again) detail::count(*context_, (2 * k + 3) * n_, k + 1);
  });
}

template <class T, class B>
void Basis<T, B>::combine(In<T, B> y, Span<T, B> x) {
  const std::int64_t k = y.size();
  check("combine", k, x);
  require_apart("combine", x, y);
  detail::count(*context_, (k + 1) * n_);
  with_elements<T>(elements_, [&](auto* data) {
    detail::basis_combine(*context_, detail::BasisView{data, n_, stride_, k}, y.data(), x.data());
  });
}

template <class T, class B>
void Basis<T, B>::rotate(std::int64_t first, std::int64_t m, In<T, B> Q) {
  const std::int64_t k = m > 0 ? Q.size() / m : 0;
  if (first < 0 || m < 1 || m > most_rotated || first + m > count_ || k > m || Q.size() != k * m)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("rotate: {} vectors from {} on by {} coefficients in a basis of {}; at "
                            "most {} at once",
                            m, first, Q.size(), count_, most_rotated));
  detail::count(*context_, (m + k) * n_);
  with_elements<T>(elements_, [&](auto* data) {
    detail::basis_rotate(*context_, detail::BasisView{data + first * stride_, n_, stride_, m}, k,
                         Q.data(), partials_.span().data());
  });
}

#define TANSOLVE_INSTANTIATE(T, B) template class Basis<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE
template std::int64_t storage_width<double>(BasisStorage);
template std::int64_t storage_width<float>(BasisStorage);
template double storage_roundoff<double>(BasisStorage);
template double storage_roundoff<float>(BasisStorage);

}  // namespace tansolve
