// SPDX-License-Identifier: BSD-3-Clause
// The entry point of every test program.
#define DOCTEST_CONFIG_IMPLEMENT  // follows from the next, but not behind a precompiled header
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
