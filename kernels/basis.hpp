// SPDX-License-Identifier: BSD-3-Clause
// A basis of vectors that others are made orthogonal to, held in working precision or below.
#pragma once

#include <tansolve/kernels/primitives.hpp>
#include <tansolve/kernels/unit_half.hpp>

#include <variant>

namespace tansolve {

/// How the elements of a basis are stored. Vectors beside it stay of the working type T.
enum class BasisStorage {
  working,  ///< as T
  fp32,     ///< 24 bits of precision
  fp16      ///< 11 bits, as UnitHalf
};

/// Bytes of an element of T in that storage, never more than T has.
template <class T>
std::int64_t storage_width(BasisStorage storage);

/// Half the distance of 1 from the next stored number: the relative error of storing an element.
template <class T>
double storage_roundoff(BasisStorage storage);

/// Up to `count` vectors v_0, v_1, ... of n elements and norm 1 each, one after another in memory.
/// V_k stands for the first k as columns. Every function throws Error(invalid_argument) for shapes
/// that do not fit and for views that are written and overlap others; nothing allocates but the
/// constructor. The order of sums depends on n and k alone, and V_k h has the same bits on all
/// backends. On devices all calls are asynchronous on the context's stream.
///
/// V_k'w is summed in double. Only on a GPU, for vectors stored below working precision, its sums
/// begin as floats, and are exact within 2^-20 ||w||. V_k h is summed in T, for fp16 in float,
/// exact within 2^-20 of the sum of all |h_j|: both well below what such storage loses.
template <class T, class B>
class Basis {
 public:
  /// Takes bytes(n, count, storage). Throws Error(out_of_memory) with the bytes asked for.
  Basis(Context<B>& context, std::int64_t n, std::int64_t count, BasisStorage storage);

  /// The bytes of such a basis, the partial sums of its products (not on Checked) among them.
  static std::int64_t bytes(const Context<B>& context, std::int64_t n, std::int64_t count,
                            BasisStorage storage);

  std::int64_t size() const { return n_; }
  std::int64_t count() const { return count_; }
  BasisStorage storage() const { return storage_; }
  std::int64_t bytes() const { return bytes(*context_, n_, count_, storage_); }

  /// v_j = w / norm, rounded to the storage, and w = v_j. A norm that is 0 or not finite makes both
  /// 0. Below working precision no element of w may exceed the norm in size. Passes over memory: 3.
  void store(std::int64_t j, const Scalar<T, B>& norm, Span<T, B> w);

  /// h = V_k' w for the k elements of h. Passes: k + 1.
  void project(In<T, B> w, Span<T, B> h);

  /// w -= V_k h, then g = V_k' w, for the k elements of h and g: while a piece of V_k is in cache,
  /// it serves both. Passes: k + 2; on a GPU beyond 32 vectors those of subtract and project.
  void subtract_project(In<T, B> h, Span<T, B> w, Span<T, B> g);

  /// w -= V_k h and norm = ||w||, as norm2 has it. Passes: k + 2; on a GPU 2 more for every 32
  /// vectors beyond the first 32.
  void subtract(In<T, B> h, Span<T, B> w, Scalar<T, B>& norm);

  /// The second pass of Gram-Schmidt where it is needed, when `subtract` has left w and norm of the
  /// first: g = V_k' w, w -= V_k g and norm = ||w|| if norm < ||h||, else g = 0. Since w was
  /// orthogonal to V_k h, that is where less than 1/sqrt(2) of its length was left: of the rounding
  /// errors along V_k, which are relative to that length, w then holds too much (Daniel, Gragg,
  /// Kaufman and Stewart, Math. Comp. 30 (1976)). Passes: 2 k + 3, or none.
  void subtract_again(In<T, B> h, Span<T, B> w, Span<T, B> g, Scalar<T, B>& norm);

  /// x = V_k y, where no y_i is NaN or infinite. Passes: k + 1, and on a GPU as many more.
  void combine(In<T, B> y, Span<T, B> x);

  /// The k vectors from v_first on become the m from there on times Q, in place: Q has k columns of
  /// m finite elements, one after another, and k <= m <= most_rotated. Rounded to the storage.
  /// Passes: m + k.
  void rotate(std::int64_t first, std::int64_t m, In<T, B> Q);

  /// Rows of so many vectors fit the shared memory of any GPU.
  static constexpr std::int64_t most_rotated = 6144;

 private:
  void check(const char* name, std::int64_t k, Span<const T, B> w) const;

  Context<B>* context_;
  std::int64_t n_, count_, stride_;
  BasisStorage storage_;
  std::variant<Vector<double, B>, Vector<float, B>, Vector<UnitHalf, B>> elements_;
  Vector<double, B> partials_;
};

}  // namespace tansolve
