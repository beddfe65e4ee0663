// SPDX-License-Identifier: BSD-3-Clause
// The compressed operator on the host, and on the backend that checks it.
#include <tansolve/codec/array_reader.hpp>
#include <tansolve/kernels/compressed_operator.hpp>
#include <tansolve/kernels/contract.hpp>
#include <tansolve/kernels/host/chunks.hpp>
#include <tansolve/kernels/host/fused_product.hpp>
#include <tansolve/kernels/reference/decode_product.hpp>
#include <tansolve/kernels/reference/kernels.hpp>

#include <algorithm>
#include <array>
#include <numeric>

namespace tansolve {
namespace {

/// About so many words a task: some 50 us of decoding, enough to hide what a task costs.
constexpr std::uint64_t task_words = 1 << 13;

/// Without streams: tasks of slices of 32 coded rows with about as many nonzeros as one of streams.
template <class T>
std::vector<std::int64_t> array_tasks(const CompressedMatrix<T>& matrix) {
  constexpr std::int64_t task_nonzeros = 1 << 15;
  const std::int64_t rows = matrix.parts().arrays.order.coded_rows(matrix.rows());
  const std::int64_t slices = (rows + warp_size - 1) / warp_size;
  const std::int64_t per_task = std::clamp<std::int64_t>(
      task_nonzeros * slices / std::max<std::int64_t>(matrix.nnz(), 1), 1, 1024);
  std::vector<std::int64_t> firsts;
  for (std::int64_t s = 0; s < slices; s += per_task) firsts.push_back(s);
  firsts.push_back(slices);
  return firsts;
}

/// First slices of tasks with about equal numbers of words, and then slices().
template <class T>
std::vector<std::int64_t> slice_tasks(const CompressedMatrix<T>& matrix) {
  if (!is_stream(matrix.plan().coding)) return array_tasks(matrix);
  const auto& offsets = matrix.parts().slice_offsets;
  std::vector<std::int64_t> firsts = {0};
  for (std::int64_t s = 1; s < matrix.slices(); ++s)
    if (offsets[s] - offsets[firsts.back()] >= task_words || s - firsts.back() >= 1024)
      firsts.push_back(s);
  firsts.push_back(matrix.slices());
  return firsts;
}

/// First slices of the chunks in which dot sums, and then slices(). Empty where slices cross them,
/// or where one has so large a share of the words that the other threads would wait for it.
template <class T>
std::vector<std::int64_t> dot_tasks(const CompressedMatrix<T>& matrix, int threads) {
  const detail::Chunks chunks(matrix.rows());
  const std::int64_t per_slice = matrix.plan().rows_per_slice();
  if (chunks.length % per_slice != 0 || !matrix.parts().arrays.order.order.empty()) return {};
  auto offsets = matrix.parts().slice_offsets;
  if (matrix.plan().coding == Coding::patterns) {  // rows are taken to be alike
    offsets.resize((matrix.rows() + per_slice - 1) / per_slice + 1);
    std::iota(offsets.begin(), offsets.end(), 0);
  }
  const std::uint64_t fair = offsets.back() / (2 * static_cast<std::uint64_t>(threads));
  std::vector<std::int64_t> firsts = {0};
  for (std::int64_t c = 0; c < chunks.count; ++c) {
    const std::int64_t end = (chunks.last(c) + per_slice - 1) / per_slice;
    if (threads > 1 && offsets[end] - offsets[firsts.back()] > fair) return {};
    firsts.push_back(end);
  }
  return firsts;
}

/// The long rows that were coded in pieces, a piece after the other, so that they are summed as
/// others are.
template <class T>
class LongRows {
 public:
  explicit LongRows(const CompressedMatrix<T>& matrix)
      : parts_(matrix.parts()), reader_(parts_), coded_(parts_.arrays.order.pieces()) {
    const auto& order = parts_.arrays.order.order;
    for (std::size_t v = 0; v < order.size(); ++v)
      if (order[v] >= parts_.rows) coded_[order[v] - parts_.rows] = static_cast<std::int64_t>(v);
  }

  std::int64_t count() const { return std::ssize(parts_.arrays.order.long_rows); }

  void apply(std::int64_t i, T alpha, const T* x, T beta, T* y) const {
    const auto& [order, long_rows, long_starts] = parts_.arrays.order;
    T sum = 0;
    for (std::uint32_t s = long_starts[i]; s < long_starts[i + 1]; ++s)
      for (std::uint32_t k = 0; k < reader_.length(coded_[s]); ++k)
        sum += reader_.value(coded_[s], k) * x[reader_.column(coded_[s], k)];
    T& to = y[long_rows[i]];
    to = beta == 0 ? alpha * sum : alpha * sum + beta * to;
  }

 private:
  const CompressedParts<T>& parts_;
  detail::ArrayReader<T> reader_;
  std::vector<std::int64_t> coded_;
};

}  // namespace

template <class T, class B>
struct CompressedOperator<T, B>::Prepared {
  Prepared(const CompressedMatrix<T>& matrix, const std::string& isa, int threads)
      : tables(matrix),
        kernel(detail::fused_kernel<T>(matrix.plan().coding, tables.escapes, isa)),
        product_tasks(slice_tasks(matrix)),
        dot_tasks(tansolve::dot_tasks(matrix, threads)),
        long_rows(matrix) {}

