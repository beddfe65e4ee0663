#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A table of ten eigenvalues at each end of each symmetric matrix, and whether any was missed.

    apps/eigs_table.py PROGRAM FOLDER [--rows N] [--time S] [OPTION...]

runs `PROGRAM eigs` on every square symmetric real matrix in the folder with at most N rows (20000)
and prints a Markdown table; further options go to the program. That none was missed is counted by
SciPy, apart from the program: the i-th value found must lie within the tolerance of the i-th of all
eigenvalues (dense, up to 3000 rows), or the inertia of A - sigma I, for sigma one tolerance better
than the last value, must show no more eigenvalues there than were found (a sparse LU with pivots
from the diagonal; where one is refused, or after a minute, the count is left open). Exits with 1 if
a run that converged missed an eigenvalue or its tolerance.
"""
import argparse
import json
import multiprocessing
import pathlib
import subprocess
import sys
import tempfile

import numpy
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
import scipy.io

NEV, DENSE = 10, 3000
COUNTING = 60  # seconds for a factorisation


def eigs(program, matrix, which, seconds, options):
    """The document of a run; None where the program refuses the matrix."""
    command = [program, "eigs", str(matrix), "--json", "--nev", str(NEV), "--which", which,
               "--device", "cpu", "--threads", "1", "--time-limit", str(seconds), *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(run.stdout) if run.returncode < 2 else None


def as_scipy(program, matrix):
    """The matrix as the program reads it, whatever the file's format."""
    with tempfile.TemporaryDirectory() as folder:
        path, container = pathlib.Path(folder) / "a.mtx", pathlib.Path(folder) / "a.tans"
        subprocess.run([program, "encode", str(matrix), "-o", str(container)], check=True,
                       capture_output=True)
        subprocess.run([program, "decode", str(container), "-o", str(path)], check=True,
                       capture_output=True)
        return scipy.sparse.csc_matrix(scipy.io.mmread(path))


def count_below(a, sigma):
    """Eigenvalues of A below sigma, by inertia; None where the pivots had to leave the diagonal."""
    shifted = (a - sigma * scipy.sparse.identity(a.shape[0], format="csc")).tocsc()
    lu = scipy.sparse.linalg.splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0,
                                  options={"SymmetricMode": True})
    if not numpy.array_equal(lu.perm_r, lu.perm_c):
        return None
    return int((lu.U.diagonal() < 0).sum())


def missed(a, which, found):
    """What was missed: 'none', 'none (inertia)', 'none (own inertia)', a number, or 'open'."""
    values, slack = found["eigenvalues"], found["threshold"]
    sign = 1 if which == "smallest" else -1
    values = sign * numpy.array(values)
    if a.shape[0] <= DENSE:
        exact = numpy.sort(sign * scipy.linalg.eigvalsh(a.toarray()))[:NEV]
        wrong = int((numpy.abs(values - exact) > slack).sum())
        return "none" if wrong == 0 else f"{wrong} missed"
    with multiprocessing.Pool(1) as pool:
        counting = pool.apply_async(count_below, (sign * a, values[-1] - slack))
        try:
            better = counting.get(timeout=COUNTING)
        except (RuntimeError, MemoryError, multiprocessing.TimeoutError):
            better = None
    if better is None:
        return "open" if found["proof"] == "none" else "none (own inertia)"
    known = int((values < values[-1] - slack).sum())
    return "none (inertia)" if better <= known else f"{better - known} missed"


def row(name, which, document, verdict):
    found, matrix = document["eigs"], document["matrix"]
    worst = max(found["verified_residuals"]) / found["norm"]
    return (f"| {name} | {matrix['rows']} | {which} | {found['solver']} | {found['status']} | "
            f"{found['converged']} | {worst:.1e} | {found['operator_applications']} | "
            f"{found['solutions']} | {found['factorizations']} | {found['seconds']:.2f} | "
            f"{verdict} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rows", type=int, default=20000)
    parser.add_argument("--time", type=float, default=100)
    arguments, options = parser.parse_known_args()
    print("| matrix | rows | end | solver | status | pairs | worst residual / norm | products "
          "| solutions | factors | s | missed |\n" + "|---" * 12 + "|")
    failures = 0
    for path in sorted(arguments.folder.glob("*.gz")):
        info = subprocess.run([arguments.program, "info", str(path), "--json"],
                              capture_output=True, text=True, check=False)
        if info.returncode:
            continue
        matrix = json.loads(info.stdout)["matrix"]
        if not matrix["symmetric"] or not NEV <= matrix["rows"] <= arguments.rows:
            continue
        a = as_scipy(arguments.program, path)
        for which in ("smallest", "largest"):
            document = eigs(arguments.program, path, which, arguments.time, options)
            if document is None:
                continue
            found = document["eigs"]
            verdict = "-"
            if found["status"] == "converged":
                verdict = missed(a, which, found)
                worst = max(found["verified_residuals"])
                failures += verdict.endswith("missed") or worst > 1.001 * found["threshold"]
            print(row(path.name.split(".")[0], which, document, verdict), flush=True)
    print(f"\n{failures} runs that converged missed an eigenvalue or their tolerance")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
