// SPDX-License-Identifier: BSD-3-Clause
// The handler sets a flag, which is all that a handler may do.
#include "interrupt.hpp"

namespace tansolve::app {
namespace {

volatile std::sig_atomic_t interrupted = 0;

}  // namespace

Interrupt::Interrupt() {
  interrupted = 0;
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  ::sigaction(SIGINT, &action, &before_);
}

Interrupt::~Interrupt() {
  ::sigaction(SIGINT, &before_, nullptr);
}

bool Interrupt::requested() const {
  return interrupted != 0;
}

}  // namespace tansolve::app
