# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts that table solves share: running one, and whether its claim is true."""
import json
import subprocess

SHORT = {"iteration_limit": "limit", "time_limit": "time", "not_finite": "not finite",
         "indefinite_preconditioner": "indefinite M", "indefinite_operator": "indefinite A"}


def document(program, matrix, options):
    """What `PROGRAM solve MATRIX` says; None where it refuses."""
    command = [program, "solve", str(matrix), "--json", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(run.stdout) if run.returncode < 2 else None


def lies_about_convergence(result):
    """A thousandth is left to the rounding of two computations of the residual."""
    limit = 1.001 * result["threshold"]
    return result["status"] == "converged" and not result["verified_residual"] <= limit


def heading(names):
    return "| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|"
