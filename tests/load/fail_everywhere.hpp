// SPDX-License-Identifier: BSD-3-Clause
// A piece of work with each of its allocations failing in turn.
#pragma once

#include "load/allocations.hpp"

#include <tansolve/codec/error.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <new>
#include <string>

namespace tansolve::test {

/// Runs `work` with the first allocation failing, then the second, until none does any more. Each
/// time it must throw what says that memory ran out, and give back all that it took.
inline void fail_everywhere(const std::function<void()>& work) {
  work();  // what is made once and kept
  work();
  std::int64_t failures = 0;
  for (bool failed = true; failed; ++failures) {
    CAPTURE(failures);
    REQUIRE(failures < 100000);
    const std::int64_t before = live_blocks();
    std::string other;
    bool thrown = false;
    fail_after(failures);
    try {
      work();
    } catch (const Error& error) {
      thrown = true;
      if (error.code() != ErrorCode::out_of_memory) other = error.what();
    } catch (const std::bad_alloc&) {
      thrown = true;
    }
    failed = has_failed();
    fail_after(-1);
    REQUIRE(other == "");
    REQUIRE(live_blocks() == before);
    if (failed && !thrown) continue;  // it found a way around
    REQUIRE(thrown == failed);
  }
  CHECK(failures > 2);
  work();  // all is as before
}

}  // namespace tansolve::test
