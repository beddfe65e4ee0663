// SPDX-License-Identifier: BSD-3-Clause
// One search by shifts and inverses: where the shift is, what Lanczos found there, what is proved.
#pragma once

#include <tansolve/kernels/csr_operator.hpp>
#include <tansolve/solvers/eigen_progress.hpp>
#include <tansolve/solvers/mass_root.hpp>
#include <tansolve/solvers/sparse_ldlt.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tansolve::detail {

/// The matrices as products take them, and as factorisations do.
struct ShiftProblem {
  ShiftProblem(Context<Host>& context, const Csr<double>& matrix, const Csr<double>* mass_matrix);

  /// Orders the eliminations, unless that is done. False: `go_on` said no.
  bool analyse(const std::function<bool()>& go_on);
  bool analysed() const { return analysed_; }
  std::int64_t factor_bytes() const { return fronts.bytes + root.bytes(); }
  /// Throws Error(out_of_memory) where the factors, analysed, cannot be made.
  void require_memory() const;

  Context<Host>* context;
  CsrOperator<double, Host> A;
  std::optional<CsrOperator<double, Host>> mass;
  Pencil pencil;
  LdltFronts fronts;
  MassRoot root;
  SparseLdlt factor;

 private:
  bool analysed_ = false;
};

/// F'(w A - sigma B)^-1 F, B = F F', by the factor that there is: its eigenvalues are 1 / (lambda -
/// sigma) for those of w A v = lambda B v. Symmetric.
class ShiftedInverse : public LinearOperator<double, Host> {
 public:
  explicit ShiftedInverse(const ShiftProblem& problem)
      : LinearOperator<double, Host>(*problem.context, problem.A.rows(), problem.A.rows()),
        problem_(&problem) {}
  std::string name() const override { return "shifted inverse"; }

 protected:
  void apply_impl(Span<const double, Host> x, Span<double, Host> y) const override;

 private:
  const ShiftProblem* problem_;
};

/// Works with w A / a_scale and B / b_scale, w = -1 for the largest eigenvalues, so that an end is
/// always the lower one. `scale` is the size of eigenvalues there.
class ShiftSearch {
 public:
  ShiftSearch(ShiftProblem& problem, const EigenOptions<double>& options, bool verify);
  EigenReport run(Span<double, Host> vectors);

 private:
  static constexpr double eps = std::numeric_limits<double>::epsilon();

  /// A pair with its true residual; its vector is a column of X_.
  struct Pair {
    double value, residual;
    std::int64_t column;
  };
  enum class Proof { proved, missing, unknown };
  enum class Placed { yes, no, interrupted };
  enum class Improved { yes, dependent, not_finite };

  bool nearest() const { return options_->which == Which::nearest; }
  bool go_on();
  bool ended() const { return breakdown_ || progress_.exhausted() || progress_.cancelled(); }
  double distance(const Pair& pair) const;
  double threshold() const;
  double inner_tolerance() const;
  bool residuals_meet() const;

  void estimate_norms();
  void take_root();
  Placed place();
  std::string no_place() const;
  bool accurate();
  EigenReport look_for_pairs(Vector<double, Host>& U);
  void take_pairs(const EigenReport& inner, Span<const double, Host> U);
  Improved improve(Span<const double, Host> U, std::int64_t count);
  void measure(Pair& pair);
  void judge(const EigenReport& inner);
  Proof prove();
  std::optional<double> clear_distance(double slack) const;
  std::optional<std::int64_t> count_within(double reach, double& error);
  void move();
  std::optional<double> better_end();
  std::optional<double> better_offset() const;
  EigenReport finish(Span<double, Host> vectors);

  ShiftProblem* problem_;
  const EigenOptions<double>* options_;
  bool verify_;
  EigenProgress<double, Host> progress_;
  ShiftedInverse inverse_;
  double weight_, target_;
  std::int64_t n_, wanted_;  // pairs that are looked for: nev, or more of them

  double norm_a_ = 0, norm_b_ = 1, scale_ = 0;
  double top_ = 0;   // no eigenvalue at the end is beyond it, as far as is known
  double away_ = 0;  // how far the shift is from it, or from the target
  double sigma_ = 0;
  bool placed_ = false;  // the factor is that of sigma
  double error_ = 0;     // of it
  std::int64_t most_solutions_;
  std::int64_t attempts_ = 0;
  double strictness_ = 1;  // of Lanczos on the inverse
  bool searching_ = false;

  std::vector<double> X_;
  std::vector<Pair> pairs_;
  bool complete_ = false;
  std::string proof_;
  std::int64_t factorizations_ = 0;
  std::optional<Breakdown> breakdown_;
  std::chrono::steady_clock::time_point told_ = std::chrono::steady_clock::now();
};

}  // namespace tansolve::detail
