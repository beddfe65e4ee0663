#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tables how each solver ends on each matrix: status, iterations and the residual recomputed.

    apps/solver_table.py PROGRAM FOLDER [SOLVER[+OPTION]...]

runs `PROGRAM solve` with b = A 1 on every square real matrix in the folder and prints a Markdown
table. `cg+refine` is `--solver cg --refine`, whose iterations are corrections. A residual is ||b - A x|| / ||b||, computed apart from the solver. Exits with 1 if a solve
that is said to have converged misses its tolerance.
"""
import pathlib
import sys

from solve_tables import SHORT, document, heading, lies_about_convergence


def solve(program, matrix, solver):
    """The solve's part of the document; None where the program refuses the matrix."""
    name, *flags = solver.split("+")
    options = ["--solver", name, "--rhs", "A*ones", "--device", "cpu", "--threads", "1",
               "--max-iters", "5000", "--time-limit", "20", *("--" + flag for flag in flags)]
    found = document(program, matrix, options)
    return found and found["solve"]


def cell(result):
    status = SHORT.get(result["status"], result["status"])
    residual = result["verified_residual"]
    shown = "-" if residual is None else f"{residual / result['rhs_norm']:.1e}"
    return f"{status} {result['iterations']} {shown}"


def main():
    program, folder = sys.argv[1:3]
    solvers = sys.argv[3:] or ["cg", "fcg", "bicgstab", "idr"]
    print(heading(["matrix", *solvers]))
    matrices = lies = 0
    for matrix in sorted(pathlib.Path(folder).glob("*.gz")):
        results = [solve(program, matrix, solver) for solver in solvers]
        if None in results:
            continue
        matrices += 1
        lies += sum(map(lies_about_convergence, results))
        name = matrix.name.split(".")[0]
        print(f"| {name} | " + " | ".join(map(cell, results)) + " |", flush=True)
    print(f"\n{matrices} matrices, {lies} of the solves that converged miss their tolerance")
    return 1 if lies else 0


if __name__ == "__main__":
    sys.exit(main())
