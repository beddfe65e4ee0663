// SPDX-License-Identifier: BSD-3-Clause
// Makes vectors orthonormal, and others orthogonal to them.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/primitives.hpp>
#include <tansolve/preconditioners/null_space.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

namespace tansolve {
namespace {

template <class T, class B>
std::vector<Vector<T, B>> constant_vector(Context<B>& context, std::int64_t n) {
  std::vector<Vector<T, B>> vectors;
  vectors.emplace_back(context, n);
  fill(context, 1, vectors.front().span());
  return vectors;
}

}  // namespace

template <class T, class B>
NullSpace<T, B>::NullSpace(Context<B>& context, std::int64_t n)
    : NullSpace(context, constant_vector<T>(context, n)) {}

template <class T, class B>
NullSpace<T, B>::NullSpace(Context<B>& context, std::vector<Vector<T, B>> vectors)
    : context_(&context), product_(context) {
  if (vectors.empty())
    throw Error(ErrorCode::invalid_argument, "null space: no vectors, it takes at least 1");
  const auto norm = [&](Span<T, B> z) {
    norm2(context, z, product_);
    return static_cast<double>(read(context, product_));
  };
  for (auto& vector : vectors) {
    const Span<T, B> z = vector;
    for (int repeat = 0; repeat < 2; ++repeat) {  // twice is enough
      const double before = norm(z);
      scale(context, static_cast<T>(1 / before), z);
      project(z);
      // NaN where `before` is 0 or not finite.
      if (!(norm(z) > std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()))))
        throw Error(ErrorCode::invalid_argument,
                    fmt::format("null space: vector {} (counting from 0) is not finite, 0 or "
                                "depends on those before it",
                                vectors_.size()));
    }
    scale(context, static_cast<T>(1 / norm(z)), z);
    vectors_.push_back(std::move(vector));
  }
}

template <class T, class B>
void NullSpace<T, B>::project(Span<T, B> x) const {
  for (const auto& z : vectors_) {
    dot(*context_, z, x, product_);
    axpby(*context_, -read(*context_, product_), z, 1, x);
  }
}

template <class T, class B>
Projected<T, B>::Projected(const LinearOperator<T, B>& A, const NullSpace<T, B>& Z)
    : LinearOperator<T, B>(A.context(), A.rows(), A.cols()), A_(&A), Z_(&Z) {
  if (A.rows() != Z.size())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("projected: {} is {} x {}, the null space's vectors have {} elements",
                            A.name(), A.rows(), A.cols(), Z.size()));
}

template <class T, class B>
void Projected<T, B>::apply_impl(Span<const T, B> x, Span<T, B> y) const {
  A_->apply(x, y);
  Z_->project(y);
}

template <class T, class B>
void Projected<T, B>::apply_block_impl(std::int64_t columns, Span<const T, B> X,
                                       Span<T, B> Y) const {
  A_->apply_block(columns, X, Y);
  for (std::int64_t c = 0; c < columns; ++c) Z_->project(Y.subspan(c * this->rows(), this->rows()));
}

#define TANSOLVE_INSTANTIATE(T, B) \
  template class NullSpace<T, B>;  \
  template class Projected<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
