// SPDX-License-Identifier: BSD-3-Clause
// Coded rows as parts of rows: what is to be written at a place.
#pragma once

#include <tansolve/codec/compressed_matrix.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tansolve::detail {

/// Refers to the offsets of the rows and to their order.
class CodedRows {
 public:
  /// Cuts long rows into pieces of about equal lengths.
  CodedRows(std::span<const std::int64_t> offsets, const RowOrder& order)
      : offsets_(offsets), order_(order) {
    for (std::size_t i = 0; i < order.long_rows.size(); ++i) {
      const std::int64_t row = order.long_rows[i], nnz = offsets[row + 1] - offsets[row];
      const std::int64_t pieces = order.long_starts[i + 1] - order.long_starts[i];
      const std::int64_t length = (nnz + pieces - 1) / pieces;
      for (std::int64_t p = 0; p < pieces; ++p) {
        const std::int64_t first = std::min(p * length, nnz);
        pieces_.push_back({row, first, std::min((p + 1) * length, nnz) - first});
      }
    }
  }

  /// As they are coded already: with these lengths, which whoever coded them may have chosen
  /// otherwise.
  CodedRows(std::span<const std::int64_t> offsets, const RowOrder& order, const RowNumbers& lengths)
      : offsets_(offsets), order_(order), pieces_(order.pieces()) {
    for (std::int64_t v = 0; v < std::ssize(order.order); ++v)
      if (order.order[v] >= rows()) pieces_[order.order[v] - rows()].length = lengths[v];
    for (std::size_t i = 0; i < order.long_rows.size(); ++i) {
      std::int64_t first = 0;
      for (std::uint32_t s = order.long_starts[i]; s < order.long_starts[i + 1]; ++s) {
        pieces_[s].row = order.long_rows[i];
        pieces_[s].first = first;
        first += pieces_[s].length;
      }
    }
  }

  /// `length` entries of a row, from its `first` on.
  struct Part {
    std::int64_t row;
    std::int64_t first;
    std::int64_t length;
  };

  std::int64_t rows() const { return std::ssize(offsets_) - 1; }
  std::int64_t size() const { return order_.coded_rows(rows()); }
  /// Whether coded row v is row v.
  bool in_order() const { return order_.order.empty(); }
  /// Where this library has coded them, those before are rows, whole, those from there on pieces.
  std::int64_t whole() const { return size() - std::ssize(pieces_); }

  Part operator[](std::int64_t v) const {
    if (order_.order.empty()) return whole_row(v);
    const std::int64_t to = order_.order[v];
    return to < rows() ? whole_row(to) : pieces_[to - rows()];
  }

  /// The length of the longest of 32 coded rows.
  std::int64_t slice_width(std::int64_t slice) const {
    const std::int64_t begin = slice * warp_size, end = std::min(begin + warp_size, size());
    std::int64_t width = 0;
    if (order_.order.empty())
      for (std::int64_t v = begin; v < end; ++v) width = std::max(width, whole_row(v).length);
    else
      for (std::int64_t v = begin; v < end; ++v) width = std::max(width, (*this)[v].length);
    return width;
  }

 private:
  Part whole_row(std::int64_t row) const { return {row, 0, offsets_[row + 1] - offsets_[row]}; }

  std::span<const std::int64_t> offsets_;
  const RowOrder& order_;
  std::vector<Part> pieces_;
};

}  // namespace tansolve::detail
