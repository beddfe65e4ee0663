// SPDX-License-Identifier: BSD-3-Clause
// Memory of the host that runs out at any point: of readers and writers, of encoding, and of what
// every solver and preconditioner sets up.
#include "load/fail_everywhere.hpp"
#include "load/set_ups.hpp"
#include "support/files.hpp"

#include <tansolve/codec/compress.hpp>
#include <tansolve/codec/container.hpp>
#include <tansolve/codec/files.hpp>
#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/matrix_market.hpp>
#include <tansolve/codec/npy.hpp>
#include <tansolve/codec/update_values.hpp>
#include <tansolve/solvers/shift_invert.hpp>

namespace tansolve::test {
namespace {

void fail_each(const std::vector<SetUp>& set_ups) {
  for (const auto& [name, run] : set_ups) {
    CAPTURE(name);
    fail_everywhere(run);
  }
}

TEST_CASE("memory that runs out anywhere in a reader or writer is reported, and nothing is lost") {
  const TemporaryFolder folder;
  const auto matrix = generate("varcoef7:4@3");
  const auto compressed = compress(matrix);
  write_matrix_market(folder / "m.mtx", matrix);
  folder.write("m.mtx.gz", gzip(read_bytes(folder / "m.mtx")));
  folder.write("m.rua",
               "title                                                                   |key\n"
               "  3  1  1  1\nrua  3 3 5 0\n(4I2)           (10I1)          (2F5.1)\n"
               " 1 3 4 6\n23123\n  1.0  2.0\n  4.0  6.0\n  7.0\n");
  save_container(folder / "m.tans", compressed);
  const Dense dense = {.rows = 2, .cols = 2, .values = {1, 2, 3, 4}};
  write_npy(folder / "b.npy", dense);
  fail_each({{"Matrix Market", [&] { read_matrix(folder / "m.mtx"); }},
             {"gzip", [&] { read_matrix(folder / "m.mtx.gz"); }},
             {"Rutherford-Boeing", [&] { read_matrix(folder / "m.rua"); }},
             {"SciPy", [&] { read_matrix(TANSOLVE_TEST_DATA "/npz/csr.npz"); }},
             {"NumPy", [&] { read_npy(InputFile(folder / "b.npy")); }},
             {"a container", [&] { load_container(folder / "m.tans", 1); }},
             {"writing Matrix Market", [&] { write_matrix_market(folder / "n.mtx", matrix); }},
             {"writing a container", [&] { save_container(folder / "n.tans", compressed); }},
             {"writing NumPy", [&] { write_npy(folder / "n.npy", dense); }}});
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    CHECK(entry.path().string().find(".part-") == std::string::npos);
}

TEST_CASE("memory that runs out anywhere in encoding is reported, and nothing is lost") {
  const auto matrix = generate("varcoef7:3@3"), other = generate("varcoef7:3@5");
  Context<Host> context(2);
  fail_each(coding_set_ups(context, matrix));
  std::vector<SetUp> more = {{"the planner", [&] { compress(matrix); }},
                             {"decoding", [&] { compress(matrix).decode(); }}};
  for (const CodingTraits& coding : all_codings)
    more.push_back({"new values of " + std::string(coding.name), [&] {
                      auto encoded = encode(matrix, {.coding = coding.coding}, count_pairs(matrix));
                      update_values(encoded, other);
                    }});
  fail_each(more);
}

TEST_CASE("memory that runs out anywhere in a solver's set-up is reported, and nothing is lost") {
  const auto matrix = generate("varcoef7:3@3");
  Context<Host> context(2);
  fail_each(solver_set_ups(context, matrix));
}

TEST_CASE("memory that runs out anywhere in a preconditioner is reported, and nothing is lost") {
  const auto matrix = generate("varcoef7:3@3");
  Context<Host> context(2);
  fail_each(preconditioner_set_ups(context, matrix));
}

TEST_CASE("memory that runs out anywhere in shift-invert is reported, and nothing is lost") {
  const auto matrix = generate("varcoef7:3@3");
  Context<Host> context(2);
  fail_everywhere([&] {
    ShiftInvert problem(context, matrix);
    problem.solve({}, {.nev = 2});
  });
}

}  // namespace
}  // namespace tansolve::test
