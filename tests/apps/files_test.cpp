// SPDX-License-Identifier: BSD-3-Clause
// tansolve encode, decode, info, gen and bench; plans; and the exit codes of what cannot be done.
#include "apps/program.hpp"

#include <tansolve/codec/generators.hpp>
#include <tansolve/codec/matrix_market.hpp>

#include <fstream>

namespace tansolve::test {
namespace {

constexpr const char* no_room = "/proc/no-such-folder/";

}  // namespace

TEST_CASE("a matrix goes through encode, info, solve and decode and comes back bit for bit") {
  const Shell shell;
  const Outcome encoded = shell.tansolve("encode gen:varcoef7:7@3 -o a.tans --json");
  CHECK(encoded.code == 0);
  CHECK(encoded.json()["output"] == "a.tans");
  CHECK(encoded.json()["matrix"]["nnz"] == 7 * 343 - 6 * 49);
  CHECK(encoded.json()["encode"]["seconds"].get<double>() > 0);

  const Json info = shell.tansolve("info a.tans --json").json();
  CHECK(info["storage"] == encoded.json()["storage"]);
  CHECK(info["plan"]["geometry"] == encoded.json()["plan"]["geometry"]);
  CHECK(info["matrix"]["row_lengths"]["max"] == 7);

  const Outcome solved = shell.tansolve("solve a.tans --json");
  CHECK(solved.code == 0);
  CHECK(solved.json()["plan"]["format"] == "dtans");
  CHECK(solved.json()["encode"].is_null());
  CHECK(solved.json()["solve"]["verified_residual"].get<double>() ==
        doctest::Approx(solved.json()["solve"]["true_residual"].get<double>()).epsilon(1e-3));

  const Csr<double> expected = generate("varcoef7:7@3");
  for (const std::string name : {"a.mtx", "a.mtx.gz"}) {
    CHECK(shell.tansolve("decode a.tans -o " + name).code == 0);
    CHECK(same_matrix(read_matrix_market(shell.folder / name), expected));
  }
  CHECK(read_bytes(shell.folder / "a.mtx.gz").starts_with("\x1f\x8b"));
}

TEST_CASE("every part of the plan can be forced") {
  const Shell shell;
  for (const std::string geometry : {"paper", "joint", "byte", "fixed8", "fixed12", "fixed16"}) {
    const Outcome run = shell.tansolve(
        "solve gen:poisson5:20 --json --plan rows-per-lane=3,row-ends=crossing,geometry=" +
        geometry);
    CHECK(run.code == 0);
    CHECK(run.json()["plan"]["geometry"] == geometry);
    CHECK(run.json()["plan"]["rows_per_lane"] == 3);
    CHECK(run.json()["plan"]["row_ends"] == "crossing");
  }
  const auto geometry_of = [&](const std::string& rest) {
    return shell.tansolve("solve --json --max-iters 1 " + rest).json()["plan"]["geometry"];
  };
  CHECK(geometry_of("gen:poisson5:20 --plan geometry=fixed") == "fixed8");
  CHECK(geometry_of("gen:varcoef7:7 --plan geometry=fixed") == "fixed12");   // 2107 pairs
  CHECK(geometry_of("gen:varcoef7:12 --plan geometry=fixed") == "fixed16");  // 11232 pairs
  CHECK(geometry_of("gen:poisson5:20 --plan symbols=split") == "paper");
}

TEST_CASE("an unknown part of the plan is refused with the list") {
  const Shell shell;
  const auto message = [&](const std::string& plan) {
    const Outcome run = shell.tansolve("solve gen:poisson5:4 --plan " + plan);
    CHECK(run.code == 2);
    return run.err;
  };
  CHECK(contains(message("colour=red"), "rows-per-lane=N"));
  CHECK(contains(message("geometry"), "geometry=fixed12"));
  CHECK(contains(message("geometry=wide"), "geometry=fixed12"));
  CHECK(contains(message("rows-per-lane=0"), "1 to 1024"));
  CHECK(contains(message("rows-per-lane=2x"), "1 to 1024"));
  CHECK(contains(message("row-ends=ragged"), "row-ends=crossing"));
  CHECK(contains(message("geometry=byte --format csr"), "csr has no plan"));
}

TEST_CASE("a part of the plan is given once, and no item is empty") {
  const Shell shell;
  const auto message = [&](const std::string& plan) {
    const Outcome run = shell.tansolve("solve gen:poisson5:4 --plan '" + plan + "'");
    CHECK(run.code == 2);
    return run.err;
  };
  for (const std::string plan : {"", ",", "geometry=byte,", "geometry=byte,,row-ends=aligned"})
    CHECK(
        contains(message(plan), "--plan: an item of '" + plan + "' is empty; there are geometry"));
  for (const std::string plan :
       {"geometry=byte,geometry=byte", "geometry=byte,symbols=split",
        "rows-per-lane=1,rows-per-lane=2", "row-ends=aligned,row-ends=crossing"})
    CHECK(contains(message(plan), "--plan: '" + plan.substr(plan.find(',') + 1) +
                                      "' comes after another item for the same part"));
  CHECK(contains(message("rows-per-lane=1025"),
                 "--plan: 'rows-per-lane=1025' must be an integer from 1 to 1024"));
}

TEST_CASE("info tells shape, symmetry, entropies, candidates and bytes by part") {
  const Shell shell;
  shell.folder.write("a.mtx",
                     "%%MatrixMarket matrix coordinate real general\n"
                     "4 4 6\n1 1 2\n1 2 3\n2 1 -3\n2 2 2\n4 4 2\n4 3 2\n");
  const Outcome run = shell.tansolve("info a.mtx --json");
  CHECK(run.code == 0);
  const Json json = run.json();
  CHECK(json["matrix"]["symmetric"] == false);
  CHECK(json["matrix"]["symmetric_pattern"] == false);
  CHECK(json["matrix"]["row_lengths"] == Json{{"min", 0}, {"mean", 1.5}, {"max", 2}, {"empty", 1}});
  // Deltas from the diagonal, then from the column before: 0 1 | -1 1 | -1 1, values 2 3 -3 2 2 2.
  const Json& symbols = json["symbols"];
  CHECK(symbols["counted"] == 6);
  CHECK(symbols["deltas"]["distinct"] == 3);
  CHECK(symbols["values"]["distinct"] == 3);
  CHECK(symbols["pairs"]["distinct"] == 5);
  CHECK(symbols["deltas"]["entropy_bits"].get<double>() ==
        doctest::Approx((1 * 2.584963 + 2 * 1.584963 + 3 * 1.0) / 6));
  CHECK(json["candidates"].size() == 9);
  CHECK(json["storage"]["csr_bytes"] == 5 * 4 + 6 * 12);
  CHECK(json["storage"]["sell_bytes"] == 2 * 4 + 2 * 32 * 12);
  CHECK(json["storage"]["bytes_total"].get<int>() > 0);

  const Outcome text = shell.tansolve("info gen:poisson5:9");
  CHECK(text.code == 0);
  for (const char* word : {"81 x 81", "symmetric", "entropy", "fixed8", "sell"})
    CHECK_MESSAGE(contains(text.out, word), word);
  CHECK(shell.tansolve("info gen:convdiff7:4 --json").json()["matrix"]["symmetric_pattern"] ==
        true);
}

TEST_CASE("gen writes what the generator makes, with or without its prefix") {
  const Shell shell;
  for (const std::string prefix : {"", "gen:"}) {
    CHECK(shell.tansolve("gen " + prefix + "er:60:4 --seed 9 -o a.mtx").code == 0);
    CHECK(same_matrix(read_matrix_market(shell.folder / "a.mtx"), generate("er:60:4@9")));
  }
  const Outcome list = shell.tansolve("gen --list");
  CHECK(list.code == 0);
  CHECK(list.out == generator_help());
  CHECK(shell.tansolve("gen poisson5:4").code == 2);
  const Outcome tiles = shell.tansolve("gen tile:2:a --matrices . -o b.mtx --json");
  CHECK(tiles.json()["matrix"]["rows"] == 120);
}

TEST_CASE("bench measures every coding and finds no error") {
  const Shell shell;
  const Json json =
      shell.tansolve("bench gen:poisson5:20 gen:er:500:4 --device cpu --threads 2 --json").json();
  REQUIRE(json["results"].size() == 2);
  for (const Json& result : json["results"]) {
    CHECK(result["products"].size() == 2 + 6 * 5 + 3);
    for (const Json& product : result["products"]) {
      CHECK(product["error"].get<double>() <= 1e-15);
      CHECK(product["wrong"] == false);
      CHECK(product["product_nnz_per_second"].get<double>() > 0);
    }
  }
  const Json one = shell
                       .tansolve(
                           "bench gen:er:500:4 --device cpu --json --precision f32 "
                           "--plan geometry=byte,rows-per-lane=2")
                       .json();
  CHECK(one["results"][0]["products"].size() == 3);
  CHECK(one["results"][0]["products"][2]["rows_per_lane"] == 2);
}

TEST_CASE("a matrix that cannot be benched leaves the results of the others") {
  const Shell shell;
  shell.folder.write("bad.mtx", "hello\n");
  const Outcome run = shell.tansolve(
      "bench bad.mtx gen:poisson5:4 gen:no:1 gen:poisson5:5 --device cpu --json --plan "
      "geometry=byte,rows-per-lane=1");
  CHECK(run.code == 3);  // the first failure's
  const Json json = run.json();
  REQUIRE(json["results"].size() == 4);
  CHECK(json["results"][0]["matrix"]["name"] == "bad.mtx");
  CHECK(contains(json["results"][0]["failed"].get<std::string>(), "bad.mtx"));
  CHECK(contains(json["results"][2]["failed"].get<std::string>(), "no"));
  for (const int i : {1, 3}) CHECK(json["results"][i]["products"].size() == 3);
}

TEST_CASE("bench on a gpu measures every plan and format of cuSPARSE and finds no error") {
  const Shell shell;
  const Outcome run =
      shell.tansolve("bench gen:fem3:4 gen:er:500:4 gen:no:1 --device cuda --json --threads 2");
  if (run.code == 4) {
    MESSAGE("skipped: " << run.err);
    return;
  }
  CHECK(run.code == 2);  // the last matrix, which costs the others nothing
  const Json json = run.json();
  CHECK(json["device"]["copy_bytes_per_second"].get<double>() > 0);
  CHECK(json["primitives"].size() == 6);
  REQUIRE(json["results"].size() == 3);
  CHECK(contains(json["results"][2]["failed"].get<std::string>(), "no"));
  const std::size_t vendor_formats[] = {7, 5};  // blocks in the first alone
  for (int i = 0; i < 2; ++i) {
    std::size_t vendor = 0, chosen = 0;
    for (const Json& product : json["results"][i]["products"]) {
      CHECK(product["error"].get<double>() <= 1e-14);
      CHECK(product["wrong"] == false);
      for (const char* mode : {"warm", "cold"}) CHECK(product[mode]["seconds"].get<double>() > 0);
      vendor += product["library"] == "cusparse";
      chosen += product.value("chosen", false);
    }
    CHECK(vendor == vendor_formats[i]);
    const Json& fastest = json["results"][i]["fastest_vendor"];
    for (const char* mode : {"warm", "cold"})
      CHECK(std::ranges::any_of(json["results"][i]["products"], [&](const Json& product) {
        return product["format"] == fastest[mode] && product[mode]["speed_up"] == 1;
      }));
    CHECK(chosen == 1);
    CHECK(json["results"][i]["products"].size() >= vendor + 6 * 2 * 4 + 3);
  }
}

TEST_CASE("bad files end with 3 and a message that names file and line") {
  const Shell shell;
  shell.folder.write("bad.mtx",
                     "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n3 1 1\n");
  Outcome run = shell.tansolve("solve bad.mtx --json");
  CHECK(run.code == 3);
  CHECK(run.out.empty());
  CHECK(contains(run.err, "tansolve: bad.mtx:4: "));
  shell.folder.write("complex.mtx",
                     "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n");
  run = shell.tansolve("info complex.mtx");
  CHECK(run.code == 3);
  CHECK(contains(run.err, "complex"));
  CHECK(contains(run.err, "not supported yet"));
  shell.folder.write("twice.mtx",
                     "%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n1 1 1\n");
  CHECK(shell.tansolve("solve twice.mtx").code == 0);
  CHECK(shell.tansolve("solve twice.mtx --duplicates refuse").code == 3);
  CHECK(shell.tansolve("solve none.mtx").code == 3);
  CHECK(shell.tansolve("decode bad.mtx -o x.mtx").code == 3);
  CHECK(shell.tansolve("solve gen:tile:2:none --matrices .").code == 3);
}

TEST_CASE("a container that is cut short or damaged is refused") {
  const Shell shell;
  CHECK(shell.tansolve("encode gen:poisson5:20 -o a.tans").code == 0);
  const std::string bytes = read_bytes(shell.folder / "a.tans");
  for (const std::size_t size : {std::size_t{20}, bytes.size() / 2, bytes.size() - 1}) {
    shell.folder.write("cut.tans", bytes.substr(0, size));
    for (const std::string command : {"solve cut.tans", "info cut.tans", "decode cut.tans -o x"}) {
      const Outcome run = shell.tansolve(command);
      CHECK(run.code == 3);
      CHECK(contains(run.err, "cut.tans"));
    }
  }
  std::string flipped = bytes;
  flipped[bytes.size() / 2] ^= 1;
  shell.folder.write("flipped.tans", flipped);
  CHECK(shell.tansolve("solve flipped.tans").code == 3);
  CHECK(!std::filesystem::exists(shell.folder / "x"));
}

TEST_CASE("a container keeps its precision and its plan") {
  const Shell shell;
  CHECK(shell.tansolve("encode gen:varcoef7:5 --precision f32 -o a.tans").code == 0);
  CHECK(shell.tansolve("solve a.tans --json").json()["precision"] == "f32");
  CHECK(shell.tansolve("solve a.tans --precision f32").code == 0);
  Outcome run = shell.tansolve("solve a.tans --precision f64");
  CHECK(run.code == 2);
  CHECK(contains(run.err, "a.tans holds f32"));
  run = shell.tansolve("solve a.tans --plan geometry=byte");
  CHECK(run.code == 2);
  CHECK(contains(run.err, "tansolve encode"));
  CHECK(shell.tansolve("encode a.tans --plan geometry=byte -o b.tans").code == 0);
  CHECK(shell.tansolve("info b.tans --json").json()["plan"]["geometry"] == "byte");
}

TEST_CASE("an output that cannot be written ends with 3 and leaves nothing behind") {
  const Shell shell;
  CHECK(shell.tansolve("encode gen:poisson5:8 -o a.tans").code == 0);
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(shell.folder.path()), {});
  };
  const auto before = files();
  for (const std::string command : {"solve gen:poisson5:8 -o ", "encode gen:poisson5:8 -o ",
                                    "decode a.tans -o ", "gen poisson5:8 -o "}) {
    for (const std::string& path : {no_room + std::string("x"), std::string("none/x")}) {
      const Outcome run = shell.tansolve(command + path);
      CHECK(run.code == 3);
      CHECK(contains(run.err, path));
    }
  }
  CHECK(files() == before);
  CHECK(shell.tansolve("info gen:poisson5:8 --json >/dev/full").code == 3);
}

