// SPDX-License-Identifier: BSD-3-Clause
// The memory of solvers of least squares.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/solvers/least_squares.hpp>

namespace tansolve {
namespace {

WorkspaceShape rows_shape(std::int64_t rows) {
  return {.size = rows, .vectors = 2, .scalars = 3};
}

WorkspaceShape cols_shape(std::int64_t cols, LeastSquaresMethod method) {
  return {.size = cols, .vectors = method == LeastSquaresMethod::lsqr ? 4 : 5, .scalars = 0};
}

}  // namespace

template <class T, class B>
LeastSquaresWorkspace<T, B>::LeastSquaresWorkspace(Context<B>& context, std::int64_t rows,
                                                   std::int64_t cols, LeastSquaresMethod method)
    : rows_(context, rows_shape(rows)), cols_(context, cols_shape(cols, method)) {}

template <class T, class B>
std::int64_t LeastSquaresWorkspace<T, B>::bytes(std::int64_t rows, std::int64_t cols,
                                                LeastSquaresMethod method) {
  return rows_shape(rows).bytes<T>() + cols_shape(cols, method).template bytes<T>();
}

template <class T, class B>
void LeastSquaresWorkspace<T, B>::require(std::string_view solver, const Context<B>& context,
                                          std::int64_t rows, std::int64_t cols,
                                          LeastSquaresMethod method) const {
  rows_.require(solver, context, rows_shape(rows));
  cols_.require(solver, context, cols_shape(cols, method));
}

#define TANSOLVE_INSTANTIATE(T, B) template class LeastSquaresWorkspace<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
