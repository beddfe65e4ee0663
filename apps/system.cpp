// SPDX-License-Identifier: BSD-3-Clause
// Makes, reads and checks the vectors of a system.
#include "system.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/codec/input_file.hpp>
#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/codec/npy.hpp>
#include <tansolve/codec/npz.hpp>
#include <tansolve/kernels/for_each_backend.hpp>

#include <cmath>
#include <random>

namespace tansolve::app {
namespace {

template <class T>
Columns<T> columns(const Dense& dense, std::int64_t n, const std::string& what) {
  if (dense.rows != n || dense.cols < 1)
    throw Error(ErrorCode::bad_input,
                fmt::format("{}: {} x {}, it must be {} x 1, or have more columns", what,
                            dense.rows, dense.cols, n));
  Columns<T> result{std::vector<T>(dense.values.size()), dense.cols};
  std::int64_t vanished = 0;
  for (std::int64_t c = 0; c < dense.cols; ++c) {
    const std::string in_column = dense.cols == 1 ? "" : fmt::format(" of column {}", c + 1);
    std::int64_t vanished_before = vanished;
    bool remains = false;
    for (std::int64_t i = 0; i < n; ++i) {
      const double given = dense.values[i + c * n];
      T& value = result.values[i + c * n] = static_cast<T>(given);
      if (std::isinf(value) && !std::isinf(given))
        throw Error(ErrorCode::bad_input,
                    fmt::format("{}: element {}{}, {}, is beyond f32; use --precision f64", what,
                                i + 1, in_column, given));
      vanished += value == 0 && given != 0;
      remains = remains || value != 0;
    }
    if (vanished > vanished_before && !remains)  // b = 0 would be solved in its place
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: every element{} rounds to 0 in f32; use --precision f64", what,
                              in_column));
  }
  if (vanished > 0)
    complain("warning: {}: {} of {} elements are so small that f32 makes them 0\n", what, vanished,
             result.values.size());
  return result;
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

Dense read_columns(const std::string& option, const std::string& takes, const std::string& path) {
  try {
    const InputFile file(input_path(path));
    if (is_npz(file))
      throw Error(ErrorCode::bad_input,
                  fmt::format("{}: an archive, as .npz files are; it takes one array, which "
                              "numpy.save writes as .npy, or a Matrix Market file",
                              file.name()));
    return is_npy(file) ? read_npy(file) : read_dense(file);
  } catch (const Error& error) {
    throw Error(error.code(), error.code() == ErrorCode::io
                                  ? fmt::format("{}: {}; it takes {}", option, error.what(), takes)
                                  : fmt::format("{}: {}", option, error.what()));
  }
}

template <class T, class B>
Columns<T> right_hand_sides(const std::string& name, std::uint64_t seed, const Dense& inside,
                            const LinearOperator<T, B>& A) {
  if (name == "ones") return {std::vector<T>(A.rows(), T(1)), 1};
  if (name == "A*ones") return {times_ones(A), 1};
  if (name == "file" && inside.cols == 0)
    throw Error(ErrorCode::bad_input,
                "--rhs file: the matrix is not from a file that holds a right-hand side, as "
                "Harwell-Boeing files may");
  if (name == "file") return columns<T>(inside, A.rows(), "--rhs file");
  if (name != "random")
    return columns<T>(read_columns("--rhs",
                                   "ones, random, A*ones, file, or the name of a Matrix Market or "
                                   ".npy file of n rows",
                                   name),
                      A.rows(), "--rhs " + name);
  std::mt19937_64 random(seed);
  std::vector<T> b(A.rows());
  for (T& element : b) element = static_cast<T>(static_cast<double>(random() >> 11) * 0x1p-52 - 1);
  return {std::move(b), 1};
}

template <class T>
Columns<T> initial_guesses(const std::string& path, std::int64_t n, std::int64_t count) {
  if (path.empty()) return {std::vector<T>(n * count, T(0)), count};
  const std::string what = "--x0 " + path;
  const Dense dense = read_columns(
      "--x0", "the name of a Matrix Market or .npy file of as many columns as b", path);
  if (dense.cols != count)
    throw Error(ErrorCode::bad_input, fmt::format("{}: {} x {}, it must be {} x {}", what,
                                                  dense.rows, dense.cols, n, count));
  return columns<T>(dense, n, what);
}

template <class T>
void write_columns(const std::string& path, const Columns<T>& x) {
  const Dense dense{.rows = std::ssize(x.values) / x.count,
                    .cols = x.count,
                    .values = {x.values.begin(), x.values.end()}};
  path.ends_with(".npy") ? write_npy(path, dense) : write_dense(path, dense);
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

#define TANSOLVE_INSTANTIATE(T, B)                                                      \
  template Columns<T> right_hand_sides(const std::string&, std::uint64_t, const Dense&, \
                                       const LinearOperator<T, B>&);
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

#define TANSOLVE_INSTANTIATE(T)                                                        \
  template Columns<T> initial_guesses(const std::string&, std::int64_t, std::int64_t); \
  template void write_columns(const std::string&, const Columns<T>&);                  \
  template double verified_residual(const Prepared<T>&, const std::vector<T>&,         \
                                    const std::vector<T>&);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::app
