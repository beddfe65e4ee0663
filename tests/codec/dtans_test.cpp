// SPDX-License-Identifier: BSD-3-Clause
// The coder alone: allocation against brute force, pinned words, random symbol streams.
#include <tansolve/codec/dtans/reference_decoder.hpp>
#include <tansolve/codec/dtans/warp_encoder.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <numeric>
#include <random>
#include <string>

using namespace tansolve;
using detail::LaneSymbols;
using Lanes = std::array<LaneSymbols, warp_size>;

namespace {

/// Pads every lane to whole segments.
template <Geometry G>
void pad(Lanes& lanes, const std::vector<CodingTable>& tables) {
  for (LaneSymbols& lane : lanes)
    while (lane.symbols.size() % G.l != 0)
      lane.symbols.push_back(tables[lane.symbols.size() % tables.size()].padding);
}

template <Geometry G, int tables_per_lane>
std::vector<std::uint32_t> encode(const Lanes& lanes, const std::vector<CodingTable>& tables) {
  std::vector<std::uint32_t> words;
  detail::WarpEncoder<G, tables_per_lane>(tables).encode(lanes, words);
  return words;
}

Lanes decode(const Geometry& geometry, const std::vector<CodingTable>& tables,
             const std::vector<std::uint32_t>& words, const Lanes& shape, std::size_t& taken) {
  std::array<std::int64_t, warp_size> segments;
  for (int j = 0; j < warp_size; ++j) segments[j] = std::ssize(shape[j].symbols) / geometry.l;
  Lanes lanes;
  taken = ReferenceDecoder(geometry, tables)
              .decode(segments, words,
                      [&](int j, std::uint32_t symbol, std::span<const std::uint32_t> raw) {
                        lanes[j].symbols.push_back(symbol);
                        lanes[j].raw.insert(lanes[j].raw.end(), raw.begin(), raw.end());
                      });
  return lanes;
}

template <Geometry G, int tables_per_lane>
std::size_t check_round_trip(const Lanes& lanes, const std::vector<CodingTable>& tables) {
  const auto words = encode<G, tables_per_lane>(lanes, tables);
  std::size_t taken = 0;
  const Lanes decoded = decode(G, tables, words, lanes, taken);
  CHECK(taken == words.size());
  bool same = true;
  for (int j = 0; j < warp_size; ++j)
    same = same && decoded[j].symbols == lanes[j].symbols && decoded[j].raw == lanes[j].raw;
  CHECK(same);
  return words.size();
}

enum class Shape { uniform, geometric, zipf, constant };

std::uint32_t draw(Shape shape, std::uint32_t alphabet, std::mt19937_64& random) {
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  double symbol = 0;
  switch (shape) {
    case Shape::uniform:
      symbol = u * alphabet;
      break;
    case Shape::geometric:
      symbol = -std::log2(1 - u);
      break;
    case Shape::zipf:
      symbol = std::pow(alphabet + 1.0, u) - 1;
      break;
    case Shape::constant:
      break;
  }
  return std::min(alphabet - 1, static_cast<std::uint32_t>(symbol));
}

/// Random streams over `alphabet` symbols, the last of which is an escape if asked.
template <Geometry G, int tables_per_lane>
void check_random(Shape shape, std::uint32_t alphabet, bool escapes,
                  const std::array<std::size_t, warp_size>& lengths, std::uint64_t seed) {
  CAPTURE(static_cast<int>(shape));
  CAPTURE(alphabet);
  CAPTURE(escapes);
  std::mt19937_64 random(seed);
  Lanes lanes;
  std::vector<std::vector<std::uint64_t>> counts(tables_per_lane,
                                                 std::vector<std::uint64_t>(alphabet, 0));
  for (int j = 0; j < warp_size; ++j)
    for (std::size_t i = 0; i < lengths[j]; ++i) {
      lanes[j].symbols.push_back(draw(shape, alphabet, random));
      ++counts[i % tables_per_lane][lanes[j].symbols.back()];
    }
  std::vector<CodingTable> tables;
  for (int t = 0; t < tables_per_lane; ++t)
    tables.emplace_back(allocate_slots(counts[t], G),
                        escapes ? alphabet - 1 : CodingTable::no_escape, 1 + t, G);
  if (escapes)  // in the first, a middle and the last segment of lanes that are long enough
    for (LaneSymbols& lane : lanes)
      for (const std::size_t at :
           {std::size_t{0}, lane.symbols.size() / 2, lane.symbols.size() - 1})
        if (at < lane.symbols.size()) lane.symbols[at] = alphabet - 1;
  pad<G>(lanes, tables);
  for (LaneSymbols& lane : lanes)
    for (std::size_t i = 0; i < lane.symbols.size(); ++i)
      if (const CodingTable& table = tables[i % tables.size()]; lane.symbols[i] == table.escape)
        for (int w = 0; w < table.raw_words; ++w)
          lane.raw.push_back(static_cast<std::uint32_t>(random()));
  check_round_trip<G, tables_per_lane>(lanes, tables);
}

template <Geometry G, int tables_per_lane>
void check_all_streams() {
  const std::uint32_t slots = G.slots();
  std::array<std::size_t, warp_size> unequal{};
  const std::array<std::size_t, 12> some = {0, 1, 7, 8, 9, 15, 16, 17, 64, 333, 1000, 8000};
  for (int j = 0; j < warp_size; ++j) unequal[j] = some[(j * 5) % some.size()];
  for (const Shape shape : {Shape::uniform, Shape::geometric, Shape::zipf, Shape::constant})
    for (const std::uint32_t alphabet : {1u, 2u, 3u, 37u, slots - 1, slots})
      for (const bool escapes : {false, true})
        if (!escapes || alphabet > 1)
          check_random<G, tables_per_lane>(shape, alphabet, escapes, unequal, alphabet * 4 + 1);
  for (const std::size_t length : {0, 1, 7, 8, 9, 4096}) {
    std::array<std::size_t, warp_size> equal;
    equal.fill(length);
    check_random<G, tables_per_lane>(Shape::zipf, 100, true, equal, 99);
  }
}

/// The least bits over all allocations, by trying them all.
double brute_force(const std::vector<std::uint64_t>& counts, int K, int M, std::size_t s = 0) {
  if (s == counts.size()) return 0;
  double best = HUGE_VAL;
  const int others = static_cast<int>(counts.size() - s) - 1;
  for (int q = 1; q <= std::min(M, K - others); ++q)
    best = std::min(best, static_cast<double>(counts[s]) * -std::log2(q) +
                              brute_force(counts, K - q, M, s + 1));
  return best;
}

}  // namespace

