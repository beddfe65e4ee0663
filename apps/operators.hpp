// SPDX-License-Identifier: BSD-3-Clause
// The operator that products with a matrix use: compressed or plain, on the host or a GPU.
#pragma once

#include "prepare.hpp"

#include <tansolve/kernels/linear_operator.hpp>

#include <memory>

namespace tansolve::app {

/// The matrix as it was prepared, in the memory of a context that must outlive the operator, as
/// must the matrix. Throws Error(invalid_argument) for a format that the device does not have or,
/// where it is to be `deterministic`, whose products are not.
template <class T, class B>
std::unique_ptr<LinearOperator<T, B>> make_operator(Context<B>& context, const Prepared<T>& matrix,
                                                    bool deterministic);

}  // namespace tansolve::app
