// SPDX-License-Identifier: BSD-3-Clause
// Containers of every plan, and through them arbitrary tables, streams and arrays: what validation
// accepts is decoded, multiplied on every instruction set to the same bits, and given new values.
#include "fuzz/fuzz.hpp"
#include "support/crafted.hpp"
#include "support/files.hpp"
#include "support/matrices.hpp"
#include "support/plans.hpp"

#include <tansolve/codec/container.hpp>
#include <tansolve/codec/encode.hpp>
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/update_values.hpp>
#include <tansolve/kernels/compressed_operator.hpp>

#include <limits>

namespace tansolve::fuzz {
namespace {

using test::header_bytes, test::load, test::most_sections, test::store;
constexpr std::size_t entry_bytes = test::section_entry_bytes, alignment = 64;

/// The header, then every section.
Parts split(std::string_view file) {
  if (file.size() < header_bytes) return whole(file);
  const auto sections = load<std::uint32_t>(file, 12);
  if (sections < 4 || sections > most_sections ||
      header_bytes + sections * entry_bytes > file.size())
    return whole(file);
  Parts parts = {std::string(file.substr(0, header_bytes))};
  for (std::size_t s = 0; s < sections; ++s) {
    const std::size_t entry = header_bytes + s * entry_bytes;
    const auto offset = load<std::uint64_t>(file, entry + 8),
               bytes = load<std::uint64_t>(file, entry + 16);
    if (offset > file.size() || bytes > file.size() - offset) return whole(file);
    parts.emplace_back(file.substr(offset, bytes));
  }
  return parts;
}

/// Sections laid out anew; the offsets of a stream's slices end where its words do.
std::string joined(const Parts& parts) {
  if (parts.size() == 1) return parts.front();
  const std::size_t sections = parts.size() - 1;
  std::string file = parts.front();
  file.resize(header_bytes + sections * entry_bytes);
  store(file, 12, static_cast<std::uint32_t>(sections));
  for (std::size_t s = 0; s < sections; ++s) {
    std::string section = parts[s + 1];
    if (sections == 4 && s == 2 && section.size() >= 8)
      store(section, section.size() - 8, static_cast<std::uint64_t>(parts[4].size() / 4));
    file.resize((file.size() + alignment - 1) / alignment * alignment);
    const std::size_t entry = header_bytes + s * entry_bytes;
    store(file, entry, static_cast<std::uint32_t>(s));
    store(file, entry + 8, static_cast<std::uint64_t>(file.size()));
    store(file, entry + 16, static_cast<std::uint64_t>(section.size()));
    file += section;
  }
  test::repair_container(file);
  return file;
}

template <class T>
bool same(T a, T b) {
  return a == b || (a != a && b != b);
}

template <class T>
void check_products(const CompressedMatrix<T>& matrix, const Csr<T>& decoded) {
  static Context<Host> context(1);
  constexpr std::int64_t columns = 3;
  const std::int64_t rows = matrix.rows(), cols = matrix.cols();
  std::vector<T> x(cols * columns), expected(rows * columns), y(rows * columns);
  for (std::size_t j = 0; j < x.size(); ++j) x[j] = static_cast<T>(1 + j % 5);
  for (std::int64_t c = 0; c < columns; ++c)
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t k = decoded.offsets()[i]; k < decoded.offsets()[i + 1]; ++k)
        expected[c * rows + i] += decoded.values()[k] * x[c * cols + decoded.columns()[k]];
  for (const std::string& isa : supported_isas()) {
    const CompressedOperator<T, Host> A(context, matrix, isa);
    const auto compare = [&](const char* product, std::int64_t count) {
      for (std::int64_t i = 0; i < count * rows; ++i)
        if (!same(y[i], expected[i]))
          finding(product + (" by " + isa) + " differs in element " + std::to_string(i));
    };
    A.apply({x.data(), cols}, {y.data(), rows});
    compare("the product", 1);
    A.apply_block(columns, {x.data(), cols * columns}, {y.data(), rows * columns});
    compare("the product with a block", columns);
  }
}

template <class T>
void check(CompressedMatrix<T> matrix) {
  if (matrix.rows() > 1 << 20 || matrix.cols() > 1 << 20) return;  // their vectors alone take long
  const Csr<T> decoded = matrix.decode(1);
  if (decoded.nnz() != matrix.nnz()) finding("nonzeros are lost");
  check_products(matrix, decoded);

  std::vector<T> values(decoded.values().rbegin(), decoded.values().rend());
  update_values<T>(matrix, values, 1);
  const Csr<T> updated = matrix.decode(1);
  if (!std::ranges::equal(decoded.columns(), updated.columns()) ||
      !std::ranges::equal(values, updated.values(), test::same_value<T>))
    finding("other columns or values than the new ones");
}

template <class T>
void add_seeds(std::vector<Seed>& all, const Csr<T>& matrix) {
  const test::TemporaryFolder folder;
  for (const Plan& plan : test::all_plans({1, 3})) {
    save_container(folder / "seed.tans", encode(matrix, plan, count_pairs(matrix)));
    all.push_back({traits(plan.coding).name, test::read_bytes(folder / "seed.tans")});
  }
}

/// Rows of several pieces, and values that are exceptions from their format.
Csr<double> matrix_of_long_rows() {
  std::vector<Triplet<double>> triplets;
  for (std::int64_t j = 0; j < 300; ++j)
    triplets.push_back({3, j, j % 150 == 7 ? 1e300 : 1 + 1e-9 * static_cast<double>(j * j)});
  for (std::int64_t i = 0; i < 40; ++i) triplets.push_back({i, 300, 1.25});
  return Csr<double>::from_triplets(40, 301, triplets);
}

std::vector<Seed> seeds() {
  std::vector<Seed> all;
  const auto few = [](auto& random) { return static_cast<double>(random() % 3); };
  const auto many = [](auto& random) {
    return random() % 4 == 0 ? static_cast<double>(random() % 1000000) : 1.5;
  };
  add_seeds(all, test::random_matrix<double>(40, 60, 4, 17, many));
  add_seeds(all, test::random_matrix<float>(70, 9, 2, 5, few));
  add_seeds(all, matrix_of_long_rows());
  add_seeds(all, Csr<double>::from_triplets(33, 2, std::vector<Triplet<double>>{}));
  return all;
}

/// Whether the header tells of so many rows, all of one length or pattern, that to look at each
/// takes seconds: rows that are told apart must lie in the file.
bool takes_long(std::string_view file) {
  if (file.size() < header_bytes) return false;
  const auto rows = load<std::int64_t>(file, 24);
  return rows > 1 << 22 && rows <= std::numeric_limits<std::int32_t>::max() && file[51] == 0;
}

std::vector<std::string_view> feed(std::string_view input) {
  std::string file(input);
  test::repair_container(file);
  if (takes_long(file)) return {};
  try {
    AnyCompressedMatrix matrix = parse_container(file, "input", 1);
    return std::visit(
        [](auto& m) -> std::vector<std::string_view> {
          const std::string_view coding = traits(m.plan().coding).name;
          check(std::move(m));
          return {coding};
        },
        matrix);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::internal) finding(error.what());
    return {};
  }
}

}  // namespace

const Target target = {.seeds = seeds, .feed = feed, .split = split, .joined = joined};

}  // namespace tansolve::fuzz
