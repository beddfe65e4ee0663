// SPDX-License-Identifier: BSD-3-Clause
// What elementwise vector work asks of its views.
#pragma once

#include <tansolve/codec/error.hpp>
#include <tansolve/kernels/contract.hpp>

#include <fmt/format.h>

#include <initializer_list>

namespace tansolve::detail {

/// Throws Error(invalid_argument), naming the function, unless the views have the size of `written`
/// and do not overlap it.
template <class T, class B>
void require_same_size(const char* name, Span<const T, B> written,
                       std::initializer_list<Span<const T, B>> others) {
  for (const auto& other : others) {
    if (other.size() != written.size())
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: vectors of {} and of {} elements, they must have the same size",
                              name, written.size(), other.size()));
    if (overlap(written, other))
      throw Error(ErrorCode::invalid_argument,
                  fmt::format("{}: a vector that is written overlaps another", name));
  }
}

}  // namespace tansolve::detail
