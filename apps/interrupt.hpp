// SPDX-License-Identifier: BSD-3-Clause
// Ctrl-C as a wish that running work may look at.
#pragma once

#include <csignal>

namespace tansolve::app {

/// While it lives, the first SIGINT only raises requested(); a second one ends the program as ever.
/// One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool requested() const;

 private:
  struct sigaction before_;
};

}  // namespace tansolve::app
