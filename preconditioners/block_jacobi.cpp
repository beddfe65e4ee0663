// SPDX-License-Identifier: BSD-3-Clause
// Finds diagonal blocks, inverts them, and chooses how precisely to store them.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/parallel.hpp>
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/preconditioners/block_jacobi.hpp>
#include <tansolve/preconditioners/diagonal.hpp>

#include <fmt/format.h>
#include <Eigen/LU>

#include <algorithm>
#include <limits>
#include <utility>

namespace tansolve {
namespace {

template <class T>
Eigen::MatrixXd block_of(const Csr<T>& A, std::int64_t first, int size) {
  Eigen::MatrixXd block = Eigen::MatrixXd::Zero(size, size);
  for (int i = 0; i < size; ++i)
    for (std::int64_t k = A.offsets()[first + i]; k < A.offsets()[first + i + 1]; ++k)
      if (const std::int64_t j = A.columns()[k] - first; 0 <= j && j < size)
        block(i, j) = A.values()[k];
  return block;
}

struct Inverse {
  Eigen::MatrixXd elements;
  double condition = 0;
  bool exists = false;
};

/// In double, if T can hold it; symmetric where the block is, whatever rounding did.
template <class T>
Inverse invert(const Eigen::MatrixXd& block) {
  if (!block.allFinite()) return {};
  const Eigen::PartialPivLU<Eigen::MatrixXd> lu(block);
  const double reciprocal = lu.rcond();
  if (!(reciprocal > std::numeric_limits<double>::epsilon())) return {};
  Eigen::MatrixXd inverse = lu.inverse();
  if (block == block.transpose()) inverse = (inverse + inverse.transpose().eval()) / 2;
  const bool exists =
      inverse.allFinite() && inverse.cwiseAbs().maxCoeff() <= std::numeric_limits<T>::max();
  return {inverse, 1 / reciprocal, exists};
}

/// Whether the elements are normal numbers of fp32, the largest at least, and precise enough there.
bool fits_low(const Inverse& inverse, double error) {
  constexpr double rounding = 0x1p-24;
  const double largest = inverse.elements.cwiseAbs().maxCoeff();
  return rounding * inverse.condition <= error && largest <= std::numeric_limits<float>::max() &&
         largest >= std::numeric_limits<float>::min() / rounding;
}

template <class T>
std::vector<int> block_sizes(const Csr<T>& A, const BlockJacobiOptions& options) {
  const auto require = [](const char* name, int value, int least) {
    if (value < least || value > most_block_rows)
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("block-jacobi: {} is {}, it must be from {} to {}", name, value,
                              least, most_block_rows));
  };
  require("size", options.size, 0);
  require("most_rows", options.most_rows, 1);
  if (options.size == 0) return natural_blocks(A, options.most_rows);
  std::vector<int> sizes(A.rows() / options.size, options.size);
  if (const auto rest = static_cast<int>(A.rows() % options.size); rest > 0) sizes.push_back(rest);
  return sizes;
}

template <class T>
void store(const Inverse& inverse, std::int64_t first, double error, DiagonalBlocks<T>& to) {
  const auto size = static_cast<std::int16_t>(inverse.elements.rows());
  const bool low = std::is_same_v<T, double> && fits_low(inverse, error);
  const auto begin = inverse.elements.data(), end = begin + inverse.elements.size();
  const std::int64_t offset = low ? std::ssize(to.low) : std::ssize(to.values);
  to.blocks.push_back({offset, static_cast<std::int32_t>(first), size, low});
  if (low)
    std::transform(begin, end, std::back_inserter(to.low),
                   [](double e) { return static_cast<float>(e); });
  else
    std::transform(begin, end, std::back_inserter(to.values),
                   [](double e) { return static_cast<T>(e); });
}

template <class T>
DiagonalBlocks<T> inverted_blocks(const Csr<T>& A, const BlockJacobiOptions& options) {
  detail::require_square("block-jacobi", "the matrix", A);
  const std::vector<int> sizes = block_sizes(A, options);
  std::vector<std::int64_t> firsts = {0};
  for (const int size : sizes) firsts.push_back(firsts.back() + size);
  const auto count = std::ssize(sizes);
  constexpr std::int64_t blocks_a_task = 1024;
  std::vector<Inverse> inverses(count);
  detail::parallel_tasks(options.threads, (count + blocks_a_task - 1) / blocks_a_task,
                         [&](std::int64_t task) {
                           const std::int64_t last = std::min((task + 1) * blocks_a_task, count);
                           for (std::int64_t b = task * blocks_a_task; b < last; ++b)
                             inverses[b] = invert<T>(block_of(A, firsts[b], sizes[b]));
                         });

  DiagonalBlocks<T> result;
  std::int64_t refused = 0, first_refused = 0;
  for (std::int64_t b = 0; b < count; ++b) {
    if (!inverses[b].exists && refused++ == 0) first_refused = firsts[b];
    if (refused == 0) store(inverses[b], firsts[b], options.low_precision_error, result);
  }
  if (refused > 0)
    throw Error(
        ErrorCode::bad_input,
        fmt::format("block-jacobi: {} of {} diagonal blocks are singular or without a finite "
                    "inverse, the first begins in row {} (counting from 1)",
                    refused, count, first_refused + 1));
  return result;
}

}  // namespace

template <class T>
std::vector<int> natural_blocks(const Csr<T>& A, int most) {
  const auto row = [&](std::int64_t i) {
    return A.columns().subspan(A.offsets()[i], A.row_nnz(i));
  };
  std::vector<int> sizes;
  for (std::int64_t i = 0; i < A.rows(); ++i) {
    if (i > 0 && sizes.back() < most && std::ranges::equal(row(i), row(i - 1)))
      ++sizes.back();
    else
      sizes.push_back(1);
  }
  return sizes;
}

template <class T, class B>
BlockJacobi<T, B>::BlockJacobi(Context<B>& context, const Csr<T>& A,
                               const BlockJacobiOptions& options)
    : LinearOperator<T, B>(context, A.rows(), A.cols()),
      inverses_(std::make_unique<DiagonalBlocks<T>>(inverted_blocks(A, options))),
      product_(context, *inverses_) {}

template <class T, class B>
void BlockJacobi<T, B>::apply_impl(Span<const T, B> r, Span<T, B> z) const {
  product_.apply(r, z);
}

#define TANSOLVE_INSTANTIATE(T, B) template class BlockJacobi<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE
template std::vector<int> natural_blocks(const Csr<double>&, int);
template std::vector<int> natural_blocks(const Csr<float>&, int);

}  // namespace tansolve
