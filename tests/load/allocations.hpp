// SPDX-License-Identifier: BSD-3-Clause
// Allocations of this program: how many live, and one that fails on demand.
#pragma once

#include <cstdint>

namespace tansolve::test {

/// Blocks of operator new that were not given back.
std::int64_t live_blocks();

/// Bytes in use, of every way to ask for memory; 0 under the thread sanitizer, which does not tell.
std::int64_t live_bytes();

/// The most bytes in use since forget_peak, as seen at each request of 64 KiB and more.
std::int64_t peak_bytes();
void forget_peak();

/// The allocation, of operator new, by aligned_alloc as contexts make them or by realloc as readers
/// do, after `count` further ones fails, whichever thread asks; negative: none does.
void fail_after(std::int64_t count);

/// Whether it came to that.
bool has_failed();

}  // namespace tansolve::test
