// SPDX-License-Identifier: BSD-3-Clause
// Which blocks a matrix is best stored in.
#include <tansolve/kernels/cuda/vendor_formats.hpp>
#include <tansolve/kernels/cuda/vendor_operator.hpp>

namespace tansolve {

template <class T>
std::optional<BlockChoice> choose_block(const Csr<T>& matrix) {
  std::optional<BlockChoice> best;
  std::int64_t fewest = standard_bytes(matrix).csr;
  for (const int block : {2, 3, 6}) {
    if (matrix.rows() % block != 0 || matrix.cols() % block != 0) continue;
    const std::int64_t value_bytes = std::int64_t{block} * block * sizeof(T);
    const std::int64_t bytes =
        detail::count_blocks(matrix, block) * (4 + value_bytes) + (matrix.rows() / block + 1) * 4;
    if (bytes >= fewest) continue;
    fewest = bytes;
    best = {block, bytes};
  }
  return best;
}

template std::optional<BlockChoice> choose_block(const Csr<double>&);
template std::optional<BlockChoice> choose_block(const Csr<float>&);

}  // namespace tansolve
