// SPDX-License-Identifier: BSD-3-Clause
// Plans, encodes if that pays, and makes the operator.
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/survey.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#if TANSOLVE_HAS_CUDA
#include <tansolve/kernels/cuda/vendor_operator.hpp>
#endif
#include <tansolve/preconditioners/factor.hpp>
#include <tansolve/preconditioners/held_bytes.hpp>

#include <utility>

namespace tansolve {
namespace {

/// The fastest of those that give the same bits at each call.
template <class T, class B>
std::unique_ptr<LinearOperator<T, B>> plain_operator(Context<B>& context, const Csr<T>& matrix) {
#if TANSOLVE_HAS_CUDA
  if constexpr (std::is_same_v<B, Cuda>)
    return std::make_unique<VendorOperator<T>>(context, matrix, VendorFormat::csr_alg2);
  else
#endif
    return std::make_unique<CsrOperator<T, B>>(context, matrix);
}

}  // namespace

template <class T, class B>
Factor<T, B>::Factor(Context<B>& context, Csr<T> matrix, PlanRequest request, int threads)
    : csr_bytes_(standard_bytes(matrix).csr) {
  request.processor = std::is_same_v<B, Cuda> ? Processor::gpu : Processor::host;
  const CsrRows<T> rows(matrix);
  Survey<T> survey(rows, threads);
  const PlanChoice choice = choose_plan(survey, request);
  if (choice.compression_pays) {
    compressed_ = std::make_unique<CompressedMatrix<T>>(encode(survey, choice.chosen.plan));
    operator_ = std::make_unique<CompressedOperator<T, B>>(context, *compressed_);
  } else {
    csr_ = std::make_unique<Csr<T>>(std::move(matrix));
    operator_ = plain_operator(context, *csr_);
  }
}

template <class T, class B>
std::int64_t Factor<T, B>::bytes() const {
  return compressed() ? compressed_->storage().total() : csr_bytes_;
}

template <class T, class B>
std::int64_t Factor<T, B>::host_bytes() const {
  return compressed() ? compressed_->storage().total() : detail::held_bytes(*csr_);
}

#define TANSOLVE_INSTANTIATE(T, B) template class Factor<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
