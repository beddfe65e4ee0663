// SPDX-License-Identifier: BSD-3-Clause
// One handler for all, which does no more than a handler may: flags, unlink, raise.
#include "interrupt.hpp"

#include <tansolve/codec/output_file.hpp>

#include <atomic>
#include <csignal>

namespace tansolve::app {
namespace {

std::atomic<bool> waiting = false;
std::atomic<unsigned> seen = 0;  // bit s: signal s came while waiting
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<unsigned>::is_always_lock_free);

extern "C" void on_signal(int signal) {
  const unsigned bit = 1u << signal;
  const bool repeated = (seen.fetch_or(bit) & bit) != 0;
  // A terminal that closes may hang up twice, a session that ends sends SIGTERM and SIGHUP.
  if (waiting && (!repeated || signal == SIGHUP)) return;
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
  seen = 0;
  waiting = true;
}

Interrupt::~Interrupt() {
  waiting = false;
}

bool Interrupt::requested() const {
  return seen != 0;
}

}  // namespace tansolve::app
