// SPDX-License-Identifier: BSD-3-Clause
// The one exception that tansolve throws.
#pragma once

#include <stdexcept>
#include <string>

namespace tansolve {

enum class ErrorCode {
  invalid_argument,  ///< a parameter of the caller is wrong
  bad_input,         ///< a file or a matrix is malformed
  not_supported,     ///< well-formed, but beyond what tansolve does
  io,                ///< the operating system refused to read or write
  out_of_memory,     ///< host or device memory does not suffice
  device,            ///< a device or its driver failed
  internal           ///< a defect of tansolve itself
};

/// Misuse, bad files and device failures. what() names the file, line, row or parameter and says
/// what would be right. Numerical outcomes of a solver never throw: they are a status in its
/// report.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace tansolve
