// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE behind the operator's interface: SpMV of its generic API, and bsrmv, which took BSR
// before that.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/cuda/cusparse.cuh>
#include <tansolve/kernels/cuda/kernels.hpp>
#include <tansolve/kernels/cuda/vendor_formats.hpp>
#include <tansolve/kernels/cuda/vendor_operator.hpp>
#include <tansolve/kernels/host/kernels.hpp>

#include <fmt/format.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace tansolve {
namespace {

using detail::data_type;
using detail::DeviceArrays;
using detail::index_type;
using detail::made;
using detail::most_32_bit;
using Matrix = detail::CusparseMatrix;
using MatrixType = detail::Owned<cusparseMatDescr_t, cusparseDestroyMatDescr>;

#if CUSPARSE_VERSION >= 12600
constexpr cusparseSpMVAlg_t spmv_bsr = CUSPARSE_SPMV_BSR_ALG1;
#else
constexpr cusparseSpMVAlg_t spmv_bsr = CUSPARSE_SPMV_ALG_DEFAULT;  // answers "not supported"
#endif

cusparseSpMVAlg_t algorithm(VendorFormat format) {
  switch (format) {
    case VendorFormat::csr_alg1:
      return CUSPARSE_SPMV_CSR_ALG1;
    case VendorFormat::csr_alg2:
      return CUSPARSE_SPMV_CSR_ALG2;
    case VendorFormat::coo_alg1:
      return CUSPARSE_SPMV_COO_ALG1;
    case VendorFormat::coo_alg2:
      return CUSPARSE_SPMV_COO_ALG2;
    case VendorFormat::sell:
      return CUSPARSE_SPMV_SELL_ALG1;
    default:
      return spmv_bsr;
  }
}

/// The arrays of BSR, whose shape and size are checked first.
template <class T>
detail::BsrArrays<T> bsr_arrays(const Csr<T>& matrix, int block) {
  if (block < 2)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("block: {}; blocks of BSR have at least 2 rows", block));
  if (matrix.rows() % block != 0 || matrix.cols() % block != 0)
    throw Error(ErrorCode::not_supported, fmt::format("bsr: {} x {} is not made of {} x {} blocks",
                                                      matrix.rows(), matrix.cols(), block, block));
  const std::int64_t stored = detail::count_blocks(matrix, block) * block * block;
  if (stored > most_32_bit)
    throw Error(
        ErrorCode::not_supported,
        fmt::format("bsr: {} stored entries, cuSPARSE takes up to {}", stored, most_32_bit));
  return detail::to_bsr(matrix, block);
}

}  // namespace

template <class T>
class VendorOperator<T>::Product {
 public:
  explicit Product(Context<Cuda>& context)
      : arrays_(context), workspace_(context), library_(detail::cusparse_library(context)) {}
  virtual ~Product() = default;
  virtual void apply(T alpha, const T* x, T beta, T* y) = 0;
  std::int64_t matrix_bytes() const { return arrays_.bytes(); }
  std::int64_t device_bytes() const { return arrays_.bytes() + workspace_.bytes(); }

 protected:
  DeviceArrays arrays_, workspace_;
  detail::CusparseLibrary library_;
};

namespace {

template <class T>
class GenericProduct final : public VendorOperator<T>::Product {
 public:
  GenericProduct(Context<Cuda>& context, const Csr<T>& matrix, VendorFormat format, int block)
      : VendorOperator<T>::Product(context), algorithm_(algorithm(format)) {
    Vector<T, Cuda> x(context, matrix.cols()), y(context, matrix.rows());  // to prepare with
    x_ = detail::cusparse_vector(x.size(), x.span().data());
    y_ = detail::cusparse_vector(y.size(), y.span().data());
    const bool coo = format == VendorFormat::coo_alg1 || format == VendorFormat::coo_alg2;
    const bool bsr = format == VendorFormat::bsr;
    std::vector<std::int64_t> slices;
    if (format == VendorFormat::sell) slices = detail::sell_offsets(matrix);
    const std::int64_t stored = slices.empty() ? matrix.nnz() : slices.back();
    const auto prepared = [&]<class Index>(Index) {
      matrix_ = coo              ? coo_matrix<Index>(matrix)
                : bsr            ? bsr_matrix(matrix, block)
                : slices.empty() ? detail::cusparse_csr<Index>(matrix, this->arrays_)
                                 : sell_matrix<Index>(matrix, slices);
      return prepare();
    };
    // Offsets of 64 bits with columns of 32 are refused by cuSPARSE 12.6.
    if (!(stored <= most_32_bit ? prepared(std::int32_t()) : prepared(std::int64_t())))
      throw Error(ErrorCode::not_supported,
                  fmt::format("cuSPARSE: no {} product of {} stored entries",
                              tansolve::name(format), stored));
    context.synchronize();
  }

