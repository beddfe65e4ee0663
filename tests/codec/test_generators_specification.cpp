// SPDX-License-Identifier: BSD-3-Clause
// Specifications, seeds, copies of files, and what is said about mistakes.
#include <tansolve/codec/error.hpp>
#include <tansolve/codec/generators.hpp>

#include "generators_support.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace tansolve::test {
namespace {

/// A folder with one 3 x 2 file, removed at the end.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("tansolve_generators_" + std::to_string(getpid()));
  Folder() {
    std::filesystem::create_directory(path);
    std::ofstream(path / "small.mtx") << "%%MatrixMarket matrix coordinate real general\n"
                                         "3 2 4\n1 1 2\n1 2 3\n3 1 -5\n3 2 7\n";
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
};

std::string complaint(const std::string& specification, const GeneratorOptions& options = {},
                      ErrorCode code = ErrorCode::invalid_argument) {
  try {
    generate(specification, options);
  } catch (const Error& error) {
    CHECK(error.code() == code);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("the bits of the generators are pinned") {
  const auto pinned = [](const std::string& specification, std::uint64_t expected) {
    CAPTURE(specification);
    CHECK(fingerprint(generate(specification)) == expected);
  };
  pinned("varcoef7:9@1", 0x45239c28f04fe878);
  pinned("fem3u:4@1", 0xd73c02324a69ab8f);
  pinned("band:500:8:60:5@1", 0x9c6c81b5fbe309c6);
  pinned("er:1000:8@42", 0x8bff06d19b3861f3);
  pinned("ws:1000:8@42", 0xca5ed40ae3e52295);
  pinned("ba:1000:8@42", 0xcffcc1f23d37c581);
  pinned("rmat:10:8@42", 0xd4a4b640bf9e107f);
  pinned("fem3:4", 0xa6667eb1ac7a95c7);
  pinned("heisenberg:10", 0x10493cdf83a4f15f);
}

TEST_CASE("a matrix depends on the seed and not on the number of threads") {
  for (const std::string name :
       {"poisson5:50", "poisson7:13", "poisson27:13", "varcoef7:13", "convdiff7:13", "fem3:9",
        "fem3u:9", "heisenberg:12", "band:5000:8:60:5", "er:9000:8", "ws:9000:8", "ba:9000:8",
        "rmat:13:8", "laplacian:er:9000:8"}) {
    CAPTURE(name);
    const auto with = [&](const std::string& specification, std::uint64_t seed, int threads) {
      return fingerprint(
          generate(specification, {.seed = seed, .matrices = {}, .threads = threads}));
    };
    const std::uint64_t once = with(name, 1, 1);
    CHECK(with(name, 1, 3) == once);
    CHECK(with(name + "@1", 9, 2) == once);  // the specification wins
    const bool random = name.find("poisson") == std::string::npos && name != "convdiff7:13" &&
                        name != "fem3:9" && name != "heisenberg:12";
    CHECK((with(name, 2, 2) != once) == random);
    CHECK(with(name + "@18446744073709551615", 2, 2) == with(name, 18446744073709551615U, 3));
  }
}

TEST_CASE("tile puts copies of a file along the diagonal") {
  const Folder folder;
  const GeneratorOptions options = {.seed = 1, .matrices = folder.path, .threads = 2};
  Eigen::MatrixXd block(3, 2), expected = Eigen::MatrixXd::Zero(12, 8);
  block << 2, 3, 0, 0, -5, 7;
  for (int copy = 0; copy < 4; ++copy) expected.block<3, 2>(3 * copy, 2 * copy) = block;
  CHECK(dense(generate("tile:4:small", options)) == expected);
  CHECK(dense(generate("tile:4:small.mtx", options)) == expected);
  CHECK(dense(generate("tile:1:small", options)) == block);
}

TEST_CASE("tiles gives each copy a factor of its own in [1, 2)") {
  const Folder folder;
  const GeneratorOptions options = {.seed = 1, .matrices = folder.path, .threads = 2};
  const Csr<double> matrix = generate("tiles:20:small@6", options);
  REQUIRE(matrix.nnz() == 80);
  for (int copy = 0; copy < 20; ++copy) {
    const double* values = matrix.values().data() + 4 * copy;
    const double factor = values[0] / 2;
    CHECK(factor >= 1);
    CHECK(factor < 2);
    CHECK(values[1] == factor * 3);
    CHECK(values[2] == factor * -5);
    CHECK(values[3] == factor * 7);
    if (copy > 0) CHECK(values[0] != values[-4]);
  }
  CHECK(fingerprint(generate("tiles:20:small@7", options)) != fingerprint(matrix));
}

TEST_CASE("unknown names are answered with the names there are") {
  const std::string all =
      "it must be one of poisson5, poisson7, poisson27, varcoef7, convdiff7, fem3, fem3u, "
      "heisenberg, "
      "band, er, ws, ba, rmat, laplacian:er, laplacian:ws, laplacian:ba, tile, tiles";
  CHECK(complaint("poisson9:3") == "generator 'poisson9:3': unknown; " + all);
  CHECK(complaint("") == "generator '': unknown; " + all);
  CHECK(complaint("poisson") == "generator 'poisson': unknown; " + all);
  CHECK(complaint("laplacian:rmat:4:4") == "generator 'laplacian:rmat:4:4': unknown; " + all);
}

TEST_CASE("missing and superfluous arguments are answered with the form") {
  CHECK(complaint("poisson7") ==
        "generator 'poisson7': it has no arguments; the form is poisson7:N[xNYxNZ]");
  CHECK(complaint("er:10") == "generator 'er:10': DEG is missing; the form is er:N:DEG");
  CHECK(complaint("varcoef7:4:10:3") ==
        "generator 'varcoef7:4:10:3': '3' is one argument too many; "
        "the form is varcoef7:N[xNYxNZ][:JUMP]");
  CHECK(complaint("tile:4") == "generator 'tile:4': NAME is missing; the form is tile:COPIES:NAME");
}

TEST_CASE("wrong arguments are named together with what would be right") {
  const auto says = [](const std::string& specification, const std::string& what) {
    CHECK(complaint(specification) == "generator '" + specification + "': " + what);
  };
  const std::string plane = "it must be NX or NXxNY, at least 1 each and at most 2147483647 points";
  const std::string space =
      "it must be N or NXxNYxNZ, at least 1 each and at most 2147483647 points";
  says("poisson5:a", "NX is 'a', " + plane);
  says("poisson5:3x", "NX is '3x', " + plane);
  says("poisson5:3x4x5", "NX is '3x4x5', " + plane);
  says("poisson5:46341", "NX is '46341', " + plane);
  says("poisson7:", "N is '', " + space);
  says("poisson7:0", "N is '0', " + space);
  says("poisson7:-2", "N is '-2', " + space);
  says("poisson7:3.5", "N is '3.5', " + space);
  says("poisson7:2x2", "N is '2x2', " + space);
  says("poisson27:1291", "N is '1291', " + space);
  says("poisson27:99999999999999999999", "N is '99999999999999999999', " + space);
  says("fem3:895",
       "N is '895', it must be N or NXxNYxNZ, at least 1 each and at most 715827882 points");
  says("varcoef7:4:0.5", "JUMP is '0.5', it must be a number in [1, 1000000000000]");
  says("varcoef7:4:nan", "JUMP is 'nan', it must be a number in [1, 1000000000000]");
  says("heisenberg:34", "L is '34', it must be an integer in [4, 32]");
  says("heisenberg:7", "L is '7', it must be even");
  says("band:10:x:3:4", "PER_ROW is 'x', it must be an integer in [1, 2147483647]");
  says("band:10:5:3:4", "PER_ROW is '5', it must be at most N and WIDTH + 1");
  says("band:10:11:30:4", "PER_ROW is '11', it must be at most N and WIDTH + 1");
  says("er:2147483648:8", "N is '2147483648', it must be an integer in [1, 2147483647]");
  says("er:10:9", "DEG is '9', it must be at most N - 2");
  says("ws:10:3", "DEG is '3', it must be even and at most N / 2");
  says("ws:10:6", "DEG is '6', it must be even and at most N / 2");
  says("laplacian:ba:10:10", "DEG is '10', it must be even and less than N");
  says("rmat:31:4", "SCALE is '31', it must be an integer in [1, 30]");
  says("er:10:2@x", "the seed is 'x', it must be an integer in [0, 2^64)");
  says("er:10:2@-1", "the seed is '-1', it must be an integer in [0, 2^64)");
  says("er:10:2@", "the seed is '', it must be an integer in [0, 2^64)");
  says("poisson5:1x2147483648", "NX is '1x2147483648', " + plane);
}

TEST_CASE("tile says where it looked and how many copies are possible") {
  const Folder folder;
  const GeneratorOptions options = {.seed = 1, .matrices = folder.path, .threads = 0};
  CHECK(complaint("tile:2:absent", options, ErrorCode::io) ==
        "no file 'absent' in '" + folder.path.string() +
            "', neither by that name nor with .mtx, .rb, .rsa, .rua, .rra, .psa, .pua, .csa, .cua, "
            ".hb "
            "and perhaps .gz appended");
  CHECK(complaint("tile:2:small") ==
        "generator for copies of 'small': no folder of matrices was given");
  CHECK(complaint("tile:715827883:small", options) ==
        "generator 'tile:715827883:small': COPIES is '715827883', it must be at most 715827882, so "
        "that the 3 x 2 matrix has at most 2147483647 rows and columns");
  CHECK(complaint("tile:1:", options) ==
        "generator 'tile:1:': NAME is '', it must be the name of a file in the folder of matrices");
}

TEST_CASE("a matrix beyond all memory is an error of type out_of_memory") {
  CHECK(complaint("rmat:30:2147483647", {}, ErrorCode::out_of_memory) ==
        "generator 'rmat:30:2147483647': the host has too little memory for this matrix");
}

TEST_CASE("the help has the form of every generator and the ranges of its arguments") {
  const std::string help = generator_help();
  for (const std::string line :
       {"poisson5:NX[xNY]\n", "poisson7:N[xNYxNZ]\n", "varcoef7:N[xNYxNZ][:JUMP]\n",
        "band:N:PER_ROW:WIDTH:VALUES\n", "laplacian:ba:N:DEG\n", "tiles:COPIES:NAME\n",
        "    JUMP: a number in [1, 1000000000000], 1000 when omitted\n",
        "    L: an integer in [4, 32]\n", "@SEED"}) {
    CAPTURE(line);
    CHECK(help.find(line) != std::string::npos);
  }
}

}  // namespace tansolve::test
