// SPDX-License-Identifier: BSD-3-Clause
// The kernels of Lanczos methods over raw arrays, which every backend defines.
#pragma once

#include <tansolve/kernels/lanczos.hpp>

namespace tansolve::detail {

/// The numbers of a step of MINRES that is taken.
template <class T>
struct MinresScalars {
  T gamma, delta, epsilon;  ///< a column of R: its diagonal, not 0, and the two above
  T phi;                    ///< the length of the step
};

/// MinresStep with pointers into the memory of its backend.
template <class T>
struct MinresPointers {
  template <class B>
  explicit MinresPointers(const MinresStep<T, B>& step)
      : now(step.now.data()),
        next(step.next.data()),
        alpha(step.alpha.data()),
        beta(step.beta.data()),
        q_norm(step.q_norm != nullptr ? step.q_norm->data() : nullptr),
        r_norm(step.r_norm),
        enough(step.enough) {}

  /// The state after the step, but for d_norm; one with an end where the step is not taken.
  constexpr MinresState advance() const {
    MinresState state = *now;
    const double q = q_norm != nullptr ? static_cast<double>(*q_norm) : 1.0;
    if (state.end != MinresEnd::none) return state;
    if (r_norm * state.phi_bar * q <= enough) {
      state.end = MinresEnd::met;
      return state;
    }
    return advanced<T>(state, *alpha, u_norm(), r_norm);
  }
  constexpr MinresScalars<T> scalars(const MinresState& state) const {
    return {static_cast<T>(state.gamma), static_cast<T>(state.delta), static_cast<T>(state.epsilon),
            static_cast<T>(r_norm * state.phi)};
  }
  /// ||u||, or (u'Mu)^(1/2) with the sign of u'Mu, NaN where that is not finite.
  constexpr double u_norm() const {
    const double value = *beta;
    if (q_norm == nullptr) return value;
    if (!(value - value == 0)) return std::numeric_limits<double>::quiet_NaN();
    return value < 0 ? -std::sqrt(-value) : std::sqrt(value);
  }
  /// What u is to be divided by.
  constexpr T divisor() const {
    const double norm = u_norm();
    return norm < 0 ? T(0) : static_cast<T>(norm);
  }

  const MinresState* now;
  MinresState* next;
  const T *alpha, *beta, *q_norm;
  double r_norm, enough;
};

// Formulas: kernels/lanczos.hpp. T is double or float.
#define TANSOLVE_DECLARE_LANCZOS_KERNELS(B)                                                        \
  template <class T>                                                                               \
  void lanczos_step(Context<B>& context, std::int64_t n, const T* alpha, const T* beta,            \
                    const T* p, const T* u, T* u_old, T* norm);                                    \
  template <class T>                                                                               \
  void divide(Context<B>& context, std::int64_t n, const T* a, T* x);                              \
  template <class T>                                                                               \
  void minres_step(Context<B>& context, std::int64_t n, const MinresPointers<T>& step, const T* v, \
                   const T* d, T* d_old, T* x, T* u_norm);                                         \
  template <class T>                                                                               \
  void minres_residual(Context<B>& context, std::int64_t n, const MinresState* state, const T* u,  \
                       T* q, T* norm);
TANSOLVE_DECLARE_LANCZOS_KERNELS(Host)
TANSOLVE_DECLARE_LANCZOS_KERNELS(Checked)
TANSOLVE_DECLARE_LANCZOS_KERNELS(Cuda)
#undef TANSOLVE_DECLARE_LANCZOS_KERNELS

/// Explicit instantiations of all of them for a backend B.
#define TANSOLVE_INSTANTIATE_LANCZOS_KERNELS(B, T)                                              \
  template void lanczos_step(Context<B>&, std::int64_t, const T*, const T*, const T*, const T*, \
                             T*, T*);                                                           \
  template void divide(Context<B>&, std::int64_t, const T*, T*);                                \
  template void minres_step(Context<B>&, std::int64_t, const MinresPointers<T>&, const T*,      \
                            const T*, T*, T*, T*);                                              \
  template void minres_residual(Context<B>&, std::int64_t, const MinresState*, const T*, T*, T*);

}  // namespace tansolve::detail
