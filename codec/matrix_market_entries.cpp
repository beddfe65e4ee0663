// SPDX-License-Identifier: BSD-3-Clause
// Parsing the lines of entries: the text is cut at line ends into chunks, whose lines are counted
// first, so that each chunk knows where its entries may go and which lines it holds.
#include <tansolve/codec/matrix_market_entries.hpp>
#include <tansolve/codec/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tansolve::detail {
namespace {

/// Small against a thread's share, large against the cost of handing one out.
constexpr std::ptrdiff_t chunk_bytes = std::ptrdiff_t{1} << 20;

enum class Fault { none, row, column, value, diagonal, surplus };

struct Chunk {
  std::string_view text;   // whole lines
  std::int64_t lines = 0;  // of text, at least as many as entries
  std::int64_t first = 0;  // lines before text, and index of the first entry
  std::int64_t count = 0;  // entries
  Fault fault = Fault::none;
  const char* fault_line = nullptr;  // where the line of the fault begins
};

std::vector<Chunk> cut(std::string_view body) {
  std::vector<Chunk> chunks;
  const char* end = body.data() + body.size();
  for (const char* p = body.data(); p != end;) {
    const char* q = end - p > chunk_bytes ? p + chunk_bytes : end;
    q = skip_line_end(find_line_end(q, end), end);
    chunks.push_back({.text = {p, q}});
    p = q;
  }
  return chunks;
}

/// Reads an index from 1 to `limit`; nullptr when there is none.
inline const char* parse_index(const char* p, const char* end, std::int64_t limit,
                               std::int32_t& index) {
  std::int64_t value = 0;
  for (; p != end && *p >= '0' && *p <= '9'; ++p) {
    value = 10 * value + (*p - '0');
    if (value > limit) return nullptr;
  }
  index = static_cast<std::int32_t>(value - 1);
  const bool at_end = p == end || is_blank(*p) || is_line_end(*p);
  return value > 0 && at_end ? skip_blanks(p, end) : nullptr;
}

/// Reads entry k at p, which is neither blank nor a comment. Moves p to the end of its line.
inline Fault parse_entry(const MatrixMarketHeader& header, const char*& p, const char* end,
                         const Entries& entries, std::int64_t k) {
  const char* q = p;
  if (header.coordinate) {
    if ((q = parse_index(q, end, header.rows, entries.rows[k])) == nullptr) return Fault::row;
    if ((q = parse_index(q, end, header.cols, entries.cols[k])) == nullptr) return Fault::column;
  }
  if (!header.pattern) {
    if ((q = parse_real(q, end, entries.values[k])) == nullptr) return Fault::value;
    q = skip_blanks(q, end);
  }
  if (q != end && !is_line_end(*q)) return Fault::surplus;
  p = q;
  if (header.coordinate && header.symmetry == Symmetry::skew &&
      entries.rows[k] == entries.cols[k] && !(entries.values[k] == 0))
    return Fault::diagonal;
  return Fault::none;
}

void parse_chunk(const MatrixMarketHeader& header, Chunk& chunk, const Entries& entries) {
  const char* p = chunk.text.data();
  const char* end = p + chunk.text.size();
  while (p != end) {
    const char* line = p;
    p = skip_blanks(p, end);
    if (p != end && *p == '%') {
      p = find_line_end(p, end);
    } else if (p != end && !is_line_end(*p)) {
      chunk.fault = parse_entry(header, p, end, entries, chunk.first + chunk.count);
      if (chunk.fault != Fault::none) {
        chunk.fault_line = line;
        return;
      }
      ++chunk.count;
    }
    p = skip_line_end(p, end);
  }
}

[[noreturn]] void fail(const std::string& name, const MatrixMarketHeader& header,
                       const Chunk& chunk) {
  const char* begin = chunk.text.data();
  const char* end = begin + chunk.text.size();
  const std::int64_t line =
      header.size_line + chunk.first + count_lines({begin, chunk.fault_line}) + 1;
  const auto expected = [&]() -> std::string {
    switch (chunk.fault) {
      case Fault::row:
        return fmt::format("expected a row from 1 to {}", header.rows);
      case Fault::column:
        return fmt::format("expected a column from 1 to {} after the row", header.cols);
      case Fault::value:
        return "expected a real number in the range of double";
      case Fault::diagonal:
        return "the diagonal of a skew-symmetric matrix must be zero";
      default:
        return header.coordinate ? fmt::format("expected nothing behind the {}",
                                               header.pattern ? "column" : "value")
                                 : "expected one value a line";
    }
  }();
  const std::string_view found(chunk.fault_line, find_line_end(chunk.fault_line, end));
  fail_at_line(name, line, fmt::format("{}, found {}", expected, excerpt(found)));
}

/// Closes the gaps that comments and blank lines left between the entries of the chunks.
void compact(const std::vector<Chunk>& chunks, Entries& entries) {
  for (const Chunk& chunk : chunks) {
    const auto move = [&](auto& array) {
      if (array && chunk.first != entries.count)
        std::copy_n(&array[chunk.first], chunk.count, &array[entries.count]);
    };
    move(entries.rows);
    move(entries.cols);
    move(entries.values);
    entries.count += chunk.count;
  }
}

}  // namespace

Entries parse_matrix_market_entries(const std::string& name, const MatrixMarketHeader& header,
                                    const Progress& progress) {
  std::vector<Chunk> chunks = cut(header.body);
  const auto size = static_cast<std::ptrdiff_t>(chunks.size());
  const int threads = size > 1 ? 0 : 1;
  parallel_tasks(threads, size,
                 [&](std::int64_t c) { chunks[c].lines = count_lines(chunks[c].text); });
  std::int64_t lines = 0;
  for (Chunk& chunk : chunks) {
    chunk.first = lines;
    lines += chunk.lines;
  }

  Entries entries(lines, !header.pattern);
  parallel_tasks(
      threads, size, [&](std::int64_t c) { parse_chunk(header, chunks[c], entries); }, progress);
  for (const Chunk& chunk : chunks)
    if (chunk.fault != Fault::none) fail(name, header, chunk);

  compact(chunks, entries);
  if (entries.count < header.entries)
    fail_at_line(name, header.size_line + lines,
                 fmt::format("the file ends after {} of the {} entries that line {} announces",
                             entries.count, header.entries, header.size_line));
  if (entries.count > header.entries)
    fail_at_line(name, line_of_entry(header, header.entries),
                 fmt::format("more than the {} entries that line {} announces", header.entries,
                             header.size_line));
  if (header.coordinate && header.symmetry != Symmetry::general)
    if (const std::int64_t k = first_mirrored(entries); k < entries.count)
      fail_at_line(name, line_of_entry(header, k), mirrored_text(entries, k));
  return entries;
}

std::int64_t line_of_entry(const MatrixMarketHeader& header, std::int64_t k) {
  Lines lines(header.body);
  while (lines.next()) {
    const std::string_view line = lines.line();
    const char* end = line.data() + line.size();
    const char* p = skip_blanks(line.data(), end);
    if (p != end && *p != '%' && k-- == 0) break;
  }
  return header.size_line + lines.number();
}

}  // namespace tansolve::detail
