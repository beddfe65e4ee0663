// SPDX-License-Identifier: BSD-3-Clause
// Decode a nonzero, multiply, add.
#include <tansolve/kernels/reference/decode_product.hpp>

#include <vector>

namespace tansolve::reference {

template <class T>
void product(const CompressedMatrix<T>& a, T alpha, const T* x, T beta, T* y) {
  std::vector<T> sums(a.rows(), T(0));
  a.for_each_nonzero([&](std::int64_t row, std::uint32_t, std::uint32_t column,
                         T value) { sums[row] += value * x[column]; },
                     1);
  for (std::int64_t i = 0; i < a.rows(); ++i)
    y[i] = beta == T(0) ? alpha * sums[i] : alpha * sums[i] + beta * y[i];
}

template void product(const CompressedMatrix<double>&, double, const double*, double, double*);
template void product(const CompressedMatrix<float>&, float, const float*, float, float*);

}  // namespace tansolve::reference
