// SPDX-License-Identifier: BSD-3-Clause
// What a hierarchy takes, before and after it is built.
#include <tansolve/preconditioners/amg.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace tansolve {
namespace {

std::int64_t sum(const AmgFacts& facts, std::int64_t AmgMatrixFacts::*of) {
  std::int64_t total = facts.coarse_inverse.*of;
  for (std::size_t l = 0; l < facts.levels.size(); ++l) {
    const AmgLevelFacts& level = facts.levels[l];
    total += level.P.*of + level.R.*of;
    if (l > 0 && level.A.bytes > 0) total += level.A.*of;
  }
  return total;
}

double complexity(const AmgFacts& facts, std::int64_t AmgMatrixFacts::*of) {
  double total = 0;
  for (const AmgLevelFacts& level : facts.levels) total += static_cast<double>(level.A.*of);
  return facts.levels.empty() || total == 0 ? 1
                                            : total / static_cast<double>(facts.levels[0].A.*of);
}

std::string cells(const AmgMatrixFacts& facts) {
  if (facts.bytes == 0) return fmt::format(" {:>12} {:>12} {:>6}", "", "", "");
  return fmt::format(" {:>12} {:>12} {:>6}", facts.bytes, facts.csr_bytes, facts.format);
}

}  // namespace

double AmgFacts::operator_complexity() const {
  return complexity(*this, &AmgMatrixFacts::nonzeros);
}
double AmgFacts::grid_complexity() const {
  return complexity(*this, &AmgMatrixFacts::rows);
}
std::int64_t AmgFacts::bytes() const {
  return sum(*this, &AmgMatrixFacts::bytes);
}
std::int64_t AmgFacts::csr_bytes() const {
  return sum(*this, &AmgMatrixFacts::csr_bytes);
}

std::ostream& operator<<(std::ostream& out, const AmgFacts& facts) {
  out << fmt::format("{:>5} {:>11} {:>12} {:>12} {:>12} {:>6} {:>12} {:>12} {:>6}\n", "level",
                     "rows", "nonzeros", "A bytes", "as csr", "", "P, P' bytes", "as csr", "");
  for (std::size_t l = 0; l < facts.levels.size(); ++l) {
    const AmgLevelFacts& level = facts.levels[l];
    AmgMatrixFacts both = level.P;
    both.bytes += level.R.bytes;
    both.csr_bytes += level.R.csr_bytes;
    const bool inverted = l + 1 == facts.levels.size() && facts.coarse_inverse.rows > 0;
    out << fmt::format("{:>5} {:>11} {:>12}{}{}\n", l, level.A.rows, level.A.nonzeros,
                       cells(inverted ? facts.coarse_inverse : level.A), cells(both));
  }
  return out << fmt::format(
             "operator complexity {:.3f}, grid complexity {:.3f}, {} bytes of {} as "
             "csr beside the finest A\n",
             facts.operator_complexity(), facts.grid_complexity(), facts.bytes(),
             facts.csr_bytes());
}

/// Of the histogram of a matrix whose values all differ: bytes a nonzero, and how many are counted.
constexpr std::int64_t counting = 120, most_counted = std::int64_t{1} << 22;

// At its peak the set-up of the finest level holds what aggregates and T take, P and P', and A P
// and the coarse matrix in vectors of up to twice their size; or, when the coarse matrix is
// encoded, all matrices and its histogram.
AmgBytes amg_bytes(std::int64_t rows, std::int64_t nonzeros, const AmgOptions& options) {
  const std::int64_t unknowns = std::max(1, options.unknowns_per_node);
  const std::int64_t vectors = std::max<std::int64_t>(unknowns, options.near_null.cols);
  const std::int64_t prolongation = (12 * 4 * vectors + 8) * rows;
  const std::int64_t coarse = 12 * std::min(nonzeros * 9 / 10, 8 * vectors * rows);
  const std::int64_t structures = nonzeros + (80 + 40 * vectors) * rows;
  const std::int64_t AP = 12 * nonzeros * vectors / unknowns;
  const std::int64_t inverted = std::min(rows, options.coarse_rows);
  const std::int64_t inverse = 12 * inverted * inverted;
  const std::int64_t making =
      std::max(2 * AP + 2 * coarse, coarse + counting * std::min(coarse / 12, most_counted));
  return {.setup = structures + 2 * prolongation + making + 4 * inverse,
          .held = 2 * prolongation + coarse + inverse + 5 * 8 * rows};
}

}  // namespace tansolve
