// SPDX-License-Identifier: BSD-3-Clause
// Aggregates, prolongations and Galerkin products, one level after another.
#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/preconditioners/amg_coarse.hpp>
#include <tansolve/preconditioners/amg_setup.hpp>
#include <tansolve/preconditioners/block_jacobi.hpp>
#include <tansolve/preconditioners/diagonal.hpp>
#include <tansolve/preconditioners/eigenvalue_bounds.hpp>
#include <tansolve/preconditioners/held_bytes.hpp>
#include <tansolve/preconditioners/mantissa.hpp>
#include <tansolve/preconditioners/sparse_rows.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

namespace tansolve::detail {
namespace {

constexpr int lanczos_steps = 10;
constexpr int most_unknowns = 6;  ///< of a node that is found automatically
/// Where aggregates leave more of the rows than this share, there is no use in going on.
constexpr double stalled = 0.8;
/// Diagonals of Galerkin products below this share of the sizes that make them up are rounding:
/// what is left of null vectors.
constexpr double vanishing = 1e-10;

void require(bool condition, const char* name, auto value, const char* range) {
  if (!condition)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("amg: {} is {}, it must be {}", name, value, range));
}

/// The place of column j in row i, or -1.
std::int64_t find(const Csr<double>& A, std::int64_t i, std::int64_t j) {
  const auto begin = A.columns().begin() + A.offsets()[i], end = begin + A.row_nnz(i);
  const auto found = std::lower_bound(begin, end, j);
  return found != end && *found == j ? found - A.columns().begin() : -1;
}

/// Up to rounding of what was summed up in another order.
void require_symmetric(const Csr<double>& A, std::span<const double> diagonal, double rounding,
                       int threads) {
  const auto [count, first] = find_refused(threads, A.rows(), [&](std::int64_t i) {
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k) {
      const std::int32_t j = A.columns()[k];
      if (j == i) continue;
      const std::int64_t mirror = find(A, j, i);
      if (mirror < 0 || !(std::abs(A.values()[k] - A.values()[mirror]) <=
                          rounding * std::sqrt(diagonal[i]) * std::sqrt(diagonal[j])))
        return true;
    }
    return false;
  });
  if (count > 0)
    throw Error(
        ErrorCode::bad_input,
        fmt::format("amg: {} of {} rows differ from their columns in pattern or values, the "
                    "first is row {} (counting from 1); the matrix must be symmetric",
                    count, A.rows(), first + 1));
}

/// A with a_ij and a_ji replaced by their mean, rounded: to the bit symmetric, as its pattern is.
Csr<double> symmetrised(const Csr<double>& A, int bits, int threads) {
  std::vector<double> values(A.nnz());
  parallel_each(threads, A.rows(), [&](std::int64_t i) {
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k) {
      const double mean = (A.values()[k] + A.values()[find(A, A.columns()[k], i)]) / 2;
      values[k] = rounded(mean, bits);
    }
  });
  return Csr<double>(A.rows(), A.cols(), {A.offsets().begin(), A.offsets().end()},
                     {A.columns().begin(), A.columns().end()}, std::move(values));
}

int natural_unknowns(const Csr<double>& A) {
  const auto row = [&](std::int64_t i) {
    return A.columns().subspan(A.offsets()[i], A.row_nnz(i));
  };
  if (A.rows() > 1 && !std::ranges::equal(row(0), row(1))) return 1;  // as of most matrices
  int unknowns = 0;
  for (const int size : natural_blocks(A, most_block_rows)) unknowns = std::gcd(unknowns, size);
  return unknowns <= most_unknowns ? std::max(unknowns, 1) : 1;
}

std::vector<double> inverses(std::vector<double> diagonal, int threads) {
  parallel_each(threads, std::ssize(diagonal),
                [&](std::int64_t i) { diagonal[i] = 1 / diagonal[i]; });
  return diagonal;
}

/// Of the diagonal of P'AP, 0 where its elements vanish by comparison with those of P'DP.
std::vector<double> coarse_inverses(const Csr<double>& coarse, const Csr<double>& R,
                                    const std::vector<double>& fine_inverse, int threads) {
  std::vector<double> inverse = diagonal_of(coarse, threads);
  parallel_each(threads, R.rows(), [&](std::int64_t i) {
    double size = 0;
    for (std::int64_t k = R.offsets()[i]; k < R.offsets()[i + 1]; ++k)
      if (const double inverse_of_j = fine_inverse[R.columns()[k]]; inverse_of_j > 0)
        size += R.values()[k] * R.values()[k] / inverse_of_j;
    inverse[i] = inverse[i] > vanishing * size ? 1 / inverse[i] : 0;
  });
  return inverse;
}

