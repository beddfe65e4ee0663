// SPDX-License-Identifier: BSD-3-Clause
// SpMM of cuSPARSE's generic API.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/cuda/cusparse.cuh>
#include <tansolve/kernels/cuda/vendor_block.hpp>

namespace tansolve {
namespace {

using DenseMatrix = detail::Owned<cusparseDnMatDescr_t, cusparseDestroyDnMat>;

cusparseSpMMAlg_t spmm(VendorBlockAlgorithm algorithm) {
  switch (algorithm) {
    case VendorBlockAlgorithm::csr_alg1:
      return CUSPARSE_SPMM_CSR_ALG1;
    case VendorBlockAlgorithm::csr_alg2:
      return CUSPARSE_SPMM_CSR_ALG2;
    default:
      return CUSPARSE_SPMM_CSR_ALG3;
  }
}

template <class T>
DenseMatrix dense_matrix(std::int64_t rows, std::int64_t columns, BlockLayout layout, T* values) {
  const bool by_columns = layout == BlockLayout::columns;
  return detail::made<DenseMatrix>(
      [&](auto* m) {
        return cusparseCreateDnMat(m, rows, columns, by_columns ? rows : columns, values,
                                   detail::data_type<T>,
                                   by_columns ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW);
      },
      "cusparseCreateDnMat");
}

}  // namespace

std::string_view name(VendorBlockAlgorithm algorithm) {
  constexpr std::string_view names[] = {"csr_alg1", "csr_alg2", "csr_alg3"};
  return names[static_cast<std::size_t>(algorithm)];
}

template <class T>
struct VendorBlockProduct<T>::State {
  explicit State(Context<Cuda>& owner)
      : context(&owner), library(detail::cusparse_library(owner)), arrays(owner) {}

  Context<Cuda>* context;
  detail::CusparseLibrary library;
  detail::DeviceArrays arrays;
  detail::CusparseMatrix matrix;
  DenseMatrix X, Y;
  cusparseSpMMAlg_t algorithm;
  void* buffer = nullptr;
};

template <class T>
VendorBlockProduct<T>::VendorBlockProduct(Context<Cuda>& context, const Csr<T>& matrix,
                                          std::int64_t columns, BlockLayout layout,
                                          VendorBlockAlgorithm algorithm, Span<const T, Cuda> X,
                                          Span<T, Cuda> Y)
    : state_(std::make_unique<State>(context)) {
  if (columns < 1 || X.size() != columns * matrix.cols() || Y.size() != columns * matrix.rows())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("SpMM of {} x {} with {} columns: X has {} elements and Y {}",
                            matrix.rows(), matrix.cols(), columns, X.size(), Y.size()));
  if (matrix.nnz() == 0)
    throw Error(ErrorCode::not_supported, "cuSPARSE: no SpMM of a matrix without nonzeros");
  State& s = *state_;
  s.matrix = matrix.nnz() <= detail::most_32_bit
                 ? detail::cusparse_csr<std::int32_t>(matrix, s.arrays)
                 : detail::cusparse_csr<std::int64_t>(matrix, s.arrays);
  s.X = dense_matrix(matrix.cols(), columns, layout, const_cast<T*>(X.data()));
  s.Y = dense_matrix(matrix.rows(), columns, layout, Y.data());
  s.algorithm = spmm(algorithm);
  const T alpha = 1, beta = 0;
  std::size_t bytes = 0;
  TANSOLVE_CUSPARSE_CHECK(cusparseSpMM_bufferSize(
      s.library.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,
      s.matrix.get(), s.X.get(), &beta, s.Y.get(), detail::data_type<T>, s.algorithm, &bytes));
  s.buffer = s.arrays.reserve(bytes);
  TANSOLVE_CUSPARSE_CHECK(cusparseSpMM_preprocess(
      s.library.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,
      s.matrix.get(), s.X.get(), &beta, s.Y.get(), detail::data_type<T>, s.algorithm, s.buffer));
  context.synchronize();
}

template <class T>
VendorBlockProduct<T>::~VendorBlockProduct() = default;

template <class T>
void VendorBlockProduct<T>::apply() const {
  const State& s = *state_;
  s.context->stream();  // cuSPARSE launches on the current device
  const T alpha = 1, beta = 0;
  TANSOLVE_CUSPARSE_CHECK(cusparseSpMM(
      s.library.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha,
      s.matrix.get(), s.X.get(), &beta, s.Y.get(), detail::data_type<T>, s.algorithm, s.buffer));
}

template class VendorBlockProduct<double>;
template class VendorBlockProduct<float>;

}  // namespace tansolve
