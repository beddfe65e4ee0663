// SPDX-License-Identifier: BSD-3-Clause
// What the program returns to the shell.
#pragma once

#include <tansolve/codec/error.hpp>

namespace tansolve::app {

enum class ExitCode {
  done = 0,           ///< also: converged
  not_converged = 1,  ///< it ran, the report says why it ended
  usage = 2,          ///< an option, a specification, or a matrix that no solver here fits
  file = 3,           ///< a file that is malformed, unsupported, unreadable or unwritable
  resources = 4,      ///< no such device, or too little memory
  internal = 5        ///< a defect of tansolve
};

constexpr ExitCode exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return ExitCode::usage;
    case ErrorCode::bad_input:
    case ErrorCode::not_supported:
    case ErrorCode::io:
      return ExitCode::file;
    case ErrorCode::out_of_memory:
    case ErrorCode::device:
      return ExitCode::resources;
    case ErrorCode::internal:
      break;
  }
  return ExitCode::internal;
}

}  // namespace tansolve::app