  detail::SlotTables<T> tables;
  detail::FusedKernel<T> kernel;
  std::vector<std::int64_t> product_tasks;
  std::vector<std::int64_t> dot_tasks;
  LongRows<T> long_rows;
};

template <class T, class B>
CompressedOperator<T, B>::CompressedOperator(Context<B>& context, const CompressedMatrix<T>& matrix,
                                             const std::string& isa)
    : LinearOperator<T, B>(context, matrix.rows(), matrix.cols()),
      matrix_(&matrix),
      isa_(isa),
      prepared_(std::make_unique<Prepared>(matrix, isa, context.threads())) {}

template <class T, class B>
void CompressedOperator<T, B>::refresh() {
  prepared_ = std::make_unique<Prepared>(*matrix_, isa_, this->context().threads());
}

template <class T, class B>
CompressedOperator<T, B>::~CompressedOperator() = default;

template <class T, class B>
void CompressedOperator<T, B>::apply_impl(Span<const T, B> x, Span<T, B> y) const {
  apply_impl(T(1), x, T(0), y);
}

template <class T, class B>
void CompressedOperator<T, B>::apply_impl(T alpha, Span<const T, B> x, T beta, Span<T, B> y) const {
  if constexpr (std::is_same_v<B, Checked>) {
    detail::count(this->context(), x.size() + (beta == T(0) ? 1 : 2) * y.size());
    reference::product(*matrix_, alpha, x.data(), beta, y.data());
  } else {
    product(1, alpha, x.data(), beta, y.data());
  }
}

template <class T, class B>
void CompressedOperator<T, B>::apply_block_impl(std::int64_t columns, Span<const T, B> X,
                                                Span<T, B> Y) const {
  if constexpr (std::is_same_v<B, Checked>) {
    LinearOperator<T, B>::apply_block_impl(columns, X, Y);
  } else {
    constexpr std::int64_t most = detail::FusedProduct<T>::most_columns;
    for (std::int64_t c = 0; c < columns; c += most)
      product(static_cast<int>(std::min(columns - c, most)), T(1), X.data() + c * this->cols(),
              T(0), Y.data() + c * this->rows());
  }
}

template <class T, class B>
void CompressedOperator<T, B>::product(int columns, T alpha, const T* x, T beta, T* y) const {
  const Prepared& prepared = *prepared_;
  const auto& tasks = prepared.product_tasks;
  const std::int64_t count = std::ssize(tasks) - 1;
  const int threads = this->context().threads();
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (count > 1)
  for (std::int64_t t = 0; t < count; ++t)
    prepared.kernel(
        {matrix_, &prepared.tables, x, y, alpha, beta, tasks[t], tasks[t + 1], columns});
  const std::int64_t long_rows = prepared.long_rows.count() * columns;
#pragma omp parallel for schedule(dynamic) num_threads(threads) if (long_rows > 1)
  for (std::int64_t i = 0; i < long_rows; ++i)
    prepared.long_rows.apply(i / columns, alpha, x + i % columns * this->cols(), beta,
                             y + i % columns * this->rows());
}

template <class T, class B>
void CompressedOperator<T, B>::apply_dot_impl(Span<const T, B> x, Span<T, B> y,
                                              Scalar<T, B>& xy) const {
  if constexpr (std::is_same_v<B, Checked>) {
    detail::count(this->context(), x.size() + y.size(), 1);
    reference::product(*matrix_, T(1), x.data(), T(0), y.data());
    *xy.data() = reference::dot(y.size(), x.data(), y.data());
  } else {
    const Prepared& prepared = *prepared_;
    const auto& tasks = prepared.dot_tasks;
    if (tasks.empty()) return LinearOperator<T, B>::apply_dot_impl(x, y, xy);
    const detail::Chunks chunks(y.size());
    std::array<double, detail::Chunks::max_count> partial;
#pragma omp parallel for schedule(dynamic) \
    num_threads(this->context().threads()) if (chunks.count > 1)
    for (std::int64_t c = 0; c < chunks.count; ++c) {
      prepared.kernel(
          {matrix_, &prepared.tables, x.data(), y.data(), T(1), T(0), tasks[c], tasks[c + 1]});
      partial[c] = detail::chunk_dot(x.data(), y.data(), chunks.first(c), chunks.last(c));
    }
    *xy.data() = static_cast<T>(detail::sum_in_order(partial, chunks.count));
  }
}

template <class T, class B>
void CompressedOperator<T, B>::diagonal_impl(Span<T, B> d) const {
  std::fill_n(d.data(), d.size(), T(0));
  matrix_->for_each_nonzero(
      [&](std::int64_t row, std::uint32_t, std::uint32_t column, T value) {
        if (row == column) d.data()[row] = value;
      },
      this->context().threads());
}

std::vector<std::string> supported_isas() {
  return detail::supported_isas();
}

template class CompressedOperator<double, Host>;
template class CompressedOperator<float, Host>;
template class CompressedOperator<double, Checked>;
template class CompressedOperator<float, Checked>;

}  // namespace tansolve
