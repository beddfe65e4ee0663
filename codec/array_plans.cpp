// SPDX-License-Identifier: BSD-3-Clause
// The cost model of the codings without streams: bytes by counting, time from what was measured.
#include <tansolve/codec/array_encode.hpp>
#include <tansolve/codec/array_plans.hpp>
#include <tansolve/codec/gather.hpp>
#include <tansolve/codec/row_patterns.hpp>
#include <tansolve/codec/value_format.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace tansolve::detail {
namespace {

/// Of a product on an H200, in nanoseconds: of a nonzero and of a row of patterns (poisson27:128,
/// poisson7:200 and fem3:72, within 12 %), and of a nonzero of shapes (fem3u:72); of these
/// where the patterns do not fit into shared memory (tile:50:Si5H12, tile:20:bcsstk32).
constexpr double pattern_nonzero = 0.47e-3, pattern_row = 3.1e-3, shape_nonzero = 2.25e-3;
constexpr double far_pattern_nonzero = 8.5e-3, far_shape_nonzero = 3e-3;
/// Bytes a nanosecond: of fields with patterns (tiles:80:af23560, varcoef7:200) and without
/// (band:2000000:32:1500:0), and of what these read of x beyond the L1 cache meanwhile
/// (er:3000000:16, rmat:21:20, laplacian:ba:2000000:12); all within 12 %.
constexpr double shape_bandwidth = 4100, packed_bandwidth = 3700, scattered_bandwidth = 5000;
/// Of a field of columns without patterns at least, waiting for it and then for x: of up to 16 bits
/// (band:2000000:32:1500:16), and of more (tile:20:bcsstk32); and of a look-up in a dictionary
/// beyond shared memory (tile:50:Si5H12).
constexpr double near_field = 1.9e-3, far_field = 1.95e-3, far_look_up = 0.45e-3;
constexpr double least_nanoseconds = 5000;
/// At least, one after the other: of a launch, and of an entry of the longest row without patterns,
/// whose lane waits for its fields and then for x (bcsstk13, s3rmt3m3, poisson27:20, within 15 %),
/// or with them (restrictions to the coarsest level of poisson7:200 and varcoef7:128, less a
/// third).
constexpr double launch = 4000, waiting_entry = 190, waiting_pattern_entry = 90;
/// What of patterns and dictionaries kernels keep in shared memory.
constexpr double shared_tables = 56 << 10, shared_dictionary = 48 << 10;
/// Larger tables no kernel takes.
constexpr double most_table_bytes = 2147483647;
/// On one core of the host.
constexpr double host_nonzero = 0.6, host_field = 3, host_bandwidth = 9.7;

/// Bytes of a row's number among so many.
double number_bytes(std::int64_t count) {
  return count <= 1 ? 0 : count <= 0x100 ? 1 : count <= 0x10000 ? 2 : 4;
}

struct Size {
  double numbers = 0;  ///< of rows, and their order
  double tables = 0;
  double fields = 0;            ///< with exceptions and slice offsets
  double gpu_tables = 0;        ///< bytes of patterns as kernels read them
  bool far_dictionary = false;  ///< likewise
  double dictionary_bytes = 0;  ///< of such a one that each nonzero reads beyond the L1 cache
  double entries = 0;           ///< of fields
  double longest = 0;           ///< entries of a row or piece, without patterns
  int column_bits = 0;
  Gather gather;
  double total() const { return numbers + tables + fields; }
  bool far_tables() const { return gpu_tables > shared_tables; }
};

double longest_row(std::span<const std::int64_t> offsets) {
  std::int64_t longest = 0;
  for (std::size_t i = 1; i < offsets.size(); ++i)
    longest = std::max(longest, offsets[i] - offsets[i - 1]);
  return static_cast<double>(longest);
}

template <class T>
void add_values(Survey<T>& survey, const ValueFormatChoice<T>& choice, double entries, Size& size) {
  const auto dictionary = static_cast<double>(choice.format.dictionary.size() * sizeof(T));
  size.far_dictionary = dictionary > shared_dictionary;
  // The values that most nonzeros have stay in the L1 cache, if these are few.
  if (size.far_dictionary &&
      std::exp2(Histogram::entropy(survey.histogram().values)) * sizeof(T) > shared_dictionary)
    size.dictionary_bytes = 32;
  size.fields +=
      entries * choice.format.bits / 8 + static_cast<double>(choice.exceptions) * (8 + sizeof(T));
  size.tables += dictionary;
}

template <class T>
std::optional<Size> patterns_size(Survey<T>& survey, std::int64_t limit) {
  const auto* found = survey.patterns(PatternKind::values, limit);
  if (found == nullptr) return {};
  Size size;
  size.numbers =
      static_cast<double>(survey.source().rows()) * number_bytes(found->patterns.count());
  const auto patterns = static_cast<double>(found->patterns.count());
  const auto entries = static_cast<double>(found->patterns.offsets.size());
  size.tables = 4 * patterns + (4 + sizeof(T)) * entries;
  size.gpu_tables = 16 * patterns + 2 * sizeof(T) * entries;
  return size;
}

template <class T>
std::optional<Size> shapes_size(Survey<T>& survey, std::int64_t limit) {
  const auto* found = survey.shapes(limit);
  if (found == nullptr) return {};
  Size size;
  const auto& source = survey.source();
  const double entries = static_cast<double>(source.nnz()) * padded_share(source.offsets());
  size.numbers = static_cast<double>(source.rows()) * number_bytes(found->patterns.count());
  size.tables =
      static_cast<double>(4 * (found->patterns.starts.size() + found->patterns.offsets.size()) +
                          found->patterns.negative.size());
  size.gpu_tables = 16 * static_cast<double>(found->patterns.starts.size()) +
                    8 * static_cast<double>(found->patterns.offsets.size());
  size.fields = static_cast<double>(source.rows()) / warp_size * 8;
  add_values(survey, choose_value_format(survey.values(), found->patterns.negative.empty()),
             entries, size);
  return size;
}

template <class T>
Size packed_size(Survey<T>& survey, bool on_gpu) {
  const RowSource<T>& source = survey.source();
  const RowOrder& order = survey.order();
  const ColumnFormat& columns = survey.columns();
  Size size;
  const double entries = static_cast<double>(source.nnz()) * padded_share(source.offsets(), order);
  const auto rows = static_cast<double>(source.rows());
  size.numbers = static_cast<double>(RowNumbers::lengths(source.offsets()).bytes().size()) +
                 4 * static_cast<double>(order.order.size());
  size.fields = entries * columns.bits / 8 + rows / warp_size * 8;
  add_values(survey, choose_value_format(survey.values(), true), entries, size);
  size.entries = entries;
  size.longest = std::min(longest_row(source.offsets()),
                          static_cast<double>(longest_piece(source.rows(), source.nnz())));
  size.column_bits = columns.bits;
  if (on_gpu) size.gather = estimate_gather(source, order.order);
  return size;
}

/// Nanoseconds of a product with fields, which the GPU reads in so many bytes.
double field_nanoseconds(double nnz, bool shapes, const Size& size, double bytes,
                         const Gather& natural) {
  const Gather& gather = shapes ? natural : size.gather;
  // Patterns beyond shared memory are read as fields are.
  if (shapes && size.far_tables()) bytes += sizeof(std::uint64_t) * nnz;
  const double scattered = gather.bytes + size.dictionary_bytes * nnz;
  const double memory =
      bytes / (shapes ? shape_bandwidth : packed_bandwidth) + scattered / scattered_bandwidth;
  const double field = size.column_bits > 16 ? far_field : near_field;
  const double work = shapes ? nnz * (size.far_tables() ? far_shape_nonzero : shape_nonzero)
                             : size.entries * (field + (size.far_dictionary ? far_look_up : 0));
  return std::max({memory, gather_nanoseconds({.lines = gather.lines}), work,
                   launch + waiting_entry * size.longest});
}

}  // namespace

