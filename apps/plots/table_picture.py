#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The README's table of products on a GPU as a picture, which the tests compare with the table.

table_picture.py README.md > apps/manual/gpu_products.svg
"""

import pathlib
import re
import sys

WIDTH, LEFT, RIGHT, ROW, TOP = 800, 240, 120, 26, 60
OURS, THEIRS, INK = "#1f6fb2", "#b8bec6", "#24292f"


def rows(text):
    """Name, Gnnz/s of cuSPARSE's fastest format, Gnnz/s of tansolve and its bytes a nonzero."""
    line = re.compile(r"^\| (gen:\S+) \| [^|]+ \| (\d+) \w+ \| (\d+) \w+ \| [^|]+ \| ([\d.]+) \|$", re.M)
    return [(name, int(theirs), int(ours), size) for name, theirs, ours, size in line.findall(text)]


def element(name, content="", **attributes):
    given = "".join(f' {key.replace("_", "-")}="{value}"' for key, value in attributes.items())
    return f"<{name}{given}>{content}</{name}>"


def picture(text):
    table = rows(text)
    scale = (WIDTH - LEFT - RIGHT) / max(max(theirs, ours) for _, theirs, ours, _ in table)
    height = TOP + ROW * len(table) + 14

    def label(content, x, y, **attributes):
        return element("text", content, x=x, y=y, fill=INK, **attributes)

    parts = [element("rect", width=WIDTH, height=height, fill="#ffffff"),
             label("Products on one NVIDIA H200, fp64, billions of nonzeros a second", 12, 22, font_size=15),
             element("rect", x=LEFT, y=34, width=12, height=10, fill=OURS),
             label("tansolve", LEFT + 18, 43),
             element("rect", x=LEFT + 90, y=34, width=12, height=10, fill=THEIRS),
             label("the fastest of cuSPARSE's formats", LEFT + 108, 43),
             label("bytes a nonzero", WIDTH - 12, 43, text_anchor="end")]
    for i, (name, theirs, ours, size) in enumerate(table):
        y = TOP + ROW * i
        parts += [label(name, LEFT - 8, y + 14, text_anchor="end"),
                  element("rect", x=LEFT, y=y, width=f"{ours * scale:.1f}", height=10, fill=OURS),
                  element("rect", x=LEFT, y=y + 10, width=f"{theirs * scale:.1f}", height=8, fill=THEIRS),
                  label(ours, f"{LEFT + max(ours, theirs) * scale + 6:.1f}", y + 14),
                  label(size, WIDTH - 12, y + 14, text_anchor="end")]
    return element("svg", "\n" + "\n".join(parts) + "\n", xmlns="http://www.w3.org/2000/svg",
                   width=WIDTH, height=height, viewBox=f"0 0 {WIDTH} {height}",
                   font_family="sans-serif", font_size=12) + "\n"


if __name__ == "__main__":
    sys.stdout.write(picture(pathlib.Path(sys.argv[1]).read_text()))