/// Of the eigenvalues of D^-1 A.
double upper_bound(const Csr<double>& A, const std::vector<double>& inverse, bool finest,
                   const AmgOptions& options) {
  if (A.rows() == 0) return 0;
  Context<Host> context(options.threads);
  std::vector<double> roots(inverse.size());
  std::ranges::transform(inverse, roots.begin(), [](double d) { return std::sqrt(d); });
  Vector<double, Host> w(context, A.rows());
  copy_from_host(context, roots, w.span());
  const CsrOperator<double, Host> product(context, A);
  // Of coarse levels rounding may make the least eigenvalue negative.
  const auto bounds = finest ? estimate_bounds(product, w, lanczos_steps, options.seed)
                             : estimate_symmetric_bounds(product, w, lanczos_steps, options.seed);
  return bounds.upper;
}

/// A number that other patterns are unlikely to have (FNV-1a, by words): of the hashes of ranges of
/// rows.
std::uint64_t pattern_of(const Csr<double>& A, int threads) {
  constexpr std::uint64_t basis = 0xcbf29ce484222325, prime = 0x100000001b3;
  const auto add = [](std::uint64_t& hash, auto word) {
    hash = (hash ^ static_cast<std::uint64_t>(word)) * prime;
  };
  const Ranges ranges(A.rows());
  std::vector<std::uint64_t> hashes(ranges.number());
  parallel_tasks(threads, ranges.number(), [&](std::int64_t range) {
    std::uint64_t hash = basis;
    for (std::int64_t i = ranges.first(range); i < ranges.last(range); ++i) {
      add(hash, A.offsets()[i + 1]);
      for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k) add(hash, A.columns()[k]);
    }
    hashes[range] = hash;
  });
  std::uint64_t all = basis;
  for (const std::uint64_t hash : hashes) add(all, hash);
  return all;
}

/// Divides a column by its largest magnitude: P depends on directions only, squares on sizes.
void scale_to_one(Dense& columns, std::int64_t c) {
  const std::span<double> column(columns.values.data() + c * columns.rows,
                                 static_cast<std::size_t>(columns.rows));
  double largest = 0;
  for (const double v : column) largest = std::max(largest, std::abs(v));
  if (largest == 0) return;
  for (double& v : column) v /= largest;
}

Nodes equal_nodes(std::int64_t rows, int unknowns) {
  std::vector<std::int32_t> begin(rows / unknowns + 1);
  for (std::size_t i = 0; i < begin.size(); ++i) begin[i] = static_cast<std::int32_t>(i) * unknowns;
  return Nodes(std::move(begin));
}

}  // namespace

AmgSetup::AmgSetup(AmgOptions options) : options_(std::move(options)) {
  require(options_.theta >= 0 && options_.theta < 1, "theta", options_.theta, "from 0 to below 1");
  require(options_.theta_decay >= 0 && options_.theta_decay <= 1, "theta_decay",
          options_.theta_decay, "from 0 to 1");
  require(options_.root_distance >= 0, "root_distance", options_.root_distance, "at least 0");
  require(options_.unknowns_per_node >= 0, "unknowns_per_node", options_.unknowns_per_node,
          "at least 0");
  require(options_.prolongation_damping >= 0 && options_.prolongation_damping < 2,
          "prolongation_damping", options_.prolongation_damping, "from 0 to below 2");
  require(options_.degree >= 1, "degree", options_.degree, "at least 1");
  require(options_.coarse_rows >= 1, "coarse_rows", options_.coarse_rows, "at least 1");
  require(options_.most_levels >= 1, "most_levels", options_.most_levels, "at least 1");
  require(options_.coarse_bits >= 1, "coarse_bits", options_.coarse_bits, "at least 1");
  require(options_.prolongation_bits >= 1, "prolongation_bits", options_.prolongation_bits,
          "at least 1");
}

void AmgSetup::start(const Csr<double>& A) {
  int& unknowns = options_.unknowns_per_node;
  if (unknowns == 0) unknowns = natural_unknowns(A);
  if (A.rows() % unknowns != 0)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("amg: {} rows are no multiple of {} unknowns a node", A.rows(), unknowns));
  const Dense& given = options_.near_null;
  if (given.cols > 0) {
    if (given.rows != A.rows() || std::ssize(given.values) != given.rows * given.cols ||
        !std::ranges::all_of(given.values, [](double v) { return std::isfinite(v); }))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("amg: near-null vectors of {} elements, they must be finite and of "
                              "{}, the rows of the matrix",
                              given.rows, A.rows()));
    candidates_ = given;
    for (std::int64_t c = 0; c < given.cols; ++c) scale_to_one(candidates_, c);
  } else {
    candidates_ = constant_vectors(A.rows(), unknowns);
  }
  structures_.clear();
  nodes_ = equal_nodes(A.rows(), unknowns);
  pattern_ = pattern_of(A, options_.threads);
}

