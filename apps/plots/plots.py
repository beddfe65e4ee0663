#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures and tables from what tansolve measures; needs matplotlib (Debian: python3-matplotlib).

plots.py bench DOCUMENT.json... -o FOLDER   of `tansolve bench --json` on a GPU
plots.py entropy --program tansolve -o FOLDER   of the column indices of random graphs
"""

import argparse
import collections
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402, after the choice of a backend without a screen

# Where the tables part matrices: nonzeros, and the mean nonzeros a row.
SIZES = [(0, 2**15), (2**15, 2**20), (2**20, 2**25), (2**25, math.inf)]
ROWS = [(0, 10), (10, math.inf)]
MODES = ("warm", "cold")


class Point:
    """One matrix in one precision: its nonzeros, mean row length, size ratio and speed-ups."""

    def __init__(self, result, plans):
        self.name = result["matrix"]["name"]
        self.nnz = result["matrix"]["nnz"]
        self.row_length = result["matrix"]["mean_row_length"]
        self.precision = result["precision"]
        ours = [p for p in result["products"] if p["library"] == "tansolve" and allowed(p, plans)]
        fastest = {m: max(ours, key=lambda p: p[m]["speed_up"]) for m in MODES} if ours else {}
        self.speed_up = {m: p[m]["speed_up"] for m, p in fastest.items()}
        self.size_ratio = {m: p["size_ratio"] for m, p in fastest.items()}


def allowed(product, plans):
    if plans == "chosen":
        return product["chosen"]
    if plans == "paper":
        return product["format"] == "paper" and product["rows_per_lane"] == 1
    return True


def read_points(paths, plans):
    """Points of every matrix that was measured and whose products were right."""
    points = []
    for path in paths:
        for result in json.loads(pathlib.Path(path).read_text())["results"]:
            if "failed" in result:
                print(f"{result['matrix']['name']}: left out, {result['failed']}", file=sys.stderr)
            elif any(p.get("wrong") for p in result["products"]):
                print(f"{result['matrix']['name']}: left out, a product is wrong", file=sys.stderr)
            elif (point := Point(result, plans)).speed_up:
                points.append(point)
    return points


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, dpi=150)
    plt.close(figure)


def scatter(points, abscissa, label, path):
    """Speed-ups, a panel a mode, against abscissa(point, mode)."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
    for panel, mode in zip(panels, MODES):
        for precision, marker in (("f64", "o"), ("f32", "^")):
            chosen = [p for p in points if p.precision == precision]
            panel.scatter([abscissa(p, mode) for p in chosen], [p.speed_up[mode] for p in chosen],
                          marker=marker, s=18, alpha=0.7, label=precision)
        panel.axhline(1, color="black", linewidth=0.8)
        panel.set(xscale="log", title=mode, xlabel=label)
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("speed-up over the fastest cuSPARSE format")
    panels[0].legend()
    save(figure, path)


def share(values):
    """How many are above 1: '3/4   75 %  best 2.50'."""
    if not values:
        return "-"
    gains = sum(v > 1 for v in values)
    return f"{gains}/{len(values)} {100 * gains / len(values):4.0f} %  best {max(values):.2f}"


def interval(low, high, unit):
    if math.isinf(high):
        return f">= {power(low)} {unit}"
    return f"< {power(high)} {unit}" if low == 0 else f"{power(low)} to {power(high)} {unit}"


def power(number):
    return f"2^{int(math.log2(number))}" if number >= 2**15 else str(number)


def table(points, title, ratio):
    """The share of matrices whose ratio(point) is above 1, by nonzeros and row length."""
    lines = [title, f"{'':24}" + "".join(f"{interval(*rows, 'a row'):>26}" for rows in ROWS)]
    for size in SIZES:
        cells = [[ratio(p) for p in points
                  if size[0] <= p.nnz < size[1] and rows[0] <= p.row_length < rows[1]]
                 for rows in ROWS]
        name = interval(*size, "nonzeros")
        lines.append(f"{name:24}" + "".join(f"{share(cell):>26}" for cell in cells))
    return "\n".join(lines) + "\n"


