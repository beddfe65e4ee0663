// SPDX-License-Identifier: BSD-3-Clause
// From a matrix as it was found to the form that products will use: the plan, the encoding, why.
#pragma once

#include "console.hpp"
#include "options.hpp"
#include "source.hpp"

#include <tansolve/codec/histogram.hpp>
#include <tansolve/codec/planner.hpp>

#include <memory>
#include <optional>
#include <string>

namespace tansolve::app {

/// Kept: the CSR matrix, except where a container was given; the compressed one, except where CSR
/// is to be used.
template <class T>
struct Prepared {
  std::string name;
  std::optional<Csr<T>> csr = {};
  Format plain = Format::csr;  ///< what it is multiplied as where it is not compressed
  std::optional<CompressedMatrix<T>> compressed = {};
  std::optional<PlanChoice> choice = {};    ///< where a plan was chosen
  std::optional<Histogram> histogram = {};  ///< likewise
  std::string reason = {};                  ///< for the format and the plan, one sentence
  double encode_seconds = 0;                ///< counting, planning and encoding

  std::int64_t rows() const { return compressed ? compressed->rows() : csr->rows(); }
  std::int64_t cols() const { return compressed ? compressed->cols() : csr->cols(); }
  std::int64_t nnz() const { return compressed ? compressed->nnz() : csr->nnz(); }
  /// CSR, COO and SELL of this matrix.
  StandardBytes standard() const;
};

/// Throws Error(invalid_argument) for a plan forced on a container or on CSR.
template <class T>
Prepared<T> prepare(Source<T> source, const PlanOptions& options, int threads);

/// Compresses a matrix whose rows are read block by block; nothing of it but the compressed one is
/// kept.
template <class T>
Prepared<T> prepare_rows(const std::string& name, const RowSource<T>& rows,
                         const PlanOptions& options, int threads);

/// The transposed matrix in the same form: compressed by a plan of its own, unless `options` force
/// one, or plain. The CSR matrix is decoded where it is not at hand.
template <class T>
Prepared<T> prepare_transpose(const Prepared<T>& matrix, PlanOptions options, int threads);

/// plan{format, geometry, rows_per_lane, row_ends, reason, ...}
template <class T>
Json plan_json(const Prepared<T>& matrix);
/// storage{bytes_total, ...}
template <class T>
Json storage_json(const Prepared<T>& matrix);
/// encode{seconds, nnz_per_second}; null where nothing was encoded.
template <class T>
Json encode_json(const Prepared<T>& matrix);

/// The same for people, a line or two each.
template <class T>
void say_plan_and_storage(const Console& console, const Prepared<T>& matrix);

/// "byte geometry, 4 rows a lane, aligned row ends"
std::string plan_text(const Plan& plan);
std::string_view row_ends_name(RowEnds row_ends);

}  // namespace tansolve::app
