// SPDX-License-Identifier: BSD-3-Clause
// Lays a compressed matrix out for the kernels and sends it to the GPU.
#include <tansolve/kernels/cuda/device_layout.hpp>
#include <tansolve/kernels/cuda/device_matrix.hpp>

#include <cstring>
#include <span>
#include <vector>

namespace tansolve::detail {
namespace {

/// Values and deltas of a matrix as kernels find them, and where.
struct Entries {
  std::vector<std::byte> bytes;
  int count = 0;
  /// Of symbol s of table t: first[t] + s step[t].
  std::uint32_t first[2] = {0, 0}, step[2] = {0, 0};

  std::uint32_t offset(std::size_t t, std::uint32_t symbol) const {
    return first[t] + symbol * step[t];
  }
};

/// The escape, whose entry is never used, has a copy of symbol 0's. So have the slots of fixed
/// geometries that no symbol owns (FORMAT.md 2.2): all of 8 bits, else the one that follows the
/// last symbol and that kernels take for all beyond.
template <class T>
Entries entries_of(const CompressedParts<T>& parts) {
  Entries entries;
  const auto put = [&](std::size_t at, const auto& entry) {
    std::memcpy(entries.bytes.data() + at, &entry, sizeof entry);
  };
  const auto& tables = parts.tables;
  if (tables.size() == 1) {
    const auto& [code, deltas, values] = tables[0];
    const Geometry& geometry = traits(parts.plan.coding).geometry;
    const std::size_t symbols = code.slots.size();
    const std::size_t count = geometry.M > 1    ? symbols
                              : geometry.k == 8 ? geometry.slots()
                                                : symbols + 1;
    entries.count = static_cast<int>(count);
    entries.step[0] = sizeof(SymbolEntry<T>);
    entries.bytes.resize(rounded_up(count * sizeof(SymbolEntry<T>), 16));
    for (std::size_t s = 0; s < count; ++s) {
      const std::size_t source = s < deltas.size() ? s : 0;
      SymbolEntry<T> entry{};
      entry.value = values[source];
      entry.delta = deltas[source];
      put(s * sizeof entry, entry);
    }
  } else if (tables.size() == 2) {
    const std::size_t delta_count = tables[0].code.slots.size();
    const std::size_t value_count = tables[1].code.slots.size();
    entries.step[0] = sizeof(std::uint32_t);
    entries.step[1] = sizeof(T);
    entries.first[0] = static_cast<std::uint32_t>(value_count * sizeof(T));
    entries.bytes.resize(
        rounded_up(value_count * sizeof(T) + delta_count * sizeof(std::uint32_t), 16));
    for (std::size_t s = 0; s < tables[0].deltas.size(); ++s)
      put(entries.offset(0, static_cast<std::uint32_t>(s)), tables[0].deltas[s]);
    for (std::size_t s = 0; s < tables[1].values.size(); ++s)
      put(entries.offset(1, static_cast<std::uint32_t>(s)), tables[1].values[s]);
  }
  return entries;
}

/// Slots that no symbol owns decode as symbol 0 (FORMAT.md 2.2).
template <class T>
std::vector<std::uint32_t> slot_codes(const CompressedParts<T>& parts, const Entries& entries) {
  const std::size_t slots = traits(parts.plan.coding).geometry.slots();
  std::vector<std::uint32_t> codes;
  for (std::size_t t = 0; t < parts.tables.size(); ++t) {
    const CodingTable& code = parts.tables[t].code;
    codes.resize((t + 1) * slots, slot_code(parts.plan.coding, entries.offset(t, 0), 1, 0));
    for (std::uint32_t s = 0; s < code.slots.size(); ++s)
      for (std::uint32_t g = 0; g < code.slots[s]; ++g)
        codes[t * slots + code.start[s] + g] =
            slot_code(parts.plan.coding, entries.offset(t, s), code.slots[s], g);
  }
  return codes;
}

}  // namespace

template <class T>
DeviceMatrix<T>::DeviceMatrix(Context<Cuda>& context, const CompressedMatrix<T>& matrix)
    : context_(&context) {
  const CompressedParts<T>& parts = matrix.parts();
  const Entries entries = entries_of(parts);
  std::vector<std::uint32_t> codes;
  if (traits(parts.plan.coding).geometry.M > 1) codes = slot_codes(parts, entries);
  view_.escape[0] = view_.escape[1] = CodingTable::no_escape;
  for (std::size_t t = 0; t < parts.tables.size(); ++t)
    if (const std::uint32_t escape = parts.tables[t].code.escape; escape != CodingTable::no_escape)
      view_.escape[t] = entries.offset(t, escape);
  view_.rows = static_cast<std::uint32_t>(parts.rows);
  view_.slices = static_cast<std::uint32_t>(matrix.slices());
  view_.rows_per_lane = parts.plan.rows_per_lane;
  view_.length_width = parts.row_lengths.width();
  view_.constant_length = parts.row_lengths.constant();
  view_.code_count = static_cast<int>(codes.size());
  view_.entry_count = entries.count;
  view_.entry_bytes = static_cast<int>(entries.bytes.size());

  DeviceLayout layout;
  layout.add<std::uint32_t>(parts.words, view_.words);
  layout.add<std::uint64_t>(parts.slice_offsets, view_.slice_offsets);
  layout.add<std::uint8_t>(parts.row_lengths.bytes(), view_.lengths);
  layout.add<std::uint32_t>(codes, view_.codes);
  layout.add<std::byte>(entries.bytes, view_.entries);
  const std::vector<std::uint32_t> beyond(prefetch_words);
  const std::uint32_t* unused = nullptr;
  layout.add<std::uint32_t>(beyond, unused);
  bytes_ = static_cast<std::int64_t>(layout.bytes());
  memory_ = layout.send(context);
}

template class DeviceMatrix<double>;
template class DeviceMatrix<float>;

}  // namespace tansolve::detail