TEST_CASE("allocate_slots finds the optimum, as brute force over all allocations does") {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 60; ++trial) {
    std::vector<std::uint64_t> counts(1 + trial % 5);
    for (auto& count : counts) count = random() % 1000;
    const Geometry g = {.k = 4, .M = 2 + trial % 7, .l = 8, .o = 1, .f = 1};
    const auto slots = allocate_slots(counts, g);
    double bits = 0;
    for (std::size_t s = 0; s < counts.size(); ++s) {
      REQUIRE(slots[s] >= 1);
      REQUIRE(slots[s] <= static_cast<std::uint32_t>(g.M));
      bits -= static_cast<double>(counts[s]) * std::log2(slots[s]);
    }
    REQUIRE(std::accumulate(slots.begin(), slots.end(), 0u) <= 16);
    CHECK(bits == doctest::Approx(brute_force(counts, 16, g.M)));
  }
}

TEST_CASE("allocate_slots breaks ties for the lower symbol and refuses too many symbols") {
  CHECK(allocate_slots(std::vector<std::uint64_t>{5, 5, 5}, {4, 16, 8, 1, 1}) ==
        std::vector<std::uint32_t>{6, 5, 5});
  CHECK_THROWS_AS(allocate_slots(std::vector<std::uint64_t>(257, 1), byte_geometry), Error);
  CHECK(allocate_slots(std::vector<std::uint64_t>(256, 1), byte_geometry) ==
        std::vector<std::uint32_t>(256, 1));
}

TEST_CASE("choose_coded_symbols escapes what is rare and nothing where nothing need be") {
  using Counts = std::vector<std::uint64_t>;
  CHECK(choose_coded_symbols(Counts{}, 0, byte_geometry, 96) == 0);
  CHECK(choose_coded_symbols(Counts{9}, 9, byte_geometry, 96) == 1);
  CHECK(choose_coded_symbols(Counts(256, 3), 768, byte_geometry, 96) == 256);  // exactly K
  CHECK(choose_coded_symbols(Counts(257, 3), 771, byte_geometry, 96) == 255);  // one slot to escape
  Counts skewed(300, 1);
  skewed[0] = 1'000'000;
  CHECK(choose_coded_symbols(skewed, 1'000'299, byte_geometry, 96) == 255);
  CHECK(choose_coded_symbols(Counts(5000, 1), 5000, byte_geometry, 1) ==
        1);  // escapes cost nothing
}

TEST_CASE("a coding table refuses slots that no decoder could use") {
  const auto no = CodingTable::no_escape;
  CHECK_THROWS_AS(CodingTable({0}, no, 0, byte_geometry), Error);
  CHECK_THROWS_AS(CodingTable({16}, no, 0, byte_geometry), Error);
  CHECK_THROWS_AS(CodingTable(std::vector<std::uint32_t>(200, 2), no, 0, byte_geometry), Error);
  CHECK_THROWS_AS(CodingTable({3}, 0, 3, byte_geometry), Error);     // only an escape
  CHECK_THROWS_AS(CodingTable({3, 2}, 2, 3, byte_geometry), Error);  // no such symbol
  CHECK_THROWS_AS(CodingTable({}, no, 0, byte_geometry), Error);
  CHECK(CodingTable({2, 15, 15}, 1, 3, byte_geometry).padding == 2);  // never the escape
}

