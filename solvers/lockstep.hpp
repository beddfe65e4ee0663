// SPDX-License-Identifier: BSD-3-Clause
// What solvers for several right-hand sides share: the columns that are still at work, side by
// side, and each one's runs, as recurrence.hpp has them for one.
#pragma once

#include <tansolve/kernels/contract.hpp>
#include <tansolve/solvers/block.hpp>
#include <tansolve/solvers/recurrence.hpp>

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace tansolve::detail {

/// An operator as one column sees it: with that column's count of products.
template <class T, class B>
class OneColumn final : public LinearOperator<T, B> {
 public:
  explicit OneColumn(const LinearOperator<T, B>& A)
      : LinearOperator<T, B>(A.context(), A.rows(), A.cols()), A_(&A) {}
  std::string name() const override { return A_->name(); }

 protected:
  void apply_impl(Span<const T, B> x, Span<T, B> y) const override { A_->apply(x, y); }

 private:
  const LinearOperator<T, B>* A_;
};

/// A right-hand side at work: its place in B and X, and the run that it is in.
template <class T, class B>
struct Column {
  Column(std::string_view solver, std::int64_t number, const LinearOperator<T, B>& all_A,
         const SolveOptions<T, B>& all_options, std::int64_t workspace_bytes)
      : index(number),
        A(all_A),
        options(all_options),
        progress(solver, A, with_own(all_options.preconditioner), workspace_bytes) {}

  /// The options, with the preconditioner as this column sees it.
  const SolveOptions<T, B>& with_own(const LinearOperator<T, B>* all_M) {
    if (all_M != nullptr) options.preconditioner = &M.emplace(*all_M);
    return options;
  }

  std::int64_t index;
  OneColumn<T, B> A;
  std::optional<OneColumn<T, B>> M;
  SolveOptions<T, B> options;
  Progress<T, B> progress;
  double truth = 0;  ///< ||b - A x|| when the run began
  Scaling<T> to = {};
  Run run = {};
  bool full = false;  ///< the run has used up its basis
  std::int64_t runs = 0;
  double rho = 0, rr = 0, alpha = 0, omega = 0, r0_norm = 0;  ///< the recurrence's, by its letters
};

/// Takes r'r after a step: into the history, and whether it ends the run.
template <class T, class B>
void record_square(Column<T, B>& c, double rr) {
  c.rr = rr;
  if (std::isfinite(rr))
    c.progress.record(c.to.sigma * std::sqrt(rr));
  else
    c.run.breakdown = {Status::not_finite, fmt::format("r'r = {}", rr)};
  c.run.met = rr <= c.to.enough * c.to.enough;
}

/// The columns at work, number s of them in slot s: columns s of the blocks. The first block is R
/// with sigma_c r_c = b - A x, the second the steps D, with x advanced by sigma_c d_c at a run's
/// end, where that is finite. The first `moving` blocks belong to the columns: of one that is done,
/// the last one takes the place.
template <class T, class B>
class Lockstep {
 public:
  Lockstep(std::string_view solver, const LinearOperator<T, B>& A, std::int64_t columns,
           Span<const T, B> b, Span<T, B> x, const SolveOptions<T, B>& options, std::int64_t moving,
           Workspace<T, B>& work)
      : A_(&A),
        M_(options.preconditioner),
        b_(b),
        x_(x),
        n_(A.rows()),
        moving_(moving),
        products_before_(A.applications()),
        work_(&work) {
    report_.columns.resize(columns);
    for (std::int64_t c = 0; c < columns; ++c)
      waiting_.push_back(std::make_unique<Column<T, B>>(solver, c, A, options, work.bytes()));
  }

  std::int64_t size() const { return std::ssize(at_work_); }
  Column<T, B>& operator[](std::int64_t s) { return *at_work_[s]; }
  /// Column s of block i; the first s of them.
  Span<T, B> column(std::int64_t i, std::int64_t s) { return work_->vector(i).subspan(s * n_, n_); }
  Span<T, B> block(std::int64_t i) { return work_->vector(i).subspan(0, size() * n_); }
  /// Scalar s of kind i, and all of a kind on the host.
  Scalar<T, B>& scalar(std::int64_t i, std::int64_t s) { return work_->scalar(i * width() + s); }
  void read(std::int64_t i, std::vector<T>& to) {
    to.resize(size());
    copy_to_host<T>(A_->context(), work_->scalars(i * width(), size()), to);
  }

  void warn(const std::string& warning) {
    for (auto& column : waiting_) column->progress.warn(warning);
  }

  /// Y = A X, or M X, of all columns at work; each has taken part.
  void apply(const LinearOperator<T, B>& to, std::int64_t from_block, std::int64_t to_block) {
    to.apply_block(size(), block(from_block), block(to_block));
    took_part(&to == M_);
  }
  void took_part(bool in_preconditioning) {
    for (auto& column : at_work_)
      in_preconditioning ? column->M->count_replayed(1) : column->A.count_replayed(1);
    if (!in_preconditioning) ++report_.block_products;
  }

  /// Starts every column, in order; begin(s) makes the rest of slot s from its R.
  template <class Begin>
  void start(const Begin& begin) {
    for (auto& next : waiting_) {
      const std::int64_t s = size();
      at_work_.push_back(std::move(next));
      Column<T, B>& c = *at_work_[s];
      c.truth = c.progress.start(b_of(c), x_of(c), column(0, s), scalar(0, s));
      begin_or_retire(s, c.progress.meets(c.truth) || !std::isfinite(c.truth), begin);
    }
    waiting_.clear();
  }

  /// Whether the run in that slot is over.
  bool ended(std::int64_t s) const {
    const Column<T, B>& c = *at_work_[s];
    return c.run.met || c.run.breakdown || c.full || c.progress.stopped();
  }

  /// Ends the runs that are over, from the last slot down, so that one that moves into a free slot
  /// has been seen: advance(s) moves x and returns ||r||, r = b - A x in the first block, and
  /// verdict(s, previous) says why no other run would help, if none would, `previous` being the
  /// ||r|| that the run began with.
  template <class Begin, class Advance, class Verdict>
  void look(const Begin& begin, const Advance& advance, const Verdict& verdict) {
    for (std::int64_t s = size() - 1; s >= 0; --s) {
      Column<T, B>& c = *at_work_[s];
      if (!ended(s)) continue;
      const double previous = std::exchange(c.truth, advance(s));
      const bool converged = c.progress.meets(c.truth);
      c.run.breakdown = converged ? std::nullopt : verdict(s, previous);
      begin_or_retire(s, converged || c.run.breakdown, begin);
    }
  }
  template <class Begin>
  void look(const Begin& begin) {
    look(
        begin, [this](std::int64_t s) { return add_step(s); },
        [this](std::int64_t s, double previous) { return why_no_run(s, previous); });
  }
  /// Lets runs that gave up look whether r is orthogonal to the range of A: the blocks are free
  /// between two iterations.
  void probe_with(std::int64_t v_block, std::int64_t w_block) { probe_ = {v_block, w_block}; }
  RangeOverlap overlap(std::int64_t s) {
    Column<T, B>& c = *at_work_[s];
    return range_overlap<T, B>(c.A, column(0, s), c.truth, x_of(c), column(probe_[0], s),
                               column(probe_[1], s), scalar(0, s));
  }
  Span<const T, B> b_of(const Column<T, B>& c) const { return b_.subspan(c.index * n_, n_); }
  Span<T, B> x_of(const Column<T, B>& c) const { return x_.subspan(c.index * n_, n_); }

  MultiReport finish() {
    report_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    report_.products = A_->applications() - products_before_;
    return std::move(report_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::int64_t width() const { return std::ssize(report_.columns); }

  /// x += sigma d, where that is finite.
  double add_step(std::int64_t s) {
    Column<T, B>& c = *at_work_[s];
    const double step = c.to.sigma * norm_of<T, B>(A_->context(), column(1, s), scalar(0, s));
    if (std::isfinite(static_cast<T>(step)))
      axpby(A_->context(), c.to.sigma, column(1, s), 1, x_of(c));
    else
      c.run.breakdown = {Status::not_finite, "the step of a run overflows"};
    return c.progress.true_residual(b_of(c), x_of(c), column(0, s), scalar(0, s));
  }

  std::optional<Breakdown> why_no_run(std::int64_t s, double previous) {
    Column<T, B>& c = *at_work_[s];
    std::optional<Breakdown> why = c.run.breakdown;
    if (!why && c.run.met && !(c.truth <= previous / 2))
      why = {Status::stagnated,
             "the recurrence's residual meets the tolerance, the true one does not"};
    if (why && why->status == Status::breakdown && c.truth < previous) return {};
    const bool gave_up =
        why && (why->status == Status::breakdown || why->status == Status::stagnated);
    if (gave_up && probe_[0] > 0 && std::isfinite(c.truth))
      if (auto none = no_solution(overlap(s), std::numeric_limits<T>::epsilon())) return none;
    return why;
  }

  template <class Begin>
  void begin_or_retire(std::int64_t s, bool over, const Begin& begin) {
    Column<T, B>& c = *at_work_[s];
    if (over || c.progress.stopped()) {
      report_.columns[c.index] = c.progress.finish(x_of(c), scalar(0, s), c.truth, false,
                                                   c.run.breakdown ? &*c.run.breakdown : nullptr,
                                                   std::max<std::int64_t>(c.runs - 1, 0));
      return retire(s);
    }
    const T sigma = power_of_two_below<T>(c.truth);
    constexpr double margin = 32 * static_cast<double>(std::numeric_limits<T>::epsilon());
    c.to = {sigma, c.progress.threshold() / sigma * (1 - margin)};
    c.run = {};
    c.full = false;
    ++c.runs;
    scale(A_->context(), 1 / sigma, column(0, s));
    fill(A_->context(), 0, column(1, s));
    begin(s);
  }

  /// The last column moves into the slot.
  void retire(std::int64_t s) {
    const std::int64_t last = size() - 1;
    if (s != last) {
      for (std::int64_t i = 0; i < moving_; ++i) copy(A_->context(), column(i, last), column(i, s));
      at_work_[s] = std::move(at_work_[last]);
    }
    at_work_.pop_back();
  }

  const LinearOperator<T, B>* A_;
  const LinearOperator<T, B>* M_;
  Span<const T, B> b_;
  Span<T, B> x_;
  std::int64_t n_, moving_, products_before_;
  std::array<std::int64_t, 2> probe_ = {0, 0};  // none
  Workspace<T, B>* work_;
  std::vector<std::unique_ptr<Column<T, B>>> waiting_, at_work_;
  Clock::time_point began_ = Clock::now();
  MultiReport report_;
};

/// Throws as require_square_system does, for k columns.
template <class T, class B>
void require_square_systems(std::string_view solver, const LinearOperator<T, B>& A,
                            std::int64_t columns, Span<const T, B> b, Span<T, B> x,
                            const SolveOptions<T, B>& options) {
  const std::int64_t n = A.rows();
  if (columns < 1 || b.size() != columns * n || x.size() != columns * A.cols())
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: {} columns for {} ({} x {}), but B has {} elements and X has {}",
                            solver, columns, A.name(), n, A.cols(), b.size(), x.size()));
  if (overlap(b, x))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: B and X overlap, they must be apart", solver));
  require_square_system(solver, A, b.subspan(0, n), x.subspan(0, n), options);
}

/// The same with a workspace of that shape.
template <class T, class B, class Solve>
MultiReport solve_columns_with_own_workspace(std::string_view solver, const LinearOperator<T, B>& A,
                                             std::int64_t columns, Span<const T, B> b, Span<T, B> x,
                                             const SolveOptions<T, B>& options,
                                             const WorkspaceShape& shape, const Solve& solve) {
  require_square_systems(solver, A, columns, b, x, options);
  return solve_with_own([&] { return Workspace<T, B>(A.context(), shape); }, solve);
}

}  // namespace tansolve::detail
