// SPDX-License-Identifier: BSD-3-Clause
// Containers to and from bytes. Paragraph numbers refer to FORMAT.md.
#include <tansolve/codec/container.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/input_file.hpp>
#include <tansolve/codec/output_file.hpp>
#include <tansolve/codec/sections.hpp>

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>

namespace tansolve {
namespace {

using detail::put;
using detail::SectionReader;

static_assert(std::endian::native == std::endian::little, "containers are little-endian");

constexpr std::uint32_t format_version = 1;

/// 4.1
struct Header {
  char magic[8];
  std::uint32_t version;
  std::uint32_t sections;
  std::uint64_t file_bytes;
  std::int64_t rows;
  std::int64_t cols;
  std::int64_t nnz;
  std::uint8_t value_bytes;
  std::uint8_t coding;
  std::uint8_t row_ends;
  std::uint8_t row_length_bytes;
  std::uint32_t rows_per_lane;
  std::uint32_t constant_row_length;
  std::uint32_t section_table_crc;
  std::uint32_t reserved;
  std::uint32_t header_crc;  ///< of the bytes before it
};
static_assert(sizeof(Header) == 72 && offsetof(Header, header_crc) == 68);

/// 4.2
struct Section {
  std::uint32_t kind;
  std::uint32_t crc;
  std::uint64_t offset;
  std::uint64_t bytes;
};
static_assert(sizeof(Section) == 24);

enum SectionKind : std::uint32_t {
  tables,
  row_lengths,
  slice_offsets,
  words,
  column_words,
  row_order,
  section_kinds
};
constexpr std::array<std::string_view, section_kinds> section_names = {
    "tables", "row lengths", "slice offsets", "words", "column words", "row order"};

/// Streams have the first four.
constexpr std::uint32_t section_count(Coding coding) {
  return is_stream(coding) ? words + 1 : section_kinds;
}

constexpr std::uint64_t alignment = 64;
constexpr std::uint64_t aligned(std::uint64_t offset) {
  return (offset + alignment - 1) / alignment * alignment;
}

std::uint32_t crc_of(const void* data, std::size_t bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, static_cast<const Bytef*>(data), bytes));
}

/// 4.3
template <class T>
std::string tables_section(const CompressedMatrix<T>& matrix) {
  std::string out;
  for (const auto& [code, deltas, values] : matrix.parts().tables) {
    const std::uint32_t head[2] = {static_cast<std::uint32_t>(code.slots.size()),
                                   code.escape != CodingTable::no_escape ? 1u : 0u};
    put(out, head, 2);
    const std::vector<std::uint16_t> slots(code.slots.begin(), code.slots.end());
    put(out, slots.data(), slots.size());
    put(out, deltas.data(), deltas.size());
    put(out, values.data(), values.size());
  }
  return out;
}

/// 5.6
template <class T>
std::string formats_section(const ArrayParts<T>& arrays) {
  const auto& [patterns, columns, values, order, words] = arrays;
  std::string out;
  const std::uint64_t head[] = {patterns.starts.size(),
                                patterns.offsets.size(),
                                patterns.values.size(),
                                patterns.negative.size(),
                                columns.bits + 0ull,
                                columns.relative ? 1ull : 0ull,
                                columns.first,
                                values.bits + 0ull,
                                values.sign ? 1ull : 0ull,
                                values.shift + 0ull,
                                values.least,
                                values.dictionary.size(),
                                values.exceptions.size()};
  put(out, head, std::size(head));
  put(out, values.exception_places.data(), values.exception_places.size());
  put(out, values.exceptions.data(), values.exceptions.size());
  put(out, values.dictionary.data(), values.dictionary.size());
  put(out, patterns.values.data(), patterns.values.size());
  put(out, patterns.starts.data(), patterns.starts.size());
  put(out, patterns.offsets.data(), patterns.offsets.size());
  put(out, patterns.negative.data(), patterns.negative.size());
  return out;
}

