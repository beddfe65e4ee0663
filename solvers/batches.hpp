// SPDX-License-Identifier: BSD-3-Clause
// Iterations issued in batches: a GPU records one and replays it, and the host looks once a batch.
#pragma once

#include <tansolve/kernels/linear_operator.hpp>
#include <tansolve/kernels/replay.hpp>
#include <tansolve/solvers/workspace.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>

namespace tansolve::detail {

/// How many iterations of products with A and M a GPU is given at a time, from `least` to
/// batch_size: so many that looking at them costs little beside, and few where each takes long,
/// since up to all but one of the last batch are in vain.
template <class T, class B>
std::int64_t batch_for(const LinearOperator<T, B>& A, const LinearOperator<T, B>* M,
                       std::int64_t least) {
  constexpr std::int64_t worth_a_look = 120;  // launches, of 2 us and more each; a look takes 20
  const std::int64_t launches = A.launches() + (M != nullptr ? M->launches() : 0);
  return std::clamp(worth_a_look / std::max<std::int64_t>(launches, 1), least, batch_size);
}

/// The scalars of iterations 0, 1, ...: number i of a kind lies in element i mod `batch`, no more
/// than batch_size, so that what a batch issues is always the same, and all values of a kind are
/// read at once.
template <class T, class B>
class Ring {
 public:
  Ring(Workspace<T, B>& work, std::int64_t kind, std::int64_t batch = batch_size)
      : work_(&work), first_(kind * batch_size), batch_(batch) {}
  Scalar<T, B>& operator[](std::int64_t i) const { return work_->scalar(first_ + i % batch_); }
  T read(Context<B>& context, std::int64_t i) const { return tansolve::read(context, (*this)[i]); }

 private:
  Workspace<T, B>* work_;
  std::int64_t first_, batch_;
};

/// The first `count` kinds as the host has read them.
template <std::size_t count, class T>
class SeenRings {
 public:
  explicit SeenRings(std::int64_t batch = batch_size) : batch_(batch) {}

  template <class B>
  void read(Context<B>& context, const Workspace<T, B>& work) {
    copy_to_host<T>(context, work.scalars(0, std::ssize(values_)), values_);
  }
  T operator()(std::int64_t kind, std::int64_t i) const {
    return values_[kind * batch_size + i % batch_];
  }

 private:
  std::int64_t batch_;
  std::array<T, count * batch_size> values_;
};

/// Issues iterations of a method, each of `products` products with A and with M, if there is one. A
/// GPU that can record them is given a whole batch at a time, everything else one iteration.
template <class T, class B>
class Batches {
 public:
  /// iterate(i) issues iteration i; what it does depends on i mod `size` alone, the iterations of a
  /// batch. Where iteration i turns out to be the last that is wanted, those behind it must change
  /// nothing.
  Batches(const LinearOperator<T, B>& A, const LinearOperator<T, B>* M, std::int64_t products,
          std::function<void(std::int64_t)> iterate, std::int64_t size = batch_size)
      : A_(&A),
        M_(M),
        products_(products),
        iterate_(std::move(iterate)),
        size_(recorded() ? size : 1),
        replay_(A.context(), recorded(), [this] { issue_up_to(issued_ + size_); }) {}
  Batches(const Batches&) = delete;
  Batches& operator=(const Batches&) = delete;

  /// Issues the next iterations, no more than `most`. Returns how many were issued so far.
  std::int64_t issue(std::int64_t most) {
    if (most < size_) {
      issue_up_to(issued_ + most);
    } else if (replay_.run()) {
      A_->count_replayed(size_ * products_);
      if (M_ != nullptr) M_->count_replayed(size_ * products_);
    }
    return issued_ += std::min(most, size_);
  }
  std::int64_t issued() const { return issued_; }

 private:
  bool recorded() const {
    return records(A_->context()) && A_->capturable() && (M_ == nullptr || M_->capturable());
  }
  void issue_up_to(std::int64_t end) const {
    for (std::int64_t i = issued_; i < end; ++i) iterate_(i);
  }

  const LinearOperator<T, B>* A_;
  const LinearOperator<T, B>* M_;
  std::int64_t products_;
  std::function<void(std::int64_t)> iterate_;
  std::int64_t size_, issued_ = 0;
  Replay<B> replay_;
};

}  // namespace tansolve::detail
