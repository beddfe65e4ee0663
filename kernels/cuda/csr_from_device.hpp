// SPDX-License-Identifier: BSD-3-Clause
// A matrix whose CSR arrays lie in the memory of a GPU, as a source like files and host arrays.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/kernels/cuda/context.hpp>

#include <cstdint>

namespace tansolve {

/// Copies a rows x cols matrix from a GPU: rows + 1 offsets, of which the first is 0 and the last
/// nnz, nnz zero-based columns and nnz values. Offset is std::int32_t or std::int64_t; the pointers
/// are to device or managed memory, and that to the offsets is never null. Validated as
/// every Csr is, so that it can be encoded or made an operator (CsrOperator, VendorOperator, which
/// copy it back); the arrays on the GPU are not needed afterwards.
///
/// Reads in the order of the context's stream and waits; what other streams write to the arrays
/// must have arrived before the call. Allocates on the host alone. Throws Error: invalid_argument
/// for dimensions or arrays that do not fit each other and memory that no GPU can read, bad_input
/// as Csr does, device.
template <class T, class Offset>
Csr<T> csr_from_device(Context<Cuda>& context, std::int64_t rows, std::int64_t cols,
                       std::int64_t nnz, const Offset* offsets, const std::int32_t* columns,
                       const T* values, Duplicates duplicates = Duplicates::refuse);

}  // namespace tansolve
