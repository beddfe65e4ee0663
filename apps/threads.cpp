// SPDX-License-Identifier: BSD-3-Clause
// GNU's OpenMP calls exit(1) where a thread cannot be started, which would read as "did not
// converge".
#include "threads.hpp"

#include "console.hpp"
#include "exit_code.hpp"

#include <tansolve/codec/output_file.hpp>

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

namespace tansolve::app {
namespace {

bool finished = false;

void on_exit() {
  if (finished) return;
  std::fflush(stdout);
  complain("tansolve: OpenMP could not start its threads; --threads N starts fewer\n");
  remove_unfinished_files();
  ::_exit(static_cast<int>(ExitCode::resources));
}

}  // namespace

void prepare_threads() {
  std::atexit(on_exit);
  omp_set_num_threads(std::min(omp_get_max_threads(), omp_get_num_procs()));
}

void finish_threads() {
  finished = true;
}

}  // namespace tansolve::app
