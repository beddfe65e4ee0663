// SPDX-License-Identifier: BSD-3-Clause
// How many threads OpenMP starts, and what becomes of the program when it cannot.
#pragma once

namespace tansolve::app {

/// To be called before OpenMP is used. Without --threads there are as many threads as
/// OMP_NUM_THREADS says, but at most one a processor that the program may run on. Should OpenMP
/// end the program, because the system refuses it a thread, the exit code is that of resources.
void prepare_threads();

/// The program ends by itself: exit() has its usual meaning again.
void finish_threads();

}  // namespace tansolve::app
