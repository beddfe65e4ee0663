# SPDX-License-Identifier: BSD-3-Clause
"""apps/plots on made-up results, whose tables are counted by hand.

plots_test.py PLOTS.PY DATA_FOLDER TANSOLVE_PROGRAM
"""

import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

if importlib.util.find_spec("matplotlib") is None:
    print("skipped: no matplotlib")
    sys.exit(77)

plots, data, tansolve = sys.argv[1:]


def run(*arguments):
    return subprocess.run([sys.executable, plots, *arguments], check=True, capture_output=True,
                          text=True)


def rows(text, title):
    """The cells of a table, by the name of the row."""
    lines = text[text.index(title):].splitlines()[2:6]
    return {line[:24].strip(): (line[24:50].strip(), line[50:].strip()) for line in lines}


def check_tables(folder):
    result = run("bench", f"{data}/bench.json", "-o", folder)
    assert "lost: left out, no such file" in result.stderr
    assert "wrong: left out" in result.stderr
    text = pathlib.Path(folder, "tables.txt").read_text()
    assert result.stdout == text
    warm = rows(text, "f64: faster than the fastest format, warm")
    assert warm["< 2^15 nonzeros"] == ("0/1    0 %  best 0.50", "-")
    assert warm[">= 2^25 nonzeros"] == ("1/1  100 %  best 2.50", "1/1  100 %  best 1.50")
    cold = rows(text, "f64: faster than the fastest format, cold")
    assert cold["< 2^15 nonzeros"] == ("0/1    0 %  best 0.75", "-")
    size = rows(text, "f64: smaller")
    assert size[">= 2^25 nonzeros"] == ("1/1  100 %  best 8.00", "0/1    0 %  best 0.50")
    assert rows(text, "f32: smaller")[">= 2^25 nonzeros"] == ("1/1  100 %  best 4.00", "-")
    assert rows(text, "f32: smaller")["2^15 to 2^20 nonzeros"] == ("-", "-")
    for picture in ("speed-up.png", "size-ratio.png"):
        assert pathlib.Path(folder, picture).read_bytes().startswith(b"\x89PNG")


def check_plans(folder):
    text = run("bench", f"{data}/bench.json", "--plans", "chosen", "-o", folder).stdout
    cell = rows(text, "f64: faster than the fastest format, warm")[">= 2^25 nonzeros"][0]
    assert cell == "1/1  100 %  best 1.25"
    text = run("bench", f"{data}/bench.json", "--plans", "paper", "-o", folder).stdout
    assert rows(text, "f64: smaller")["< 2^15 nonzeros"][0] == "1/1  100 %  best 1.50"


def check_entropy(folder):
    """The entropy of differences is what the program counts, too."""
    text = run("entropy", "--program", tansolve, "--vertices", "300", "--degrees", "4", "6", "-o",
               folder).stdout
    found = {line.split()[0]: line.split()[1:] for line in text.splitlines()[1:]}
    assert len(found) == 6
    for graph, (raw, deltas) in found.items():
        about = json.loads(subprocess.run([tansolve, "info", graph, "--json"], check=True,
                                          capture_output=True).stdout)
        assert abs(float(deltas) - about["symbols"]["deltas"]["entropy_bits"]) < 1e-4
        assert float(raw) <= 8.23  # log2 of 300
    assert pathlib.Path(folder, "entropy.png").read_bytes().startswith(b"\x89PNG")


for check in (check_tables, check_plans, check_entropy):
    with tempfile.TemporaryDirectory() as scratch:
        check(scratch)