TEST_CASE("the words of a small stream in the byte geometry are pinned") {
  const std::vector<CodingTable> tables = {
      CodingTable({15, 7, 1}, CodingTable::no_escape, 0, byte_geometry)};
  Lanes lanes;
  for (const char c : std::string("aabacaabaabacaabab")) lanes[0].symbols.push_back(c - 'a');
  lanes[1].symbols = {1};
  pad<byte_geometry>(lanes, tables);
  CHECK(encode<byte_geometry, 1>(lanes, tables) ==
        std::vector<std::uint32_t>{0x000f0000, 0x0000000f, 0x0f000016, 0x00000000, 0x020f0000,
                                   0x13080616, 0x00000000});
}

TEST_CASE("the words of a fixed-rate stream are its slots, and raw words follow their segment") {
  const std::vector<CodingTable> tables = {CodingTable({1, 1, 1}, 2, 2, fixed8_geometry)};
  Lanes lanes;
  lanes[0].symbols = {0, 1, 2, 0, 1, 1, 1, 1};
  lanes[0].raw = {0xaaaaaaaa, 0xbbbbbbbb};
  lanes[3].symbols = {2, 2, 0, 0};
  lanes[3].raw = {1, 2, 3, 4};
  // Segment 0 of lanes 0 and 3, then escapes by symbol and lane, then segment 1 of lane 0.
  CHECK(encode<fixed8_geometry, 1>(lanes, tables) ==
        std::vector<std::uint32_t>{0x00020100, 0x00000202, 1, 2, 3, 4, 0xaaaaaaaa, 0xbbbbbbbb,
                                   0x01010101});
}

TEST_CASE("random streams round-trip in the wide geometry with one table") {
  check_all_streams<wide_geometry, 1>();
}
TEST_CASE("random streams round-trip in the wide geometry with two tables") {
  check_all_streams<wide_geometry, 2>();
}
TEST_CASE("random streams round-trip in the byte geometry") {
  check_all_streams<byte_geometry, 1>();
}
TEST_CASE("random streams round-trip at 8 bits") {
  check_all_streams<fixed8_geometry, 1>();
}
TEST_CASE("random streams round-trip at 12 bits") {
  check_all_streams<fixed12_geometry, 1>();
}
TEST_CASE("random streams round-trip at 16 bits") {
  check_all_streams<fixed16_geometry, 1>();
}

TEST_CASE("a long stream costs what its table promises") {
  std::mt19937_64 random(3);
  std::vector<std::uint64_t> counts(40, 0);
  Lanes lanes;
  for (auto& lane : lanes)
    for (int i = 0; i < 40000; ++i) {
      lane.symbols.push_back(draw(Shape::zipf, 40, random));
      ++counts[lane.symbols.back()];
    }
  const std::vector<CodingTable> tables = {
      CodingTable(allocate_slots(counts, wide_geometry), CodingTable::no_escape, 0, wide_geometry)};
  double bits = 0;
  for (std::size_t s = 0; s < counts.size(); ++s)
    bits += static_cast<double>(counts[s]) * (12 - std::log2(tables[0].slots[s]));
  const double words = static_cast<double>(check_round_trip<wide_geometry, 1>(lanes, tables));
  CHECK(words * 32 / bits < 1.01);
  CHECK(words * 32 / bits > 0.99);
}

TEST_CASE("a lane that refers to its twin gives the words that its own symbols would") {
  const CodingTable table(allocate_slots(std::vector<std::uint64_t>{50, 30, 5, 1}, wide_geometry),
                          3, 2, wide_geometry);
  Lanes own;
  for (int j = 0; j < warp_size; ++j)
    for (int i = 0; i < 40 + 8 * (j % 3); ++i) {
      own[j].symbols.push_back((i * i + j % 3) % 4);
      if (own[j].symbols.back() == 3)
        for (int w = 0; w < 2; ++w) own[j].raw.push_back(100 * (j % 3) + 2 * i + w);
    }
  Lanes twins = own;
  for (int j = 3; j < warp_size; ++j) {
    if (j % 5 == 0) continue;
    twins[j] = {};
    twins[j].twin = j - 3;  // a twin of a twin as a rule
  }
  const std::vector<CodingTable> tables = {table};
  CHECK(encode<wide_geometry, 1>(twins, tables) == encode<wide_geometry, 1>(own, tables));
}

TEST_CASE("a truncated stream is refused by the reference decoder") {
  const std::vector<CodingTable> tables = {
      CodingTable({200, 100, 50}, CodingTable::no_escape, 0, wide_geometry)};
  Lanes lanes;
  for (auto& lane : lanes) lane.symbols.assign(64, 1);
  auto words = encode<wide_geometry, 1>(lanes, tables);
  std::size_t taken = 0;
  while (!words.empty()) {
    words.pop_back();
    CHECK_THROWS_AS(decode(wide_geometry, tables, words, lanes, taken), Error);
  }
}