/// 5.7
std::string order_section(const RowOrder& order) {
  std::string out;
  const std::uint64_t head[] = {order.order.size(), order.long_rows.size()};
  put(out, head, std::size(head));
  put(out, order.order.data(), order.order.size());
  put(out, order.long_rows.data(), order.long_rows.size());
  put(out, order.long_starts.data(), order.long_starts.size());
  return out;
}

template <class T>
std::vector<SymbolTable<T>> read_tables(SectionReader reader, Coding coding) {
  std::vector<SymbolTable<T>> tables(traits(coding).tables);
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const bool delta = tables.size() == 1 || t == 0, value = tables.size() == 1 || t == 1;
    const auto head = reader.template take<std::uint32_t>(2);
    const std::uint32_t symbols = head[0], escapes = head[1];
    if (escapes > 1 || symbols <= escapes)
      throw Error(ErrorCode::bad_input,
                  fmt::format("table {}: {} symbols, {} escapes; there must be at most one escape "
                              "and another symbol",
                              t, symbols, escapes));
    const auto slots = reader.template take<std::uint16_t>(symbols);
    const std::uint32_t coded = symbols - escapes;
    if (delta) tables[t].deltas = reader.template take<std::uint32_t>(coded);
    if (value) tables[t].values = reader.template take<T>(coded);
    tables[t].code = CodingTable(
        {slots.begin(), slots.end()}, escapes == 1 ? coded : CodingTable::no_escape,
        (delta ? 1 : 0) + (value ? static_cast<int>(sizeof(T)) / 4 : 0), traits(coding).geometry);
  }
  reader.finish();
  return tables;
}

template <class T>
void read_formats(SectionReader reader, ArrayParts<T>& arrays) {
  auto& [patterns, columns, values, order, words] = arrays;
  const auto head = reader.template take<std::uint64_t>(13);
  const auto small = [&](int i, std::uint64_t most) {
    if (head[i] > most)
      throw Error(
          ErrorCode::bad_input,
          fmt::format("section tables: field {} is {}, it must be at most {}", i, head[i], most));
    return static_cast<int>(head[i]);
  };
  columns.bits = small(4, 32);
  columns.relative = small(5, 1) == 1;
  if (head[6] > std::numeric_limits<std::uint32_t>::max()) small(6, 0);
  columns.first = static_cast<std::uint32_t>(head[6]);
  values.bits = small(7, 64);
  values.sign = small(8, 1) == 1;
  values.shift = small(9, 64);
  values.least = head[10];
  values.exception_places = reader.template take<std::uint64_t>(head[12]);
  values.exceptions = reader.template take<T>(head[12]);
  values.dictionary = reader.template take<T>(head[11]);
  patterns.values = reader.template take<T>(head[2]);
  patterns.starts = reader.template take<std::uint32_t>(head[0]);
  patterns.offsets = reader.template take<std::uint32_t>(head[1]);
  patterns.negative = reader.template take<std::uint8_t>(head[3]);
  reader.finish();
}

RowOrder read_order(SectionReader reader) {
  const auto head = reader.take<std::uint64_t>(2);
  RowOrder order;
  order.order = reader.take<std::uint32_t>(head[0]);
  order.long_rows = reader.take<std::uint32_t>(head[1]);
  order.long_starts = reader.take_all<std::uint32_t>();
  return order;
}

/// The header and section table of a file, checked against the file and each other.
struct Layout {
  Header header;
  std::vector<Section> sections;

  explicit Layout(std::string_view file);
};

[[noreturn]] void refuse_file(const std::string& what) {
  throw Error(ErrorCode::bad_input, what);
}