/// Whether there is a coarser level than `level`.
bool AmgSetup::coarsen(const Csr<double>& A, std::size_t level) {
  if (decided_) return level < structures_.size();
  if (A.rows() <= options_.coarse_rows || static_cast<int>(level) + 1 >= options_.most_levels)
    return false;
  const double theta = options_.theta * std::pow(options_.theta_decay, static_cast<double>(level));
  StrongGraph graph =
      strong_graph(A, nodes_, candidates_, options_.strength, theta, options_.threads);
  const int distance =
      options_.root_distance > 0 ? options_.root_distance : natural_root_distance(graph);
  Tentative next = tentative(aggregate(graph, distance, options_.threads), nodes_, candidates_,
                             options_.threads);
  const double rows = static_cast<double>(next.T.cols());
  if (rows == 0 || rows > stalled * static_cast<double>(A.rows())) return false;
  if (!graph.drops) graph.kept = {};
  structures_.push_back({std::move(nodes_), std::move(graph.kept), std::move(next.T)});
  nodes_ = std::move(next.coarse_nodes);
  candidates_ = std::move(next.coarse);
  return true;
}

/// P = (I - omega D^-1 F) T, where F is A without the entries that were not kept: those of the same
/// unknown are added to the diagonal, so that F does to constants what A does.
Csr<double> AmgSetup::prolongation(const Csr<double>& A, const AmgLevelMatrices& level,
                                   const Structure& structure) const {
  const Csr<double>& T = structure.T;
  const Nodes& nodes = structure.nodes;
  const double omega = level.upper > 0 ? options_.prolongation_damping / level.upper : 0;
  if (omega == 0) return T;
  const auto round = [bits = options_.prolongation_bits](double value) {
    return rounded(value, bits);
  };
  const auto sum_row = [&](std::int64_t i, RowSum& row) {
    const double factor = omega * level.inverse_diagonal[i];
    double own = 1;
    for (std::int64_t k = A.offsets()[i]; k < A.offsets()[i + 1]; ++k) {
      const std::int32_t j = A.columns()[k];
      if (structure.kept.empty() || structure.kept[k])
        row.add(-factor * A.values()[k], T, j);
      else if (nodes.unknown(j) == nodes.unknown(static_cast<std::int32_t>(i)))
        own -= factor * A.values()[k];
    }
    row.add(own, T, i);
    row.transform(round);
  };
  return SummedRows(options_.threads, T.rows(), T.cols(), true, sum_row).to_csr();
}

std::int64_t AmgSetup::bytes() const {
  std::int64_t bytes = held_bytes(options_.near_null.values);
  for (const Structure& structure : structures_)
    bytes += held_bytes(structure.nodes.begin) + held_bytes(structure.nodes.of_row) +
             held_bytes(structure.kept) + held_bytes(structure.T);
  return bytes;
}

AmgMatrices AmgSetup::matrices(const Csr<double>& A, double rounding) {
  require_square("amg", "the matrix", A);
  const int threads = options_.threads;
  require_finite("amg", A, threads);
  std::vector<double> diagonal = diagonal_of(A, threads);
  require_diagonal<double>("amg", diagonal, not_positive, is_positive<double>);
  require_symmetric(A, diagonal, rounding, threads);
  if (!decided_)
    start(A);
  else if (pattern_of(A, options_.threads) != pattern_)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("amg: new values of {} rows with {} nonzeros in another pattern than "
                            "that it was built for",
                            A.rows(), A.nnz()));

  AmgMatrices result;
  result.levels.resize(1);
  result.levels[0].inverse_diagonal = inverses(std::move(diagonal), threads);
  for (std::size_t l = 0; true; ++l) {
    const Csr<double>& fine = l == 0 ? A : result.levels[l].A;
    AmgLevelMatrices& level = result.levels[l];
    const bool coarsest = !coarsen(fine, l);
    if (coarsest && fine.rows() <= options_.coarse_rows) {
      // The finest level is what was given; in others there are rounded prolongations.
      constexpr double eps = std::numeric_limits<double>::epsilon();
      const double singular = l == 0 ? eps * static_cast<double>(fine.rows()) : vanishing;
      result.coarse_inverse = dense_inverse(fine, level.inverse_diagonal, singular);
      break;
    }
    level.upper = upper_bound(fine, level.inverse_diagonal, l == 0, options_);
    if (coarsest) break;
    level.P = prolongation(fine, level, structures_[l]);
    level.R = transposed(level.P, threads);
    AmgLevelMatrices next;
    next.A =
        symmetrised(triple_product(level.R, fine, level.P, threads), options_.coarse_bits, threads);
    next.inverse_diagonal = coarse_inverses(next.A, level.R, level.inverse_diagonal, threads);
    result.levels.push_back(std::move(next));
  }
  decided_ = true;
  candidates_ = {};
  nodes_ = {};
  return result;
}

}  // namespace tansolve::detail
