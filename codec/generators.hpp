// SPDX-License-Identifier: BSD-3-Clause
// Matrices by name: stencils, finite elements, graphs, spin chains and copies of real files.
#pragma once

#include <tansolve/codec/csr.hpp>
#include <tansolve/codec/row_source.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace tansolve {

struct GeneratorOptions {
  std::uint64_t seed = 1;          ///< where the specification ends in no `@SEED`
  std::filesystem::path matrices;  ///< the folder that tile and tiles take their files from
  int threads = 0;                 ///< OpenMP threads; 0: as many as OpenMP would use
};

/// The matrix of a specification `NAME:ARGUMENT:...[@SEED]`, for example "poisson27:128" or
/// "er:1000:8@42"; generator_help() lists them. The bits depend on the specification and the seed
/// alone, not on the platform or the number of threads. Every row of the square grids, chains and
/// Laplacians holds its diagonal, as an explicit zero where need be.
///
/// Memory: the matrix, 12 bytes a nonzero and 8 a row, is built in place. On top of it at the peak:
/// 8 bytes a point for varcoef7, 4 a row for heisenberg, the adjacency matrix for laplacian, the
/// file for tile; er, ws, ba and rmat instead peak at the larger of the matrix and 8 bytes an edge
/// plus 4 a nonzero. More than 2^31 nonzeros are fine, more than 2^31 - 1 rows are not.
///
/// Throws Error: invalid_argument for a bad specification, naming the argument and what would be
/// right; io where the file of tile is not found; what read_matrix throws; out_of_memory. Thread
/// safe.
Csr<double> generate(std::string_view specification, const GeneratorOptions& options = {});

/// The rows of the same matrix, each made whenever it is read, so that the matrix need not fit into
/// memory: 8 bytes a row (and 8 a point for varcoef7, 4 a row for heisenberg) are kept. Null for
/// graphs and copies of files, whose rows depend on each other. Throws as generate() does.
std::unique_ptr<RowSource<double>> generate_rows(std::string_view specification,
                                                 const GeneratorOptions& options = {});

/// One paragraph a generator: the form of its specification, what it is, the range of each
/// argument.
std::string generator_help();

}  // namespace tansolve
