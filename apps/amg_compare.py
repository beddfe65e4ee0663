#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the iterations of multigrid with those of PyAMG on generated matrices.

    apps/amg_compare.py PROGRAM [SPEC]...

writes each matrix with `PROGRAM gen`, solves it for b = 1 to 1e-8 by `PROGRAM solve --precond amg`
and by conjugate gradients with pyamg.smoothed_aggregation_solver, whose strength, near-null
vectors (constants), largest coarse level, degree of the smoother and cycle are the same, and prints
a Markdown table. PyAMG's Chebyshev smoother is told to act on the upper three quarters of the
spectrum, and is not scaled by the diagonal: matrices of varying diagonal are no comparison. Exits
with 1 if some ratio exceeds 1.3, and with 77, having said so, where PyAMG is not installed.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

SPECS = ["poisson5:64", "poisson5:256", "poisson7:24", "poisson7:48", "poisson27:24", "fem3:16"]
DEGREE = 2


def ours(program, spec):
    run = subprocess.run([program, "solve", f"gen:{spec}", "--precond", "amg", "--solver", "cg",
                          "--rhs", "ones", "--rtol", "1e-8", "--device", "cpu", "--json"],
                         capture_output=True, text=True, check=True)
    solve = json.loads(run.stdout)["solve"]
    return solve["iterations"], solve["preconditioner_hierarchy"]


def theirs(program, spec, pyamg, unknowns):
    import numpy
    import scipy.io
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "a.mtx"
        subprocess.run([program, "gen", spec, "-o", path], capture_output=True, check=True)
        matrix = scipy.io.mmread(path).tocsr()
    near_null = numpy.kron(numpy.ones((matrix.shape[0] // unknowns, 1)), numpy.eye(unknowns))
    if unknowns > 1:
        matrix = matrix.tobsr((unknowns, unknowns))
    smoother = ("chebyshev", {"degree": DEGREE, "iterations": 1, "lower_bound": 0.25})
    levels = pyamg.smoothed_aggregation_solver(
        matrix, B=near_null, strength=("symmetric", {"theta": 0.0}), max_coarse=500,
        presmoother=smoother, postsmoother=smoother)
    b = numpy.ones(matrix.shape[0])
    count = [0]

    def step(_):
        count[0] += 1

    from scipy.sparse.linalg import cg
    x, info = cg(matrix, b, rtol=1e-8, atol=0, maxiter=300, M=levels.aspreconditioner(),
                 callback=step)
    missed = numpy.linalg.norm(b - matrix @ x) > 1.01e-8 * numpy.linalg.norm(b)
    return None if info != 0 or missed else count[0], levels.operator_complexity()


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        import pyamg
    except ImportError:
        print("skipped: PyAMG is not installed")
        return 77
    program = str(pathlib.Path(sys.argv[1]).resolve())
    print("| problem | iterations | PyAMG | operator complexity | PyAMG |\n|---|---|---|---|---|")
    worst = 0
    for spec in sys.argv[2:] or SPECS:
        iterations, hierarchy = ours(program, spec)
        reference, complexity = theirs(program, spec, pyamg, hierarchy["unknowns_per_node"])
        print(f"| gen:{spec} | {iterations} | {reference or 'not converged'} | "
              f"{hierarchy['operator_complexity']:.3f} | {complexity:.3f} |", flush=True)
        if reference:
            worst = max(worst, iterations / reference)
    print(f"\nthe largest ratio of iterations is {worst:.2f}")
    return 1 if worst > 1.3 else 0


if __name__ == "__main__":
    sys.exit(main())
