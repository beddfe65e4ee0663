// SPDX-License-Identifier: BSD-3-Clause
// The serial truth of the compressed product: the reference decoder and a sum a row.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>

namespace tansolve::reference {

/// y = alpha A x + beta y; beta = 0 overwrites. x has cols(), y rows() elements; each row is summed
/// in the order of its columns.
template <class T>
void product(const CompressedMatrix<T>& a, T alpha, const T* x, T beta, T* y);

}  // namespace tansolve::reference