  void apply(T alpha, const T* x, T beta, T* y) override {
    TANSOLVE_CUSPARSE_CHECK(cusparseDnVecSetValues(x_.get(), const_cast<T*>(x)));
    TANSOLVE_CUSPARSE_CHECK(cusparseDnVecSetValues(y_.get(), y));
    TANSOLVE_CUSPARSE_CHECK(cusparseSpMV(this->library_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                         &alpha, matrix_.get(), x_.get(), &beta, y_.get(),
                                         data_type<T>, algorithm_, buffer_));
  }

 private:
  template <class Index>
  Matrix coo_matrix(const Csr<T>& a) {
    auto* rows = this->arrays_.template add<Index>(detail::row_indices<Index>(a));
    auto* columns = this->arrays_.template add_as<Index>(a.columns());
    auto* values = this->arrays_.template add<T>(a.values());
    return made<Matrix>(
        [&](auto* m) {
          return cusparseCreateCoo(m, a.rows(), a.cols(), a.nnz(), rows, columns, values,
                                   index_type<Index>, CUSPARSE_INDEX_BASE_ZERO, data_type<T>);
        },
        "cusparseCreateCoo");
  }

  template <class Index>
  Matrix sell_matrix(const Csr<T>& a, const std::vector<std::int64_t>& slices) {
    auto* offsets = this->arrays_.template add_as<Index>(slices);
    auto* columns =
        this->arrays_.template add<Index>(detail::to_sell(a, slices, a.columns(), Index(-1)));
    auto* values = this->arrays_.template add<T>(detail::to_sell(a, slices, a.values(), T(0)));
    return made<Matrix>(
        [&](auto* m) {
          return cusparseCreateSlicedEll(
              m, a.rows(), a.cols(), a.nnz(), slices.back(), detail::sell_slice, offsets, columns,
              values, index_type<Index>, index_type<Index>, CUSPARSE_INDEX_BASE_ZERO, data_type<T>);
        },
        "cusparseCreateSlicedEll");
  }

  Matrix bsr_matrix(const Csr<T>& a, int block) {
    const detail::BsrArrays<T> bsr = bsr_arrays(a, block);
    auto* offsets = this->arrays_.template add<std::int32_t>(bsr.offsets);
    auto* columns = this->arrays_.template add<std::int32_t>(bsr.columns);
    auto* values = this->arrays_.template add<T>(bsr.values);
    return made<Matrix>(
        [&](auto* m) {
          return cusparseCreateBsr(m, a.rows() / block, a.cols() / block, std::ssize(bsr.columns),
                                   block, block, offsets, columns, values, CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, data_type<T>,
                                   CUSPARSE_ORDER_COL);
        },
        "cusparseCreateBsr");
  }

  /// Reserves and fills the workspace; false: cuSPARSE does not take these types of indices.
  bool prepare() {
    const T alpha = 1, beta = 0;
    std::size_t bytes = 0;
    const auto supported = [](cusparseStatus_t status, const char* call) {
      if (status == CUSPARSE_STATUS_NOT_SUPPORTED) return false;
      detail::check(status, call);
      return true;
    };
    if (!supported(cusparseSpMV_bufferSize(this->library_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE,
                                           &alpha, matrix_.get(), x_.get(), &beta, y_.get(),
                                           data_type<T>, algorithm_, &bytes),
                   "cusparseSpMV_bufferSize"))
      return false;
    buffer_ = this->workspace_.reserve(bytes);
    const cusparseStatus_t prepared = cusparseSpMV_preprocess(
        this->library_.get(), CUSPARSE_OPERATION_NON_TRANSPOSE, &alpha, matrix_.get(), x_.get(),
        &beta, y_.get(), data_type<T>, algorithm_, buffer_);
    supported(prepared, "cusparseSpMV_preprocess");  // an offer, which not all formats have
    return true;
  }

