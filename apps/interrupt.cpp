// SPDX-License-Identifier: BSD-3-Clause
// One handler for all, which does no more than a handler may: flags, unlink, raise.
#include "interrupt.hpp"

#include <tansolve/codec/output_file.hpp>

#include <atomic>
#include <csignal>

namespace tansolve::app {
namespace {

std::atomic<bool> waiting = false, interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void on_signal(int signal) {
  if (waiting && !interrupted.exchange(true)) return;
  remove_unfinished_files();
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // so that the shell sees what ended the program
}

}  // namespace

void handle_signals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;  // nohup, or a shell's job in the background
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    ::sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

Interrupt::Interrupt() {
  interrupted = false;
  waiting = true;
}

Interrupt::~Interrupt() {
  waiting = false;
}

bool Interrupt::requested() const {
  return interrupted;
}

}  // namespace tansolve::app
