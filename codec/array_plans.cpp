// SPDX-License-Identifier: BSD-3-Clause
// The cost model of the codings without streams: bytes by counting, time from what was measured.
#include <tansolve/codec/array_encode.hpp>
#include <tansolve/codec/array_plans.hpp>
#include <tansolve/codec/row_patterns.hpp>
#include <tansolve/codec/value_format.hpp>

#include <algorithm>
#include <limits>

namespace tansolve::detail {
namespace {

/// More patterns than rows / 8, or than this, and no coding of them pays.
constexpr std::int64_t most_patterns = 1 << 16;

/// Bytes of a row's number among so many.
double number_bytes(std::int64_t count) {
  return count <= 1 ? 0 : count <= 0x100 ? 1 : count <= 0x10000 ? 2 : 4;
}

struct Size {
  double numbers = 0;  ///< of rows, and their order
  double tables = 0;
  double fields = 0;   ///< with exceptions and slice offsets
  double padding = 1;  ///< fields over nonzeros
  double total() const { return numbers + tables + fields; }
};

template <class T>
double value_bytes(const ValueFormatChoice<T>& choice, double entries) {
  return entries * choice.format.bits / 8 +
         static_cast<double>(choice.exceptions) * (8 + sizeof(T)) +
         static_cast<double>(choice.format.dictionary.size() * sizeof(T));
}

template <class T>
std::optional<Size> patterns_size(const Csr<T>& matrix, std::int64_t limit) {
  const auto found = find_patterns(matrix, PatternKind::values, limit);
  if (!found) return {};
  Size size;
  size.numbers = static_cast<double>(matrix.rows()) * number_bytes(found->patterns.count());
  size.tables = static_cast<double>(4 * found->patterns.starts.size() +
                                    (4 + sizeof(T)) * found->patterns.offsets.size());
  return size;
}

template <class T>
std::optional<Size> shapes_size(const Csr<T>& matrix, std::int64_t limit) {
  auto found = find_patterns(matrix, PatternKind::signs, std::min(limit, most_signed_patterns));
  if (!found) found = find_patterns(matrix, PatternKind::columns, limit);
  if (!found) return {};
  Size size;
  size.padding = padded_share(matrix);
  const double entries = static_cast<double>(matrix.nnz()) * size.padding;
  size.numbers = static_cast<double>(matrix.rows()) * number_bytes(found->patterns.count());
  size.tables =
      static_cast<double>(4 * (found->patterns.starts.size() + found->patterns.offsets.size()) +
                          found->patterns.negative.size());
  size.fields = value_bytes(choose_value_format(matrix, found->patterns.negative.empty()), entries);
  size.fields += static_cast<double>(matrix.rows()) / warp_size * 8;
  return size;
}

template <class T>
Size packed_size(const Csr<T>& matrix) {
  const RowOrder order = choose_order(matrix);
  const ColumnFormat columns = choose_column_format(matrix, order);
  Size size;
  size.padding = order.order.empty() ? padded_share(matrix) : 1;
  const double entries = static_cast<double>(matrix.nnz()) * size.padding;
  const auto rows = static_cast<double>(matrix.rows());
  size.numbers = static_cast<double>(RowNumbers::lengths(matrix.offsets()).bytes().size()) +
                 4 * static_cast<double>(order.order.size());
  size.fields = value_bytes(choose_value_format(matrix, true), entries) +
                entries * columns.bits / 8 + rows / warp_size * 8;
  return size;
}

/// Of a product on an H200: of a nonzero and of a row by coding, nanoseconds; bandwidth, bytes a
/// nanosecond.
constexpr double pattern_nonzero = 0.5e-3, pattern_row = 1.2e-3;
constexpr double shape_nonzero = 2.2e-3, packed_nonzero = 2.2e-3;
constexpr double bandwidth = 3800;
/// On one core of the host.
constexpr double host_nonzero = 0.6, host_field = 3, host_bandwidth = 9.7;

}  // namespace

template <class T>
std::optional<Candidate> predict_arrays(const Csr<T>& matrix, Coding coding, bool asked,
                                        Processor processor) {
  const std::int64_t limit = asked ? std::numeric_limits<std::int64_t>::max()
                                   : std::clamp<std::int64_t>(matrix.rows() / 8, 64, most_patterns);
  const std::optional<Size> size = coding == Coding::patterns ? patterns_size(matrix, limit)
                                   : coding == Coding::shapes ? shapes_size(matrix, limit)
                                                              : packed_size(matrix);
  if (!size) return {};
  Candidate candidate{.plan = {.coding = coding}};
  candidate.bytes = size->total();
  const auto nnz = static_cast<double>(matrix.nnz()), rows = static_cast<double>(matrix.rows());
  if (processor == Processor::host) {
    candidate.nanoseconds =
        std::max(candidate.bytes / host_bandwidth,
                 nnz * (coding == Coding::patterns ? host_nonzero : host_field));
    return candidate;
  }
  const double vectors =
      static_cast<double>(sizeof(T)) * static_cast<double>(matrix.rows() + matrix.cols());
  const double work = coding == Coding::patterns ? nnz * pattern_nonzero + rows * pattern_row
                      : coding == Coding::shapes ? nnz * size->padding * shape_nonzero
                                                 : nnz * size->padding * packed_nonzero;
  candidate.nanoseconds = std::max(work, (candidate.bytes + vectors) / bandwidth);
  return candidate;
}

template std::optional<Candidate> predict_arrays(const Csr<double>&, Coding, bool, Processor);
template std::optional<Candidate> predict_arrays(const Csr<float>&, Coding, bool, Processor);

}  // namespace tansolve::detail
