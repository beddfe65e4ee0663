#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares results and iterations of the linear solvers with those of SciPy.

    apps/scipy_compare.py PROGRAM [FOLDER]

solves A x = b, b = A 1, to 1e-8 of ||b|| with Jacobi's preconditioner by `PROGRAM solve` and by
scipy.sparse.linalg, on generated matrices and on real ones of the folder, which TANSOLVE_MATRICES
names otherwise. Iterations of SciPy are counted until the true residual meets the tolerance. Prints
a Markdown table. Exits with 1 if a solve does not converge, iterations differ by more than a tenth
(and 2), or the answers by more than twice the tolerance, as A x; with 77, having said so, where
SciPy is not installed. Matrices on which roundings decide when a method ends are no comparison, as
are those of BiCGSTAB on most.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

from solve_tables import document, heading

RTOL = 1e-8
ALL = ["cg", "minres", "gmres", "bicgstab"]
GENERATED = [("poisson5:40", ALL), ("varcoef7:10:100", ALL),
             ("convdiff7:12", ["gmres", "bicgstab"])]
REAL = [("1138_bus", ["cg", "minres"]), ("crystm01", ALL), ("cvxbqp1", ["cg", "minres"]),
        ("memplus", ["gmres"]), ("airFoil2D_p_A", ["bicgstab"])]


class Done(Exception):
    """Raised where the true residual meets the tolerance."""


def run(solver, rtol, *arguments, **options):
    try:
        return solver(*arguments, rtol=rtol, **options)
    except TypeError:  # before SciPy 1.12
        return solver(*arguments, tol=rtol, **options)


def theirs(matrix, b, solver):
    """The iterations of SciPy's solver until the true residual meets the tolerance, and its x."""
    import numpy
    import scipy.sparse.linalg as linalg
    n = matrix.shape[0]
    inverse = 1 / matrix.diagonal()
    enough = RTOL * numpy.linalg.norm(b)
    count, last = [0], [numpy.zeros(n)]

    def step(x):
        count[0] += 1
        if solver == "gmres":  # tells a norm in the place of x
            return
        last[0] = numpy.array(x)
        if numpy.linalg.norm(b - matrix @ last[0]) <= enough:
            raise Done

    if solver == "gmres":  # ours is preconditioned from the right, SciPy's from the left
        product = linalg.LinearOperator((n, n), lambda v: matrix @ (inverse * v), dtype=float)
        u, _ = run(linalg.gmres, RTOL, product, b, atol=0, restart=30, maxiter=200, callback=step,
                   callback_type="pr_norm")
        return count[0], inverse * u
    scale = linalg.LinearOperator((n, n), lambda v: inverse * numpy.ravel(v), dtype=float)
    try:
        run(getattr(linalg, solver), 1e-15, matrix, b, maxiter=10 * n, M=scale, callback=step)
    except Done:
        pass
    return count[0], last[0]


def ours(program, matrix, solver, folder):
    """The solve's part of the document, and x."""
    import numpy
    x = pathlib.Path(folder) / "x.npy"
    found = document(program, matrix, ["--solver", solver, "--precond", "jacobi", "--rhs", "A*ones",
                                       "--rtol", str(RTOL), "--device", "cpu", "--threads", "1",
                                       "-o", str(x)])
    return found["solve"], numpy.ravel(numpy.load(x))


def compare(program, name, path, solver, matrix, folder):
    """Prints a line of the table; returns whether the two agree."""
    import numpy
    b = matrix @ numpy.ones(matrix.shape[0])
    solve, x = ours(program, path, solver, folder)
    count, reference = theirs(matrix, b, solver)
    apart = numpy.linalg.norm(matrix @ (x - reference)) / numpy.linalg.norm(b)
    iterations = solve["iterations"]
    print(f"| {name} | {solver} | {solve['status']} | {iterations} | {count} | {apart:.1e} |",
          flush=True)
    return (solve["status"] == "converged" and abs(iterations - count) <= 0.1 * count + 2
            and apart <= 2.01 * RTOL)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        import scipy.io
    except ImportError:
        print("skipped: SciPy is not installed")
        return 77
    program = str(pathlib.Path(sys.argv[1]).resolve())
    print(heading(["matrix", "solver", "status", "iterations", "SciPy", "A (x - y) / b"]))
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for spec, solvers in GENERATED:
            path = pathlib.Path(folder) / f"{len(files)}.mtx"
            subprocess.run([program, "gen", spec, "-o", path], capture_output=True, check=True)
            files.append((f"gen:{spec}", path, solvers))
        real = sys.argv[2] if len(sys.argv) > 2 else os.environ.get("TANSOLVE_MATRICES")
        if real:
            real = pathlib.Path(real)
            files += [(name, real / f"{name}.mtx.gz", solvers) for name, solvers in REAL]
        else:
            print("real matrices are skipped: TANSOLVE_MATRICES names no folder", file=sys.stderr)
        for name, path, solvers in files:
            matrix = scipy.io.mmread(path).tocsr()
            differ += sum(not compare(program, name, path, solver, matrix, folder)
                          for solver in solvers)
    print(f"\n{differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
