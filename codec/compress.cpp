// SPDX-License-Identifier: BSD-3-Clause
// The three steps of compression in a row.
#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/survey.hpp>

#include <utility>

namespace tansolve {

template <class T>
CompressedMatrix<T> compress(const RowSource<T>& rows, const CompressOptions& options,
                             PlanChoice* choice) {
  Survey<T> survey(rows, options.threads);
  PlanChoice best = choose_plan(survey, options.plan);
  const Plan plan = best.chosen.plan;
  if (choice != nullptr) *choice = std::move(best);
  return encode(survey, plan, options.progress);
}

template <class T>
CompressedMatrix<T> compress(const Csr<T>& matrix, const CompressOptions& options,
                             PlanChoice* choice) {
  return compress(CsrRows<T>(matrix), options, choice);
}

#define TANSOLVE_INSTANTIATE(T)                                                                    \
  template CompressedMatrix<T> compress(const RowSource<T>&, const CompressOptions&, PlanChoice*); \
  template CompressedMatrix<T> compress(const Csr<T>&, const CompressOptions&, PlanChoice*);
TANSOLVE_INSTANTIATE(double)
TANSOLVE_INSTANTIATE(float)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve
