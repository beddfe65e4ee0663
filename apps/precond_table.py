#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables what each preconditioner costs and saves: iterations, set-up and solve seconds, bytes.

    apps/precond_table.py PROGRAM FOLDER [--device cpu|cuda]... [--threads N] [--repeat N]
                          [--matrix M]... [--precond P]...

runs `PROGRAM solve` by conjugate gradients on generated problems and files of the folder and prints
a Markdown table for each device, a row for each problem and preconditioner: by default all of
these, on the CPU. Seconds are the least of --repeat runs;
a status stands in the place of iterations where a solve did not converge. Exits with 1 if a solve
that is said to have converged misses its tolerance.
"""
import argparse
import pathlib
import sys

from solve_tables import SHORT, document, heading, lies_about_convergence

MATRICES = ["gen:poisson7:128", "gen:varcoef7:128:10000", "gen:fem3:40",
            "s3rmt3m3", "bcsstk13", "cvxbqp1"]
PRECONDITIONERS = ["none", "jacobi", "block-jacobi", "chebyshev", "neumann", "fsai", "afsai", "amg",
                   "ic0", "ilu0"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--device", action="append", dest="devices")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--rtol", default="1e-6")
    parser.add_argument("--rhs", default="random")
    parser.add_argument("--time-limit", default="60")
    parser.add_argument("--repeat", type=int, default=1)
    parser.add_argument("--matrix", action="append", dest="matrices")
    parser.add_argument("--precond", action="append", dest="preconditioners")
    return parser.parse_args()


def located(matrix, folder):
    return matrix if matrix.startswith("gen:") else folder / f"{matrix}.mtx.gz"


def solve(matrix, preconditioner, device, given):
    """The documents of all runs; empty where the program refuses."""
    options = ["--solver", "cg", "--precond", preconditioner, "--rhs", given.rhs,
               "--rtol", given.rtol, "--device", device, "--threads", given.threads,
               "--max-iters", "100000", "--time-limit", given.time_limit]
    runs = [document(given.program, located(matrix, given.folder), options)
            for _ in range(given.repeat)]
    return [run["solve"] for run in runs if run]


def row(matrix, preconditioner, runs, storage):
    if not runs:
        return [matrix, preconditioner, "refused", "-", "-", "-", "-"]
    first = runs[0]
    ended = first["status"]
    iterations = str(first["iterations"])
    if ended != "converged":
        iterations = f"{SHORT.get(ended, ended)} {iterations}"
    size = first["preconditioner_bytes"]
    return [matrix, preconditioner, iterations,
            f"{min(run['preconditioner_seconds'] for run in runs):.3f}",
            f"{min(run['seconds'] for run in runs):.3f}",
            f"{size / 1e6:.2f}", f"{size / storage['csr_bytes']:.2f}"]


def table(device, given):
    """Prints it, and returns how many solves claim a convergence that is not there."""
    print(f"\non {device}\n")
    print(heading(["problem", "preconditioner", "iterations", "set-up s", "solve s", "MB",
                   "of A as csr"]))
    lies = 0
    for matrix in given.matrices or MATRICES:
        about = document(given.program, located(matrix, given.folder),
                         ["--device", "cpu", "--max-iters", "0", "--format", "csr"])
        for preconditioner in given.preconditioners or PRECONDITIONERS:
            runs = solve(matrix, preconditioner, device, given)
            lies += sum(map(lies_about_convergence, runs))
            cells = row(matrix, preconditioner, runs, about["storage"])
            print("| " + " | ".join(cells) + " |", flush=True)
    return lies


def main():
    given = arguments()
    lies = sum(table(device, given) for device in given.devices or ["cpu"])
    print(f"\n{lies} of the solves that converged miss their tolerance")
    return 1 if lies else 0


if __name__ == "__main__":
    sys.exit(main())