Layout::Layout(std::string_view file) {
  constexpr std::size_t least = sizeof(Header) + (words + 1) * sizeof(Section);
  if (!file.starts_with(container_magic)) refuse_file("not a tansolve container");
  if (file.size() < least)
    refuse_file(
        fmt::format("cut short: {} bytes, a container has at least {}", file.size(), least));
  std::memcpy(&header, file.data(), sizeof header);
  if (header.version != format_version)
    refuse_file(fmt::format("format version {}; this build reads version {}", header.version,
                            format_version));
  if (header.header_crc != crc_of(file.data(), offsetof(Header, header_crc)))
    refuse_file("header: wrong checksum; the file is damaged");
  if (header.file_bytes != file.size())
    refuse_file(
        fmt::format("{}: {} bytes, by its header it must have {}",
                    file.size() < header.file_bytes ? "cut short" : "something was appended",
                    file.size(), header.file_bytes));
  if (header.coding >= all_codings.size())
    refuse_file(fmt::format("header: coding {}, it must be 0 to {}", header.coding,
                            all_codings.size() - 1));
  const std::uint32_t count = section_count(static_cast<Coding>(header.coding));
  if (header.sections != count || header.reserved != 0)
    refuse_file(fmt::format("header: {} sections, reserved field {}; they must be {} and 0",
                            header.sections, header.reserved, count));
  sections.resize(count);
  const std::size_t table_bytes = count * sizeof(Section), table_end = sizeof header + table_bytes;
  if (file.size() < table_end)
    refuse_file(fmt::format("cut short: {} bytes, with {} sections it has at least {}", file.size(),
                            count, table_end));
  std::memcpy(sections.data(), file.data() + sizeof header, table_bytes);
  if (header.section_table_crc != crc_of(sections.data(), table_bytes))
    refuse_file("section table: wrong checksum; the file is damaged");

  std::uint64_t end = table_end;
  for (std::uint32_t kind = 0; kind < count; ++kind) {
    const auto& [found, crc, offset, bytes] = sections[kind];
    const std::string_view name = section_names[kind];
    if (found != kind || offset != aligned(end) || offset > file.size() ||
        bytes > file.size() - offset)
      refuse_file(
          fmt::format("section {}: kind {} of {} bytes at {}; it must be kind {} at {} and end "
                      "within the file",
                      name, found, bytes, offset, kind, aligned(end)));
    if (file.substr(end, offset - end).find_first_not_of('\0') != std::string_view::npos)
      refuse_file(fmt::format("section {}: bytes before it are not zero", name));
    if (crc != crc_of(file.data() + offset, bytes))
      refuse_file(fmt::format("section {}: wrong checksum; the file is damaged", name));
    end = offset + bytes;
  }
  if (end != file.size())
    refuse_file(fmt::format("{} bytes after the last section", file.size() - end));
}

template <class T>
CompressedMatrix<T> read_matrix_parts(std::string_view file, const Layout& layout, int threads,
                                      const Progress& progress) {
  const Header& header = layout.header;
  const auto section = [&](SectionKind kind) {
    const auto& [found, crc, offset, bytes] = layout.sections[kind];
    return SectionReader(file.substr(offset, bytes),
                         fmt::format("section {}", section_names[kind]));
  };
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (header.rows < 0 || header.rows > most)
    refuse_file(fmt::format("header: {} rows, there must be 0 to {}", header.rows, most));
  if (header.rows_per_lane < 1 ||
      header.rows_per_lane > static_cast<std::uint32_t>(max_rows_per_lane))
    refuse_file(fmt::format("header: {} rows a lane, there must be 1 to {}", header.rows_per_lane,
                            max_rows_per_lane));

  CompressedParts<T> parts;
  parts.rows = header.rows;
  parts.cols = header.cols;
  parts.nnz = header.nnz;
  parts.plan = {static_cast<Coding>(header.coding), static_cast<int>(header.rows_per_lane),
                static_cast<RowEnds>(header.row_ends)};
  if (!is_stream(parts.plan.coding)) {
    read_formats(section(tables), parts.arrays);
    parts.arrays.order = read_order(section(row_order));
    parts.arrays.column_words = section(column_words).template take_all<std::uint32_t>();
  } else if (header.nnz == 0)
    section(tables).finish();
  else
    parts.tables = read_tables<T>(section(tables), parts.plan.coding);
  if (header.row_length_bytes != 0 && header.constant_row_length != 0)
    refuse_file(fmt::format("header: a row length of {} for all rows where each is stored",
                            header.constant_row_length));
  parts.row_lengths = RowNumbers(parts.arrays.order.coded_rows(header.rows),
                                 header.row_length_bytes, header.constant_row_length,
                                 section(row_lengths).template take_all<std::uint8_t>());
  parts.slice_offsets = section(slice_offsets).template take_all<std::uint64_t>();
  parts.words = section(words).template take_all<std::uint32_t>();
  return CompressedMatrix<T>(std::move(parts), threads, progress);
}

}  // namespace

