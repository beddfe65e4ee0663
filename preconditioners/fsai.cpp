// SPDX-License-Identifier: BSD-3-Clause
// Encodes the factor and its transpose, and multiplies by both.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/preconditioners/fsai.hpp>

#include <utility>

namespace tansolve {

template <class T, class B>
Fsai<T, B>::Fsai(Context<B>& context, const Csr<T>& A, const FsaiOptions& options)
    : Fsai(context, fsai_factor(A, options.pattern, options.threads), options.plan,
           options.threads) {}

template <class T, class B>
Fsai<T, B>::Fsai(Context<B>& context, Csr<T> G, const PlanRequest& plan, int threads)
    : LinearOperator<T, B>(context, G.rows(), G.cols()),
      Gt_(context, transpose(G), plan, threads),
      G_(context, std::move(G), plan, threads),
      Gr_(context, this->rows()) {}

template <class T, class B>
void Fsai<T, B>::apply_impl(Span<const T, B> r, Span<T, B> z) const {
  G_.product().apply(r, Gr_.span());
  Gt_.product().apply(Gr_, z);
}

template <class T, class B>
void Fsai<T, B>::apply_transposed_impl(Span<const T, B> r, Span<T, B> z) const {
  apply_impl(r, z);
}

#define TANSOLVE_INSTANTIATE(T, B) template class Fsai<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