template <class T>
std::optional<Candidate> predict_arrays(Survey<T>& survey, Coding coding, bool asked,
                                        Processor processor, const Gather& gather) {
  const std::int64_t limit =
      asked ? std::numeric_limits<std::int64_t>::max() : most_patterns(survey.source().rows());
  const std::optional<Size> size = coding == Coding::patterns ? patterns_size(survey, limit)
                                   : coding == Coding::shapes
                                       ? shapes_size(survey, limit)
                                       : packed_size(survey, processor == Processor::gpu);
  if (!size || (processor == Processor::gpu && !asked && size->gpu_tables > most_table_bytes))
    return {};
  Candidate candidate{.plan = {.coding = coding}};
  candidate.bytes = size->total();
  const RowSource<T>& source = survey.source();
  const auto nnz = static_cast<double>(source.nnz()), rows = static_cast<double>(source.rows());
  if (processor == Processor::host) {
    candidate.nanoseconds =
        std::max(candidate.bytes / host_bandwidth,
                 nnz * (coding == Coding::patterns ? host_nonzero : host_field));
    return candidate;
  }
  if (coding == Coding::patterns) {
    candidate.nanoseconds =
        nnz * (size->far_tables() ? far_pattern_nonzero : pattern_nonzero) + rows * pattern_row;
  } else {
    const double bytes = candidate.bytes + static_cast<double>(sizeof(T)) *
                                               static_cast<double>(source.rows() + source.cols());
    candidate.nanoseconds = field_nanoseconds(nnz, coding == Coding::shapes, *size, bytes, gather);
  }
  const double waiting =
      coding == Coding::packed ? 0 : waiting_pattern_entry * longest_row(source.offsets());
  candidate.nanoseconds = std::max({candidate.nanoseconds, least_nanoseconds, launch + waiting});
  return candidate;
}

template std::optional<Candidate> predict_arrays(Survey<double>&, Coding, bool, Processor,
                                                 const Gather&);
template std::optional<Candidate> predict_arrays(Survey<float>&, Coding, bool, Processor,
                                                 const Gather&);

}  // namespace tansolve::detail
