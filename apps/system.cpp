// SPDX-License-Identifier: BSD-3-Clause
// Makes, reads and checks the vectors of a system.
#include "system.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/kernels/for_each_backend.hpp>

#include <cmath>
#include <random>

namespace tansolve::app {
namespace {

template <class T>
std::vector<T> column(const Dense& dense, std::int64_t n, const std::string& what) {
  if (dense.rows != n || dense.cols < 1)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {} x {}, it must be {} x 1", what, dense.rows, dense.cols, n));
  std::vector<T> values(n);
  std::int64_t vanished = 0;
  bool remains = false;
  for (std::int64_t i = 0; i < n; ++i) {
    values[i] = static_cast<T>(dense.values[i]);
    if (std::isinf(values[i]) && !std::isinf(dense.values[i]))
      throw Error(ErrorCode::bad_input, fmt::format("{}: element {}, {}, is beyond f32; use "
                                                    "--precision f64",
                                                    what, i + 1, dense.values[i]));
    vanished += values[i] == 0 && dense.values[i] != 0;
    remains = remains || values[i] != 0;
  }
  if (vanished > 0 && !remains)  // b = 0 would be solved in its place
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: every element rounds to 0 in f32; use --precision f64", what));
  if (vanished > 0)
    complain("warning: {}: {} of {} elements are so small that f32 makes them 0\n", what, vanished,
             n);
  return values;
}

/// `option` and what it takes are named where there is no such file.
template <class T>
std::vector<T> read_column(const std::string& option, const std::string& takes,
                           const std::string& path, std::int64_t n) {
  const std::string what = fmt::format("{} {}", option, path);
  Dense dense;
  try {
    dense = read_dense(input_path(path));
  } catch (const Error& error) {
    throw Error(error.code(), error.code() == ErrorCode::io
                                  ? fmt::format("{}: {}; it takes {}", option, error.what(), takes)
                                  : fmt::format("{}: {}", option, error.what()));
  }
  if (dense.cols != 1)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {} x {}, it must be {} x 1", what, dense.rows, dense.cols, n));
  return column<T>(dense, n, what);
}

template <class T, class B>
std::vector<T> times_ones(const LinearOperator<T, B>& A) {
  const std::vector<T> ones(A.cols(), T(1));
  std::vector<T> product(A.rows());
  Vector<T, B> x(A.context(), A.cols()), y(A.context(), A.rows());
  copy_from_host(A.context(), ones, x.span());
  A.apply(x, y);
  copy_to_host<T>(A.context(), y, product);
  return product;
}

}  // namespace

template <class T, class B>
std::vector<T> right_hand_side(const std::string& name, std::uint64_t seed, const Dense& inside,
                               const LinearOperator<T, B>& A) {
  if (name == "ones") return std::vector<T>(A.rows(), T(1));
  if (name == "A*ones") return times_ones(A);
  if (name == "file" && inside.cols == 0)
    throw Error(ErrorCode::bad_input,
                "--rhs file: the matrix is not from a file that holds a right-hand side, as "
                "Harwell-Boeing files may");
  if (name == "file") return column<T>(inside, A.rows(), "--rhs file");
  if (name != "random")
    return read_column<T>("--rhs",
                          "ones, random, A*ones, file, or the name of a Matrix Market file of n x "
                          "1",
                          name, A.rows());
  std::mt19937_64 random(seed);
  std::vector<T> b(A.rows());
  for (T& element : b) element = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  return b;
}

template <class T>
std::vector<T> initial_guess(const std::string& path, std::int64_t n) {
  return path.empty()
             ? std::vector<T>(n, T(0))
             : read_column<T>("--x0", "the name of a Matrix Market file of n x 1", path, n);
}

template <class T>
double verified_residual(const Prepared<T>& A, const std::vector<T>& b, const std::vector<T>& x) {
  std::vector<double> r(b.begin(), b.end());
  const auto subtract = [&](std::int64_t row, std::int64_t column, T value) {
    r[row] -= static_cast<double>(value) * static_cast<double>(x[column]);
  };
  if (A.csr) {
    for (std::int64_t i = 0; i < A.rows(); ++i)
      for (std::int64_t k = A.csr->offsets()[i]; k < A.csr->offsets()[i + 1]; ++k)
        subtract(i, A.csr->columns()[k], A.csr->values()[k]);
  } else {
    A.compressed->for_each_nonzero([&](std::int64_t row, std::uint32_t, std::uint32_t column,
                                       T value) { subtract(row, column, value); },
                                   1);
  }
  double largest = 0;  // scaled by it, squares neither overflow nor vanish
  for (const double element : r) {
    if (std::isnan(element)) return element;
    largest = std::max(largest, std::abs(element));
  }
  if (largest == 0 || std::isinf(largest)) return largest;
  double sum = 0;
  for (const double element : r) sum += (element / largest) * (element / largest);
  return largest * std::sqrt(sum);
}

#define TANSOLVE_INSTANTIATE(T, B)                                                         \
  template std::vector<T> right_hand_side(const std::string&, std::uint64_t, const Dense&, \
                                          const LinearOperator<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

#define TANSOLVE_INSTANTIATE(T)                                                \
  template std::vector<T> initial_guess(const std::string&, std::int64_t);     \
  template double verified_residual(const Prepared<T>&, const std::vector<T>&, \
                                    const std::vector<T>&);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
