// SPDX-License-Identifier: BSD-3-Clause
// From a prepared matrix to the operator of its format and device.
#include "operators.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#if TANSOLVE_HAS_CUDA
#include <tansolve/kernels/cuda/vendor_operator.hpp>
#endif

namespace tansolve::app {
namespace {

#if TANSOLVE_HAS_CUDA
VendorFormat vendor_format(Format format, bool deterministic) {
  switch (format) {
    case Format::csr:
      return deterministic ? VendorFormat::csr_alg2 : VendorFormat::csr_alg1;
    case Format::coo:
      return deterministic ? VendorFormat::coo_alg2 : VendorFormat::coo_alg1;
    default:
      return VendorFormat::sell;
  }
}

template <class T>
std::unique_ptr<LinearOperator<T, Cuda>> make_plain_operator(Context<Cuda>& context,
                                                             const Prepared<T>& matrix,
                                                             bool deterministic) {
  const VendorFormat format = vendor_format(matrix.plain, deterministic);
  if (deterministic && !VendorOperator<T>::reproducible(format))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("--format {}: cuSPARSE does not promise the same bits in every run; "
                            "--deterministic off takes it all the same",
                            format_name(matrix.plain)));
  return std::make_unique<VendorOperator<T>>(context, *matrix.csr, format);
}
#endif

template <class T>
std::unique_ptr<LinearOperator<T, Host>> make_plain_operator(Context<Host>& context,
                                                             const Prepared<T>& matrix, bool) {
  if (matrix.plain != Format::csr)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("--format {}: on the CPU there are dtans and csr", format_name(matrix.plain)));
  return std::make_unique<CsrOperator<T, Host>>(context, *matrix.csr);
}

}  // namespace

template <class T, class B>
std::unique_ptr<LinearOperator<T, B>> make_operator(Context<B>& context, const Prepared<T>& matrix,
                                                    bool deterministic) {
  if (matrix.compressed)
    return std::make_unique<CompressedOperator<T, B>>(context, *matrix.compressed);
  return make_plain_operator(context, matrix, deterministic);
}

#define TANSOLVE_INSTANTIATE(T, B)                                                              \
  template std::unique_ptr<LinearOperator<T, B>> make_operator(Context<B>&, const Prepared<T>&, \
                                                               bool);
TANSOLVE_INSTANTIATE(double, Host)
TANSOLVE_INSTANTIATE(float, Host)
TANSOLVE_FOR_EACH_GPU_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
