// SPDX-License-Identifier: BSD-3-Clause
// The memory of a solver, sized once and reused over solves.
#pragma once

#include <tansolve/kernels/vector.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace tansolve {
namespace detail {

/// Iterations that a GPU carries out between two looks of the host, and the scalars of each kind
/// that are kept. Even, since methods let two vectors take turns.
inline constexpr std::int64_t batch_size = 12;

}  // namespace detail

/// What a solver needs: `vectors` of `size` elements, and `scalars`.
struct WorkspaceShape {
  std::int64_t size;
  std::int64_t vectors;
  std::int64_t scalars;

  /// Bytes of backend memory for elements of type T.
  template <class T>
  std::int64_t bytes() const {
    return (vectors * size + scalars) * static_cast<std::int64_t>(sizeof(T));
  }
};

/// Vectors and scalars of a backend. Everything is allocated here, nothing later. Serves one solve
/// at a time; the content between solves is unspecified.
template <class T, class B>
class Workspace {
 public:
  /// Throws Error(out_of_memory).
  Workspace(Context<B>& context, const WorkspaceShape& shape);

  Span<T, B> vector(std::int64_t i) { return vectors_[i]; }
  Scalar<T, B>& scalar(std::int64_t i) { return scalars_[i]; }
  /// The same scalars as one view, to be read at once.
  Span<const T, B> scalars(std::int64_t first, std::int64_t count) const {
    return scalar_storage_.span().subspan(first, count);
  }
  std::int64_t bytes() const { return shape_.template bytes<T>(); }

  /// Throws Error(invalid_argument), naming the solver, unless it is of this context, the size
  /// agrees and there are enough vectors and scalars.
  void require(std::string_view solver, const Context<B>& context,
               const WorkspaceShape& needed) const;

 private:
  WorkspaceShape shape_;
  std::vector<Vector<T, B>> vectors_;
  Vector<T, B> scalar_storage_;
  std::vector<Scalar<T, B>> scalars_;
};

}  // namespace tansolve