def bench(arguments):
    points = read_points(arguments.documents, arguments.plans)
    if not points:
        sys.exit("plots.py: the documents hold no results of a GPU")
    scatter(points, lambda p, mode: p.nnz, "nonzeros", arguments.folder / "speed-up.png")
    scatter(points, lambda p, mode: p.size_ratio[mode],
            "smallest standard format / compressed, bytes", arguments.folder / "size-ratio.png")
    tables = []
    for precision in ("f64", "f32"):
        chosen = [p for p in points if p.precision == precision]
        if not chosen:
            continue
        tables.append(table(chosen, f"{precision}: smaller than the smallest standard format",
                            lambda p: p.size_ratio["warm"]))
        for mode in MODES:
            tables.append(table(chosen, f"{precision}: faster than the fastest format, {mode}",
                                lambda p, mode=mode: p.speed_up[mode]))
    text = "\n".join(tables)
    (arguments.folder / "tables.txt").write_text(text)
    print(text, end="")


def read_rows(path):
    """The columns of each row of a general Matrix Market file whose entries are sorted."""
    rows = collections.defaultdict(list)
    with open(path) as file:
        lines = (line for line in file if not line.startswith("%"))
        next(lines)
        for line in lines:
            row, column = line.split()[:2]
            rows[int(row)].append(int(column))
    return rows


def entropy(symbols):
    """Bits a symbol."""
    counts = collections.Counter(symbols)
    total = sum(counts.values())
    return -sum(n / total * math.log2(n / total) for n in counts.values())


def index_entropies(program, specification):
    """Entropies of the column indices as they are and as differences: of a row's first from the
    row's own index, of the others from the one before."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "graph.mtx"
        subprocess.run([program, "gen", specification, "-o", path], check=True,
                       stdout=subprocess.DEVNULL)
        rows = read_rows(path)
    raw = entropy(c for columns in rows.values() for c in columns)
    deltas = entropy(c - before for row, columns in rows.items()
                     for before, c in zip([row] + columns, columns))
    return raw, deltas


def entropies(arguments):
    graphs = {"er": "Erdős–Rényi", "ws": "Watts–Strogatz", "ba": "Barabási–Albert"}
    figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True)
    print(f"{'graph':24} {'raw':>8} {'deltas':>8}  bits an index")
    for panel, (kind, title) in zip(panels, graphs.items()):
        found = []
        for degree in arguments.degrees:
            specification = f"{kind}:{arguments.vertices}:{degree}"
            found.append(index_entropies(arguments.program, specification))
            print(f"gen:{specification:20} {found[-1][0]:8.4f} {found[-1][1]:8.4f}")
        for label, marker, values in zip(("raw", "delta-encoded"), "os", zip(*found)):
            panel.plot(arguments.degrees, values, marker=marker, label=label)
        panel.set(title=title, xlabel="mean degree", xscale="log")
        panel.minorticks_off()
        panel.set_xticks(arguments.degrees, [str(d) for d in arguments.degrees])
        panel.grid(alpha=0.3)
    panels[0].set(ylabel="entropy, bits an index", ylim=(0, None))
    panels[0].legend()
    save(figure, arguments.folder / "entropy.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("bench", help="speed-ups, size ratios and tables of GPU benchmarks")
    one.add_argument("documents", nargs="+")
    one.add_argument("--plans", choices=("best", "chosen", "paper"), default="best",
                     help="the fastest plan of each matrix, the planner's, or the paper's")
    one.set_defaults(run=bench)
    two = commands.add_parser("entropy", help="column indices of random graphs, raw and as deltas")
    two.add_argument("--program", default="tansolve", help="the tansolve program")
    two.add_argument("--vertices", type=int, default=2**16)
    two.add_argument("--degrees", type=int, nargs="+", default=[4, 8, 16, 32, 64])
    two.set_defaults(run=entropies)
    for command in (one, two):
        command.add_argument("-o", dest="folder", type=pathlib.Path, default=pathlib.Path("."))
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    arguments.run(arguments)


if __name__ == "__main__":
    main()
