#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables the bytes a nonzero that --optimize memory takes against the entropies of a matrix.

    apps/memory_table.py PROGRAM FOLDER [--threads N] [--matrix M]...

runs `PROGRAM info M --optimize memory` on generated matrices and files of the folder. The bound is
min(pair, delta + min(value, 52 + sign and exponent)) bits a nonzero, entropies each, plus what the
matrix' tables and dictionaries take; "within" says whether the bytes are at most 1.1 of it + 0.1.
Where the program counted a sample alone, the entropies are too low, and so is the bound; values and
pairs that even the sample rarely repeats are left out of it.
"""
import argparse
import json
import pathlib
import subprocess

MATRICES = ["gen:poisson27:128", "gen:poisson7:128", "gen:fem3:40", "gen:varcoef7:128",
            "gen:fem3u:32", "gen:band:500000:32:1500:16", "gen:band:500000:32:1500:0",
            "gen:heisenberg:20", "gen:er:500000:16", "gen:rmat:18:16", "gen:laplacian:ba:300000:12"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--matrix", action="append", dest="matrices")
    return parser.parse_args()


def described(matrix, given):
    where = matrix if matrix.startswith("gen:") else given.folder / f"{matrix}.mtx.gz"
    options = ["--optimize", "memory", "--threads", given.threads, "--json"]
    return json.loads(subprocess.run([given.program, "info", where, *options], check=True,
                                     capture_output=True, text=True).stdout)


def row(matrix, about):
    symbols, storage = about["symbols"], about["storage"]

    def counted(name):
        rare = symbols["sampled"] and name != "deltas" and \
            2 * symbols[name]["distinct"] > symbols["counted"]
        return float("inf") if rare else symbols[name]["entropy_bits"]

    value = min(counted("values"), 52 + symbols["exponent_entropy_bits"])
    bits = min(counted("pairs"), counted("deltas") + value)
    bound = bits / 8 + storage["symbols"] / about["matrix"]["nnz"]
    bytes_taken = storage["bytes_total"] / about["matrix"]["nnz"]
    within = "yes" if bytes_taken <= 1.1 * bound + 0.1 else "no"
    return [matrix, about["plan"]["geometry"], f"{bytes_taken:.3f}", f"{bound:.3f}",
            within + (" (sampled)" if symbols["sampled"] else "")]


def main():
    given = arguments()
    print("| matrix | coding | bytes a nonzero | bound | within |\n|---|---|---|---|---|")
    for matrix in given.matrices or MATRICES:
        print("| " + " | ".join(row(matrix, described(matrix, given))) + " |", flush=True)


if __name__ == "__main__":
    main()
