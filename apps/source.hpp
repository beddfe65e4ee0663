// SPDX-License-Identifier: BSD-3-Clause
// What MATRIX on the command line stands for.
#pragma once

#include "console.hpp"
#include "options.hpp"

#include <tansolve/codec/compressed_matrix.hpp>
#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/dense.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tansolve::app {

/// What specifications of generators begin with.
inline constexpr std::string_view generator_prefix = "gen:";

/// A matrix as it was found.
template <class T>
struct Source {
  std::string name;  ///< as on the command line
  std::variant<Csr<T>, CompressedMatrix<T>> matrix;
  Dense rhs = {};  ///< from inside a Harwell-Boeing file; may be empty
  double read_seconds = 0;

  bool is_container() const { return matrix.index() == 1; }
};

using AnySource = std::variant<Source<double>, Source<float>>;

/// The path to read from: standard input for -.
std::string input_path(const std::string& given);

/// Reads or generates it, a file in one pass, so that it may be a pipe. Says on stderr what
/// --precision f32 turns into zeros. Throws Error as the readers do, and invalid_argument for a
/// container of another precision than asked for.
AnySource load(const InputOptions& options);

/// The same in f32. Says on stderr what becomes 0. Throws Error(bad_input) for entries beyond f32,
/// with the remedy.
Source<float> round_to_f32(Source<double> source, const char* remedy);

/// The matrix as CSR, decoded if need be.
template <class T>
Csr<T> take_csr(std::variant<Csr<T>, CompressedMatrix<T>> matrix, int threads);

/// matrix{name, rows, cols, nnz} of anything that has these.
template <class M>
Json matrix_json(const std::string& name, const M& matrix) {
  return {{"name", name}, {"rows", matrix.rows()}, {"cols", matrix.cols()}, {"nnz", matrix.nnz()}};
}

template <class M>
void say_matrix(const Console& console, const std::string& name, const M& matrix,
                const std::string& remark) {
  console.say("matrix    {}: {} x {}, {} nonzeros, {}\n", name, matrix.rows(), matrix.cols(),
              matrix.nnz(), remark);
}

}  // namespace tansolve::app
