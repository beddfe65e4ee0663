// SPDX-License-Identifier: BSD-3-Clause
// cuSPARSE's SpSV behind the operator's interface.
#include <tansolve/kernels/cuda/cusparse.cuh>
#include <tansolve/kernels/cuda/triangular_solve.hpp>

namespace tansolve {
namespace {

using Analysis = detail::Owned<cusparseSpSVDescr_t, cusparseSpSV_destroyDescr>;

}  // namespace

template <class T>
class TriangularSolve<T, Cuda>::Solver {
 public:
  Solver(Context<Cuda>& context, const Csr<T>& A, Triangle triangle)
      : arrays_(context),
        library_(detail::cusparse_library(context)),
        matrix_(A.nnz() <= detail::most_32_bit ? detail::cusparse_csr<std::int32_t>(A, arrays_)
                                               : detail::cusparse_csr<std::int64_t>(A, arrays_)),
        analysis_(detail::made<Analysis>(cusparseSpSV_createDescr, "cusparseSpSV_createDescr")) {
    const cusparseFillMode_t fill =
        triangle == Triangle::lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
    const cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    set(CUSPARSE_SPMAT_FILL_MODE, fill);
    set(CUSPARSE_SPMAT_DIAG_TYPE, diagonal);

    Vector<T, Cuda> x(context, A.rows()), y(context, A.rows());  // to prepare with
    x_ = detail::cusparse_vector(x.size(), x.span().data());
    y_ = detail::cusparse_vector(y.size(), y.span().data());
    const T alpha = 1;
    std::size_t bytes = 0;
    TANSOLVE_CUSPARSE_CHECK(cusparseSpSV_bufferSize(library_.get(), as_it_is, &alpha, matrix_.get(),
                                                    x_.get(), y_.get(), detail::data_type<T>,
                                                    algorithm, analysis_.get(), &bytes));
    void* buffer = arrays_.reserve(bytes);
    TANSOLVE_CUSPARSE_CHECK(cusparseSpSV_analysis(library_.get(), as_it_is, &alpha, matrix_.get(),
                                                  x_.get(), y_.get(), detail::data_type<T>,
                                                  algorithm, analysis_.get(), buffer));
    context.synchronize();
  }

  std::int64_t bytes() const { return arrays_.bytes(); }

  void apply(const T* x, T* y) {
    const T alpha = 1;
    TANSOLVE_CUSPARSE_CHECK(cusparseDnVecSetValues(x_.get(), const_cast<T*>(x)));
    TANSOLVE_CUSPARSE_CHECK(cusparseDnVecSetValues(y_.get(), y));
    TANSOLVE_CUSPARSE_CHECK(cusparseSpSV_solve(library_.get(), as_it_is, &alpha, matrix_.get(),
                                               x_.get(), y_.get(), detail::data_type<T>, algorithm,
                                               analysis_.get()));
  }

 private:
  static constexpr cusparseOperation_t as_it_is = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr cusparseSpSVAlg_t algorithm = CUSPARSE_SPSV_ALG_DEFAULT;

  template <class Value>
  void set(cusparseSpMatAttribute_t attribute, Value value) {
    TANSOLVE_CUSPARSE_CHECK(
        cusparseSpMatSetAttribute(matrix_.get(), attribute, &value, sizeof(value)));
  }

  detail::DeviceArrays arrays_;
  detail::CusparseLibrary library_;
  detail::CusparseMatrix matrix_;
  detail::CusparseVector x_, y_;
  Analysis analysis_;
};

template <class T>
TriangularSolve<T, Cuda>::TriangularSolve(Context<Cuda>& context, const Csr<T>& A,
                                          Triangle triangle)
    : LinearOperator<T, Cuda>(context, A.rows(), A.cols()) {
  detail::require_triangular(A, triangle);
  if (A.rows() > 0) solver_ = std::make_unique<Solver>(context, A, triangle);
}

template <class T>
TriangularSolve<T, Cuda>::~TriangularSolve() = default;

template <class T>
std::int64_t TriangularSolve<T, Cuda>::bytes() const {
  return solver_ ? solver_->bytes() : 0;
}

template <class T>
void TriangularSolve<T, Cuda>::apply_impl(Span<const T, Cuda> x, Span<T, Cuda> y) const {
  this->context().stream();  // cuSPARSE launches on the current device
  if (solver_) solver_->apply(x.data(), y.data());
}

template class TriangularSolve<double, Cuda>;
template class TriangularSolve<float, Cuda>;

}  // namespace tansolve
