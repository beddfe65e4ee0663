// SPDX-License-Identifier: BSD-3-Clause
// The inverses of diagonal blocks as a preconditioner.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/kernels/block_diagonal.hpp>

#include <cstdint>
#include <memory>

namespace tansolve {

struct BlockJacobiOptions {
  /// Rows of a block (the last may have fewer), from 1 to most_block_rows. 0: natural blocks, which
  /// are consecutive rows with the same columns, as the unknowns of a node have.
  int size = 0;
  int most_rows = 32;  ///< of a natural block, from 1 to most_block_rows; longer ones are cut
  /// A block's inverse is stored in fp32 where that changes block times inverse by no more than
  /// about this: 2^-24 times the block's condition number in the 1-norm. 0: nowhere. T = float
  /// stores all in fp32.
  double low_precision_error = 1e-3;
  int threads = 0;  ///< while it is built; 0: as many as OpenMP would start
};

/// z = X r, X the inverses of diagonal blocks of A: jacobi where all blocks have one row. For
/// symmetric A so is X, and positive definite where A is. Refers to A only while it is built; costs
/// the blocks, whose inverses have their squared number of rows, and 2 passes over vectors.
template <class T, class B>
class BlockJacobi final : public LinearOperator<T, B> {
 public:
  /// Throws Error: invalid_argument unless A is square and for options out of range; bad_input,
  /// with count and first row, for blocks that are singular in double precision or without a
  /// finite inverse in T.
  BlockJacobi(Context<B>& context, const Csr<T>& A, const BlockJacobiOptions& options = {});

  std::string name() const override { return "block-jacobi"; }
  bool capturable() const override { return true; }
  const DiagonalBlocks<T>& inverses() const { return *inverses_; }
  std::int64_t bytes() const { return inverses_->bytes(); }

 protected:
  void apply_impl(Span<const T, B> r, Span<T, B> z) const override;

 private:
  std::unique_ptr<const DiagonalBlocks<T>> inverses_;
  BlockDiagonal<T, B> product_;
};

/// Sizes of the natural blocks, in order; longer than `most` rows they are cut.
template <class T>
std::vector<int> natural_blocks(const Csr<T>& A, int most);

}  // namespace tansolve