TEST_CASE("an error comes after what was said before it") {
  const Shell shell;
  shell.folder.write("bad.mtx", "hello\n");
  const Outcome run = shell.line("\"$P\" bench gen:poisson5:4 bad.mtx --device cpu 2>&1");
  CHECK(run.code == 3);
  CHECK(run.out.find("tansolve: bad.mtx") > run.out.find("fixed16"));
  CHECK(contains(run.out, "fixed16"));
}

TEST_CASE("too many threads in the environment are not started, and refused ones cost 4") {
  const Shell shell;
  const Outcome many = shell.line("OMP_NUM_THREADS=100000 \"$P\" solve gen:poisson7:20 --json");
  CHECK(many.code == 0);
  CHECK(many.json()["threads"].get<int>() <= 4096);
  CHECK(shell.line("OMP_NUM_THREADS=1 \"$P\" solve gen:poisson7:20 --json").json()["threads"] == 1);
  // No address space has room for such a stack.
  const Outcome refused =
      shell.line("OMP_STACKSIZE=1000000G \"$P\" encode gen:poisson7:20 --threads 3 -o a.tans");
  CHECK(refused.code == 4);
  CHECK(contains(refused.err, "--threads N starts fewer"));
}

TEST_CASE("slips on the command line end with 2, a missing device with 4") {
  const Shell shell;
  for (const std::string arguments :
       {"", "frobnicate", "solve", "solve gen:poisson5:4 --no-such-option", "solve gen:nonsense:4",
        "solve gen:poisson5", "solve gen:poisson5:4 --precision f16",
        "solve gen:poisson5:4 --rtol -1", "solve gen:poisson5:4 --threads -1",
        "solve gen:poisson5:4 --device tpu", "solve gen:poisson5:4 --deterministic maybe",
        "encode gen:poisson5:4"}) {
    const Outcome run = shell.tansolve(arguments);
    CHECK_MESSAGE(run.code == 2, arguments);
    CHECK_MESSAGE(contains(run.err, "tansolve: "), arguments);
    CHECK_MESSAGE(run.out.empty(), arguments);
  }
  const auto message = [&](const std::string& arguments) {
    const Outcome run = shell.tansolve(arguments);
    CHECK_MESSAGE(run.code == 2, arguments);
    return run.err;
  };
  for (const std::string option : {"--rtol", "--atol", "--time-limit"})
    for (const std::string value : {"-1", "nan", "inf", "-inf", "1x", "''"}) {
      const std::string text = message("solve gen:poisson5:4 " + option + " " + value);
      CHECK_MESSAGE(contains(text, option + ": '" + (value == "''" ? "" : value) +
                                       "' is not a finite number of at least 0"),
                    text);
    }
  for (const std::string option : {"--seed", "--max-iters", "--threads"})
    for (const std::string value : {"-5", "1.5", "99999999999999999999", "1e3", "x"}) {
      const std::string text = message("solve gen:poisson5:4 " + option + " " + value);
      CHECK_MESSAGE(contains(text, option + ": '" + value + "' is not an integer from 0 to "),
                    text);
    }
  CHECK(contains(
      message("frobnicate gen:poisson5:4"),
      "'frobnicate' is no command; there are solve, eigs, encode, decode, info, bench, gen"));
  CHECK(contains(message(""), "a command is missing; there are solve"));
  const Outcome cuda = shell.tansolve("solve gen:poisson5:4 --device cuda:999");
  CHECK(cuda.code == 4);
  CHECK(contains(cuda.err, "--device cuda:999"));
  CHECK(shell.tansolve("solve gen:poisson5:4 --device cpu").err.empty());
  CHECK(contains(shell.tansolve("solve gen:poisson5:4").err, "device: c"));
  CHECK(shell.tansolve("--help").code == 0);
  CHECK(contains(shell.tansolve("solve --help").out, "--rtol"));
}

}  // namespace tansolve::test
