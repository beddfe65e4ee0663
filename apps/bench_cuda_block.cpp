// SPDX-License-Identifier: BSD-3-Clause
// Products with several vectors on a GPU: at once, one at a time, and by cuSPARSE's SpMM.
#include "bench_cuda_timer.hpp"

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/cuda/vendor_block.hpp>
#include <tansolve/kernels/linear_operator.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace tansolve::app {
namespace {

/// The operands, X in both layouts.
template <class T>
class BlockProblem {
 public:
  BlockProblem(Context<Cuda>& context, const Csr<T>& A, int columns, std::uint64_t seed)
      : columns_(columns),
        rows_(A.rows()),
        X_(context, columns * A.cols()),
        X_by_rows_(context, columns * A.cols()),
        Y_(context, columns * A.rows()) {
    std::vector<T> by_columns, by_rows(columns * A.cols());
    for (int c = 0; c < columns; ++c) {
      const std::vector<T> x = bench_vector<T>(A.cols(), seed + c);
      by_columns.insert(by_columns.end(), x.begin(), x.end());
      for (std::int64_t i = 0; i < A.cols(); ++i) by_rows[i * columns + c] = x[i];
      expected_.emplace_back(A, x);
    }
    copy_from_host(context, by_columns, X_.span());
    copy_from_host(context, by_rows, X_by_rows_.span());
  }

  Span<const T, Cuda> X(BlockLayout layout) const {
    return layout == BlockLayout::columns ? X_.span() : X_by_rows_.span();
  }
  Span<T, Cuda> Y() { return Y_.span(); }

  /// {"seconds", "error"} of a product that writes Y in that layout.
  Json time(DeviceTimer& timer, BlockLayout layout, const DeviceTimer::Launch& product) {
    poison(Y_);
    const double seconds = timer.warm(product);
    return {{"seconds", seconds}, {"error", error(layout)}};
  }

 private:
  double error(BlockLayout layout) {
    std::vector<T> found(columns_ * rows_), y(rows_);
    copy_to_host<T>(Y_.context(), Y_, found);
    double worst = 0;
    for (int c = 0; c < columns_; ++c) {
      for (std::int64_t i = 0; i < rows_; ++i)
        y[i] = found[layout == BlockLayout::columns ? c * rows_ + i : i * columns_ + c];
      const double error = expected_[c].error(y);
      if (!(error <= worst)) worst = error;
      if (std::isnan(worst)) break;
    }
    return worst;
  }

  int columns_;
  std::int64_t rows_;
  Vector<T, Cuda> X_, X_by_rows_, Y_;
  std::vector<ExpectedProduct<T>> expected_;
};

}  // namespace

template <class T>
Json bench_block(const Csr<T>& matrix, const LinearOperator<T, Cuda>& A, int columns,
                 std::uint64_t seed, DeviceTimer& timer, const Console& console, bool& right) {
  Context<Cuda>& context = A.context();
  BlockProblem<T> problem(context, matrix, columns, seed);
  const Span<const T, Cuda> X = problem.X(BlockLayout::columns);
  Json document = {{"columns", columns}, {"products", Json::array()}};
  const auto add = [&](const char* library, std::string_view how, const char* layout, Json timing) {
    const bool wrong = !(timing["error"].template get<double>() <= error_bound<T>);
    const double each = timing["seconds"].template get<double>() / columns;
    timing.update({{"library", library},
                   {"how", how},
                   {"layout", layout},
                   {"nnz_per_second", static_cast<double>(matrix.nnz()) / each},
                   {"wrong", wrong}});
    right = right && !wrong;
    console.say("{:>9} {:>13} by {:<7} {:>9.1f} Gnnz/s a vector, error {:.1e}{}\n", library, how,
                layout, timing["nnz_per_second"].template get<double>() * 1e-9,
                timing["error"].template get<double>(), wrong ? " WRONG" : "");
    document["products"].push_back(std::move(timing));
  };
  add("tansolve", "one at a time", "columns", problem.time(timer, BlockLayout::columns, [&] {
    for (int c = 0; c < columns; ++c)
      A.apply(X.subspan(c * A.cols(), A.cols()), problem.Y().subspan(c * A.rows(), A.rows()));
  }));
  add("tansolve", "at once", "columns",
      problem.time(timer, BlockLayout::columns, [&] { A.apply_block(columns, X, problem.Y()); }));
  for (const BlockLayout layout : {BlockLayout::columns, BlockLayout::rows})
    for (const VendorBlockAlgorithm algorithm : all_vendor_block_algorithms) {
      const char* by = layout == BlockLayout::columns ? "columns" : "rows";
      try {
        const VendorBlockProduct<T> product(context, matrix, columns, layout, algorithm,
                                            problem.X(layout), problem.Y());
        add("cusparse", name(algorithm), by, problem.time(timer, layout, [&] { product.apply(); }));
      } catch (const Error& error) {
        context.synchronize();
        console.say("{:>9} {:>13} by {:<7} {}\n", "cusparse", name(algorithm), by, error.what());
        document["products"].push_back({{"library", "cusparse"},
                                        {"how", name(algorithm)},
                                        {"layout", by},
                                        {"missing", error.what()}});
      }
    }
  return document;
}

template Json bench_block(const Csr<double>&, const LinearOperator<double, Cuda>&, int,
                          std::uint64_t, DeviceTimer&, const Console&, bool&);
template Json bench_block(const Csr<float>&, const LinearOperator<float, Cuda>&, int, std::uint64_t,
                          DeviceTimer&, const Console&, bool&);

}  // namespace tansolve::app
