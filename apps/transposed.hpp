// SPDX-License-Identifier: BSD-3-Clause
// A matrix with its transpose, which is encoded for the solvers that need it.
#pragma once

#include "operators.hpp"

#include <tansolve/kernels/with_transpose.hpp>

#include <memory>

namespace tansolve::app {

template <class T, class B>
class WithOwnTranspose {
 public:
  WithOwnTranspose(const LinearOperator<T, B>& A, const Prepared<T>& matrix,
                   const PlanOptions& plan, int threads, bool deterministic)
      : matrix_(prepare_transpose(matrix, plan, threads)),
        transpose_(make_operator(A.context(), matrix_, deterministic)),
        both_(A, *transpose_) {}

  const LinearOperator<T, B>& both() const { return both_; }
  const Prepared<T>& matrix() const { return matrix_; }
  Json json() const {
    return {{"plan", plan_json(matrix_)},
            {"storage", storage_json(matrix_)},
            {"encode", encode_json(matrix_)}};
  }

 private:
  Prepared<T> matrix_;
  std::unique_ptr<LinearOperator<T, B>> transpose_;
  WithTranspose<T, B> both_;
};

}  // namespace tansolve::app
