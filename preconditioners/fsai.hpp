// SPDX-License-Identifier: BSD-3-Clause
// The factorised sparse approximate inverse, itself compressed.
#pragma once

#include <tansolve/preconditioners/factor.hpp>
#include <tansolve/preconditioners/fsai_factor.hpp>

namespace tansolve {

struct FsaiOptions {
  FsaiPattern pattern = {};
  PlanRequest plan = {};  ///< of the encoding of both factors
  int threads = 0;        ///< while it is built; 0: as many as OpenMP would start
};

/// z = G'(G r) for symmetric positive definite A, G by fsai_factor: two products and nothing that
/// is sequential. G and G' are matrices of their own, each compressed where that pays. Of even use
/// for every symmetric method, since G'G is symmetric positive definite whatever G was rounded to.
/// Holds the two factors and a vector. Refers to A only while it is built.
template <class T, class B>
class Fsai final : public LinearOperator<T, B> {
 public:
  /// Throws as fsai_factor, choose_plan and the operators do.
  Fsai(Context<B>& context, const Csr<T>& A, const FsaiOptions& options = {});

  std::string name() const override { return "fsai"; }
  bool capturable() const override {
    return G_.product().capturable() && Gt_.product().capturable();
  }
  std::int64_t launches() const override { return 2; }
  const Factor<T, B>& lower() const { return G_; }
  const Factor<T, B>& upper() const { return Gt_; }
  std::int64_t bytes() const {
    return G_.bytes() + Gt_.bytes() + this->rows() * static_cast<std::int64_t>(sizeof(T));
  }
  /// What both factors would take as CSR.
  std::int64_t csr_bytes() const { return G_.csr_bytes() + Gt_.csr_bytes(); }

 protected:
  void apply_impl(Span<const T, B> r, Span<T, B> z) const override;
  void apply_transposed_impl(Span<const T, B> r, Span<T, B> z) const override;

 private:
  Fsai(Context<B>& context, Csr<T> G, const PlanRequest& plan, int threads);

  Factor<T, B> Gt_, G_;
  mutable Vector<T, B> Gr_;
};

}  // namespace tansolve