template <class T>
void save_container(const std::filesystem::path& path, const CompressedMatrix<T>& matrix) {
  const auto& parts = matrix.parts();
  const bool streams = is_stream(parts.plan.coding);
  const std::string table_bytes = streams ? tables_section(matrix) : formats_section(parts.arrays);
  const std::string order_bytes = order_section(parts.arrays.order);
  struct Piece {
    const void* data;
    std::uint64_t bytes;
  };
  const std::array<Piece, section_kinds> pieces = {{
      {table_bytes.data(), table_bytes.size()},
      {parts.row_lengths.bytes().data(), parts.row_lengths.bytes().size()},
      {parts.slice_offsets.data(), 8 * parts.slice_offsets.size()},
      {parts.words.data(), 4 * parts.words.size()},
      {parts.arrays.column_words.data(), 4 * parts.arrays.column_words.size()},
      {order_bytes.data(), order_bytes.size()},
  }};
  const std::uint32_t count = section_count(parts.plan.coding);
  std::vector<Section> sections(count);
  const std::size_t section_table_bytes = count * sizeof(Section);
  std::uint64_t end = sizeof(Header) + section_table_bytes;
  for (std::uint32_t kind = 0; kind < count; ++kind) {
    const auto& [data, bytes] = pieces[kind];
    sections[kind] = {kind, crc_of(data, bytes), aligned(end), bytes};
    end = sections[kind].offset + bytes;
  }
  Header header{};
  std::memcpy(header.magic, container_magic.data(), sizeof header.magic);
  header.version = format_version;
  header.sections = count;
  header.file_bytes = end;
  header.rows = parts.rows;
  header.cols = parts.cols;
  header.nnz = parts.nnz;
  header.value_bytes = sizeof(T);
  header.coding = static_cast<std::uint8_t>(parts.plan.coding);
  header.row_ends = static_cast<std::uint8_t>(parts.plan.row_ends);
  header.row_length_bytes = static_cast<std::uint8_t>(parts.row_lengths.width());
  header.rows_per_lane = static_cast<std::uint32_t>(parts.plan.rows_per_lane);
  header.constant_row_length = parts.row_lengths.constant();
  header.section_table_crc = crc_of(sections.data(), section_table_bytes);
  header.header_crc = crc_of(&header, offsetof(Header, header_crc));

  OutputFile file(path);
  file.write(&header, sizeof header);
  file.write(sections.data(), section_table_bytes);
  std::uint64_t written = sizeof(Header) + section_table_bytes;
  for (std::uint32_t kind = 0; kind < count; ++kind) {
    file.write(std::string(sections[kind].offset - written, '\0'));
    file.write(pieces[kind].data, pieces[kind].bytes);
    written = sections[kind].offset + pieces[kind].bytes;
  }
  file.commit();
}

AnyCompressedMatrix parse_container(std::string_view bytes, const std::string& name, int threads,
                                    const Progress& progress) {
  try {
    const Layout layout(bytes);
    switch (layout.header.value_bytes) {
      case 8:
        return read_matrix_parts<double>(bytes, layout, threads, progress);
      case 4:
        return read_matrix_parts<float>(bytes, layout, threads, progress);
      default:
        refuse_file(fmt::format("header: values of {} bytes, they must have 8 or 4",
                                layout.header.value_bytes));
    }
  } catch (const Error& error) {
    throw Error(error.code(), fmt::format("{}: {}", name, error.what()));
  }
}

AnyCompressedMatrix load_container(const std::filesystem::path& path, int threads) {
  const InputFile file(path);
  return parse_container(file.text(), file.name(), threads);
}

template void save_container(const std::filesystem::path&, const CompressedMatrix<double>&);
template void save_container(const std::filesystem::path&, const CompressedMatrix<float>&);

}  // namespace tansolve