  cusparseSpMVAlg_t algorithm_;
  Matrix matrix_;
  detail::CusparseVector x_, y_;
  void* buffer_ = nullptr;
};

template <class T>
class BlockProduct final : public VendorOperator<T>::Product {
 public:
  BlockProduct(Context<Cuda>& context, const Csr<T>& matrix, int block)
      : VendorOperator<T>::Product(context),
        type_(made<MatrixType>(cusparseCreateMatDescr, "cusparseCreateMatDescr")),
        block_(block) {
    const detail::BsrArrays<T> bsr = bsr_arrays(matrix, block);
    rows_ = static_cast<int>(matrix.rows() / block);
    cols_ = static_cast<int>(matrix.cols() / block);
    blocks_ = static_cast<int>(bsr.columns.size());
    offsets_ = this->arrays_.template add<std::int32_t>(bsr.offsets);
    columns_ = this->arrays_.template add<std::int32_t>(bsr.columns);
    values_ = this->arrays_.template add<T>(bsr.values);
  }

  void apply(T alpha, const T* x, T beta, T* y) override {
    const auto multiply = [] {
      if constexpr (std::is_same_v<T, double>)
        return cusparseDbsrmv;
      else
        return cusparseSbsrmv;
    }();
    detail::check(multiply(this->library_.get(), CUSPARSE_DIRECTION_COLUMN,
                           CUSPARSE_OPERATION_NON_TRANSPOSE, rows_, cols_, blocks_, &alpha,
                           type_.get(), values_, offsets_, columns_, block_, x, &beta, y),
                  "cusparse<T>bsrmv");
  }

 private:
  MatrixType type_;  // general, counted from 0
  int block_, rows_, cols_, blocks_;
  const std::int32_t *offsets_, *columns_;
  const T* values_;
};

}  // namespace

std::string_view name(VendorFormat format) {
  constexpr std::string_view names[] = {"csr_alg1", "csr_alg2", "coo_alg1", "coo_alg2",
                                        "sell",     "bsr",      "bsrmv"};
  return names[static_cast<std::size_t>(format)];
}

template <class T>
VendorOperator<T>::VendorOperator(Context<Cuda>& context, const Csr<T>& matrix, VendorFormat format,
                                  int block)
    : LinearOperator<T, Cuda>(context, matrix.rows(), matrix.cols()),
      matrix_(&matrix),
      format_(format) {
  if (matrix.nnz() == 0) return;
  if (format == VendorFormat::bsrmv)
    product_ = std::make_unique<BlockProduct<T>>(context, matrix, block);
  else
    product_ = std::make_unique<GenericProduct<T>>(context, matrix, format, block);
}

template <class T>
VendorOperator<T>::~VendorOperator() = default;

template <class T>
std::string VendorOperator<T>::name() const {
  return fmt::format("cusparse {}", tansolve::name(format_));
}

template <class T>
std::int64_t VendorOperator<T>::matrix_bytes() const {
  return product_ ? product_->matrix_bytes() : 0;
}

template <class T>
std::int64_t VendorOperator<T>::device_bytes() const {
  return product_ ? product_->device_bytes() : 0;
}

template <class T>
void VendorOperator<T>::apply_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const {
  apply_impl(T(1), x, T(0), y);
}

template <class T>
void VendorOperator<T>::apply_impl(T alpha, Span<const T, Cuda> x, T beta, Span<T, Cuda> y) const {
  Context<Cuda>& context = this->context();
  context.stream();  // cuSPARSE launches on the current device
  if (product_)
    product_->apply(alpha, x.data(), beta, y.data());
  else if (beta == T(0))
    detail::fill(context, y.size(), T(0), y.data());
  else
    detail::scale(context, y.size(), beta, y.data());
}

template <class T>
void VendorOperator<T>::diagonal_impl(Span<T, Cuda> d) const {
  std::vector<T> diagonal(d.size());
  Context<Host> host;
  detail::csr_diagonal(host, *matrix_, diagonal.data());
  copy_from_host(this->context(), diagonal, d);
}

template class VendorOperator<double>;
template class VendorOperator<float>;

}  // namespace tansolve
