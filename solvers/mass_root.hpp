// SPDX-License-Identifier: BSD-3-Clause
// F with F F' = B, through which A v = lambda B v becomes a symmetric problem.
#pragma once

#include <tansolve/solvers/sparse_ldlt.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace tansolve::detail {

/// Of a symmetric positive semidefinite B; none: I.
class MassRoot {
 public:
  MassRoot(const Csr<double>* B, int threads);

  /// Orders the elimination, unless that is done. False: `go_on` said no.
  bool analyse(const std::function<bool()>& go_on);
  bool identity() const { return diagonal_.empty() && !factor_; }
  std::int64_t bytes() const { return fronts_ ? fronts_->bytes : 0; }
  /// Once analysed, computes it, once. refused: B has an eigenvalue below 0 beyond rounding.
  SparseLdlt::End compute(const std::function<bool()>& go_on);
  std::int64_t nullity() const;  ///< once computed: the dimension of B's null space

  void apply(std::span<double> x) const;             ///< x = F x
  void apply_transposed(std::span<double> x) const;  ///< x = F' x

 private:
  std::vector<double> diagonal_;    // where that is all that B has
  std::unique_ptr<Pencil> pencil_;  // of other B
  std::unique_ptr<LdltFronts> fronts_;
  std::unique_ptr<SparseLdlt> factor_;
  bool computed_ = false;
};

}  // namespace tansolve::detail
