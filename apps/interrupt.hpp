// SPDX-License-Identifier: BSD-3-Clause
// The signals that end the program, and a solve that they only cancel.
#pragma once

namespace tansolve::app {

/// From here on, SIGINT, SIGTERM and SIGHUP (each unless it was ignored) remove unfinished files
/// before they end the program. A closed pipe and a file beyond the size limit become errors of
/// the writes.
void handle_signals();

/// While it lives, those signals only raise requested(); SIGINT or SIGTERM sent again ends the
/// program. One at a time.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  bool requested() const;
};

}  // namespace tansolve::app
