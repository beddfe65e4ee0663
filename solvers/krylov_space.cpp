// SPDX-License-Identifier: BSD-3-Clause
// Steps, projection, thick restart and locking of a block Krylov space.
#include <tansolve/kernels/for_each_backend.hpp>
#include <tansolve/kernels/lanczos.hpp>
#include <tansolve/kernels/random_vector.hpp>
#include <tansolve/solvers/eigen_progress.hpp>
#include <tansolve/solvers/krylov_space.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tansolve::detail {

template <class T, class B>
KrylovSpace<T, B>::KrylovSpace(const LinearOperator<T, B>& A, const EigenOptions<T>& options,
                               LanczosWorkspace<T, B>& work)
    : A_(&A),
      work_(&work),
      which_(options.which),
      seed_(options.seed),
      ncv_(work.space_.ncv),
      block_(work.space_.block),
      stride_(ncv_ + block_) {
  pairs_.reserve(ncv_);
}

template <class T, class B>
void KrylovSpace<T, B>::follow(const LinearOperator<T, B>& F, const SpectralMap& p) {
  A_ = &F;
  map_ = p;
  cols_ = locked_;
  scale_ = 0;
}

template <class T, class B>
void KrylovSpace<T, B>::begin() {
  for (std::int64_t i = 0; i < block_; ++i) place_random(cols_ + i, recent(i));
}

template <class T, class B>
void KrylovSpace<T, B>::place_random(std::int64_t i, Span<T, B> w) {
  const Span<T, B> h = scalars(0, 0, i), g = scalars(0, stride_, i);
  Scalar<T, B> norm(scalars(0, 2 * stride_, 1));
  fill_random(A_->context(), seed_++, w);
  work_->V_.project(w, h);
  work_->V_.subtract_project(h, w, g);
  work_->V_.subtract(g, w, norm);
  work_->V_.store(i, norm, w);
}

/// Of w = A v_j, behind the last block: h = V'w in two passes, and v_(j+p).
template <class T, class B>
void KrylovSpace<T, B>::step(std::int64_t j, std::int64_t s) {
  const Span<T, B> h = scalars(s, 0, j + block_), g = scalars(s, stride_, j + block_);
  Scalar<T, B> norm(scalars(s, 2 * stride_, 1));
  const Span<T, B> w = recent(block_);
  work_->V_.project(w, h);
  work_->V_.subtract_project(h, w, g);
  work_->V_.subtract(g, w, norm);
  work_->V_.store(j + block_, norm, w);
  ++head_;
}

template <class T, class B>
bool KrylovSpace<T, B>::grow(std::int64_t last) {
  if (block_ > 1) return grow_block(last);
  const std::int64_t first = cols_, head = head_;
  const std::int64_t count = std::min(krylov_look<B>(block_), last - first);
  const std::int64_t column = krylov_column(ncv_, block_);
  for (std::int64_t s = 0; s < count; ++s) {
    A_->apply(recent(0), recent(1));
    step(first + s, s);
  }
  copy_to_host<T>(A_->context(), work_->columns_.span().subspan(0, count * column),
                  std::span(work_->seen_).first(count * column));
  for (std::int64_t s = 0; s < count; ++s) {
    const Column found = append(first + s, work_->seen_.data() + s * column);
    if (found == Column::not_finite) return false;
    ++cols_;
    if (found == Column::good) continue;
    head_ = head + s + 1;  // what later steps made of no vector is not used
    place_random(cols_, recent(0));
    return true;
  }
  return true;
}

/// The images of the last block, of which its steps one after another make the next.
template <class T, class B>
bool KrylovSpace<T, B>::grow_block(std::int64_t last) {
  const std::int64_t count = std::min(block_, last - cols_), size = count * A_->rows();
  const std::int64_t at = head_ / block_ % 2;
  A_->apply_block(count, work_->blocks_.vector(at).subspan(0, size),
                  work_->blocks_.vector(1 - at).subspan(0, size));
  const std::int64_t column = krylov_column(ncv_, block_);
  for (std::int64_t s = 0; s < count; ++s) {
    step(cols_, 0);
    copy_to_host<T>(A_->context(), work_->columns_.span().subspan(0, column),
                    std::span(work_->seen_).first(column));
    const Column found = append(cols_, work_->seen_.data());
    if (found == Column::not_finite) return false;
    ++cols_;
    if (found == Column::invariant) place_random(cols_ + block_ - 1, recent(block_ - 1));
  }
  align();
  return true;
}

/// Puts the last block in one piece, as block products take it.
template <class T, class B>
void KrylovSpace<T, B>::align() {
  const std::int64_t beyond = head_ % block_;
  if (beyond == 0) return;
  head_ -= beyond;
  for (std::int64_t i = 0; i < block_; ++i)
    copy<T, B>(A_->context(), recent(beyond + i), recent(i));
}

template <class T, class B>
typename KrylovSpace<T, B>::Column KrylovSpace<T, B>::append(std::int64_t j, const T* column) {
  std::fill_n(&t(0, j), stride_, 0.0);
  double size = column[2 * stride_];
  for (std::int64_t i = 0; i < j + block_; ++i) {
    t(i, j) = static_cast<double>(column[i]) + static_cast<double>(column[stride_ + i]);
    size = std::hypot(size, t(i, j));
  }
  const double beta = column[2 * stride_];
  if (!std::isfinite(size)) return Column::not_finite;
  scale_ = std::max(scale_, size);
  if (!(beta > 16 * storage_roundoff<T>(work_->space_.storage) * scale_)) return Column::invariant;
  t(j + block_, j) = beta;
  return Column::good;
}

