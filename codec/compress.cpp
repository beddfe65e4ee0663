// SPDX-License-Identifier: BSD-3-Clause
// The three steps of compression in a row.
#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/histogram.hpp>

#include <utility>

namespace tansolve {

template <class T>
CompressedMatrix<T> compress(const Csr<T>& matrix, const CompressOptions& options,
                             PlanChoice* choice) {
  const Histogram histogram = count_pairs(matrix, options.threads);
  PlanChoice best = choose_plan(matrix, histogram, options.plan);
  const Plan plan = best.chosen.plan;
  if (choice != nullptr) *choice = std::move(best);
  return encode(matrix, plan, histogram,
                {.threads = options.threads, .progress = options.progress});
}

template CompressedMatrix<double> compress(const Csr<double>&, const CompressOptions&, PlanChoice*);
template CompressedMatrix<float> compress(const Csr<float>&, const CompressOptions&, PlanChoice*);

}  // namespace tansolve
