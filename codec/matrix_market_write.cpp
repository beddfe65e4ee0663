// SPDX-License-Identifier: BSD-3-Clause
// Writing Matrix Market files.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/codec/output_file.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace tansolve {
namespace {

/// A line being put together; the longest number, a double, takes 24 characters.
class Line {
 public:
  Line& operator<<(std::int64_t number) { return put(number); }
  Line& operator<<(double value) { return put(value); }

  /// The digits that suffice for a float, if it survives being read as a double and then rounded to
  /// float; of all positive finite floats, tried one by one, 7.038531e-26 alone does not.
  Line& operator<<(float value) {
    char* const begin = end_;
    put(value);
    double read = 0;
    std::from_chars(begin, end_, read);
    if (std::isnan(value) || static_cast<float>(read) == value) return *this;
    end_ = begin;
    return put(static_cast<double>(value));
  }
  Line& operator<<(char c) {
    *end_++ = c;
    return *this;
  }
  std::string_view text() const { return {text_, static_cast<std::size_t>(end_ - text_)}; }

 private:
  template <class Number>
  Line& put(Number number) {
    end_ = std::to_chars(end_, std::end(text_), number).ptr;
    return *this;
  }

  char text_[80];
  char* end_ = text_;
};

OutputFile open(const std::filesystem::path& path) {
  return OutputFile(path, path.extension() == ".gz");
}

}  // namespace

template <class T>
void write_matrix_market(const std::filesystem::path& path, const Csr<T>& matrix) {
  OutputFile file = open(path);
  file.write(fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", matrix.rows(),
                         matrix.cols(), matrix.nnz()));
  for (std::int64_t i = 0; i < matrix.rows(); ++i)
    for (std::int64_t k = matrix.offsets()[i]; k < matrix.offsets()[i + 1]; ++k) {
      Line line;
      line << i + 1 << ' ' << matrix.columns()[k] + std::int64_t{1} << ' ' << matrix.values()[k]
           << '\n';
      file.write(line.text());
    }
  file.commit();
}

void write_dense(const std::filesystem::path& path, const Dense& matrix) {
  if (std::ssize(matrix.values) != matrix.rows * matrix.cols)
    throw Error(
        ErrorCode::invalid_argument,
        fmt::format("{}: {} values, but {} x {} need {}", path.string(), matrix.values.size(),
                    matrix.rows, matrix.cols, matrix.rows * matrix.cols));
  OutputFile file = open(path);
  file.write(
      fmt::format("%%MatrixMarket matrix array real general\n{} {}\n", matrix.rows, matrix.cols));
  for (const double value : matrix.values) {
    Line line;
    line << value << '\n';
    file.write(line.text());
  }
  file.commit();
}

template void write_matrix_market(const std::filesystem::path&, const Csr<double>&);
template void write_matrix_market(const std::filesystem::path&, const Csr<float>&);

}  // namespace tansolve