/// What eigenvector i of T couples V q to: the locked, then the last block.
template <class T, class B>
void KrylovSpace<T, B>::coupling(std::int64_t i, double* rows) const {
  const double* q = work_->eigen_.vector(i);
  for (std::int64_t r = 0; r < locked_ + block_; ++r) {
    const std::int64_t row = r < locked_ ? r : cols_ + r - locked_;
    rows[r] = 0;
    for (std::int64_t j = locked_; j < cols_; ++j)
      rows[r] += work_->matrix_[j * stride_ + row] * q[j - locked_];
  }
}

template <class T, class B>
RitzPair KrylovSpace<T, B>::active_pair(std::int64_t i) {
  const double image = work_->eigen_.value(i);
  double residual = std::numeric_limits<double>::infinity();
  if (map_.identity()) {
    double* rows = work_->kept_.data();
    coupling(i, rows);
    residual = 0;
    for (std::int64_t r = 0; r < locked_ + block_; ++r) residual = std::hypot(residual, rows[r]);
  }
  return {map_.preimage(image), residual, image, i, false};
}

template <class T, class B>
void KrylovSpace<T, B>::project(double margin) {
  pairs_.clear();
  for (std::int64_t l = 0; l < locked_; ++l)
    pairs_.push_back({found_[l].value, found_[l].residual, 0, l, true});
  const std::int64_t active = cols_ - locked_;
  if (active > 0) work_->eigen_.solve(active, &t(locked_, locked_), stride_);
  for (std::int64_t i = active - 1; i >= 0; --i) pairs_.push_back(active_pair(i));
  for (const RitzPair& pair : pairs_) norm_ = std::max(norm_, std::abs(pair.value));
  const auto key = [&](const RitzPair& pair) {
    return sort_key(which_, pair.value) + (pair.locked ? 0 : margin);
  };
  std::ranges::stable_sort(pairs_, {}, key);
}

template <class T, class B>
void KrylovSpace<T, B>::upload(std::int64_t count) {
  copy_from_host<T>(A_->context(), std::span<const T>(work_->seen_).first(count),
                    work_->Q_.span().subspan(0, count));
}

// V_(l+k+p) = V_(j+p) times the k eigenvectors, and the last block as it is.
template <class T, class B>
void KrylovSpace<T, B>::restart(std::int64_t keep) {
  const std::int64_t active = cols_ - locked_, m = active + block_;
  T* Q = work_->seen_.data();
  double* kept = work_->kept_.data();
  std::fill_n(Q, m * (keep + block_), T(0));
  std::fill_n(kept, stride_ * keep, 0.0);
  std::int64_t k = 0;
  for (const RitzPair& pair : pairs_) {
    if (pair.locked || k == keep) continue;
    const double* q = work_->eigen_.vector(pair.index);
    std::transform(q, q + active, Q + k * m, [](double x) { return static_cast<T>(x); });
    double* column = kept + k * stride_;
    coupling(pair.index, column);
    std::copy_backward(column + locked_, column + locked_ + block_,
                       column + locked_ + keep + block_);
    std::fill_n(column + locked_, keep, 0.0);
    column[locked_ + k] = pair.image;
    ++k;
  }
  for (std::int64_t b = 0; b < block_; ++b) Q[(keep + b) * m + active + b] = 1;
  upload(m * (keep + block_));
  work_->V_.rotate(locked_, m, work_->Q_.span().subspan(0, m * (keep + block_)));
  std::copy_n(kept, stride_ * keep, &t(0, locked_));
  cols_ = locked_ + keep;
}

template <class T, class B>
void KrylovSpace<T, B>::lock(std::span<const EigenPair> measured) {
  const auto count = std::ssize(measured);
  T* Q = work_->seen_.data();
  std::fill_n(Q, cols_ * count, T(0));
  for (std::int64_t k = 0; k < count; ++k) {
    const RitzPair& pair = pairs_[k];
    if (pair.locked) {
      Q[k * cols_ + pair.index] = 1;
      continue;
    }
    const double* q = work_->eigen_.vector(pair.index);
    std::transform(q, q + cols_ - locked_, Q + k * cols_ + locked_,
                   [](double x) { return static_cast<T>(x); });
  }
  upload(cols_ * count);
  work_->V_.rotate(0, cols_, work_->Q_.span().subspan(0, cols_ * count));
  found_.assign(measured.begin(), measured.end());
  cols_ = locked_ = count;
}

template <class T, class B>
void KrylovSpace<T, B>::form(const RitzPair& pair, Span<T, B> x) {
  T* q = work_->seen_.data();
  std::fill_n(q, cols_, T(0));
  if (pair.locked) {
    q[pair.index] = 1;
  } else {
    const double* from = work_->eigen_.vector(pair.index);
    std::transform(from, from + cols_ - locked_, q + locked_,
                   [](double y) { return static_cast<T>(y); });
  }
  upload(cols_);
  Scalar<T, B>& norm = work_->scalar(0);
  work_->V_.combine(work_->Q_.span().subspan(0, cols_), x);
  norm2(A_->context(), x, norm);
  divide(A_->context(), norm, x);
}

#define TANSOLVE_INSTANTIATE(T, B) template class KrylovSpace<T, B>;
TANSOLVE_FOR_EACH_BACKEND(TANSOLVE_INSTANTIATE)
#undef TANSOLVE_INSTANTIATE

}  // namespace tansolve::detail
