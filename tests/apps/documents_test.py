# SPDX-License-Identifier: BSD-3-Clause
"""documents_test.py SOURCE PROGRAM: what the documents show is true.

Every C++ block stands word for word in an example or in the consumer of the package, which the tests
compile and run. Every command line is run as it is written, but on small stand-ins for its matrices: it
must be understood and end well. Files that are linked to are there, and the picture shows its table.
"""
import itertools
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

source, program = pathlib.Path(sys.argv[1]), sys.argv[2]
documents = [source / "README.md", *sorted((source / "apps/manual").glob("*.md"))]
small = "gen:poisson5:12"  # 144 rows
failures = []


def without_layout(text):
    return " ".join(text.split())


def check_blocks(path, text):
    examples = [without_layout(e.read_text()) for folder in ("apps/examples", "tests/package")
                for e in (source / folder).glob("*.cpp")]
    blocks = re.findall(r"```cpp\n(.*?)```", text, re.S)
    for block in blocks:
        if not any(without_layout(block) in example for example in examples):
            failures.append(f"{path.name}: no example has this block:\n{block}")
    return len(blocks)


def check_links(path, text):
    prose = re.sub(r"```.*?```", "", text, flags=re.S)
    for link in re.findall(r"\]\(([^)#]+)[^)]*\)", prose):
        if "://" not in link and not (path.parent / link).exists():
            failures.append(f"{path.name}: there is no {link}")


def check_picture():
    drawn = subprocess.run([sys.executable, source / "apps/plots/table_picture.py", source / "README.md"],
                           capture_output=True, text=True, check=True).stdout
    if drawn != (source / "apps/manual/gpu_products.svg").read_text():
        failures.append("gpu_products.svg is not the README's table: run apps/plots/table_picture.py")


def commands_in(text):
    """Indented lines and code in the text that call the program, without comments."""
    lines = re.findall(r"^    (?:build/\S+/)?(tansolve .*)$", text, re.M)
    prose = re.findall(r"`(tansolve [^`]+)`", text)
    for line in [*(line.split("  #")[0].strip() for line in lines), *map(without_layout, prose)]:
        line = line.split(" > ")[0]
        if re.match(r"tansolve \w+ (.* )?(gen:|\S+\.(mtx|tans|npz)|[A-Z]\w*|--list)", line):
            yield line


def alternatives(line):
    """One line for each value of 'a|b|c'."""
    words = [word.split("|") if "|" in word else [word] for word in line.split()]
    width = max(map(len, words))
    for k in range(width):
        yield [choices[k % len(choices)] for choices in words]


def stand_in(word, before):
    if before == "--solver" and word == "S":
        return "auto"
    word = re.sub(r"\bgen:[\w:.@-]+", small, word)
    word = {"SPEC": small, "MATRIX": "K.mtx", "MATRIX...": "K.mtx", "FILE": "K.mtx", "DIR": ".", "K": "2",
            "cuda:1": "cpu"}.get(word, word)
    return word


def prepare(folder):
    def run(*arguments):
        subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True)

    for name in ("K.mtx", "K.mtx.gz", "M.mtx", "A.mtx"):
        run("gen", "poisson5:12", "-o", name)
    run("encode", "K.mtx", "-o", "F.tans")
    run("solve", "K.mtx", "-o", "b.npy")
    for name in ("f.mtx", "b.mtx", "B.mtx"):
        (folder / name).write_text("%%MatrixMarket matrix array real general\n144 1\n" + "1\n" * 144)


def check_commands(path, text, folder):
    count = 0
    for line, words in itertools.chain.from_iterable(
            ((line, words) for words in alternatives(line)) for line in commands_in(text)):
        words = shlex.split(" ".join(words))
        arguments = [stand_in(word, before) for before, word in zip(words, words[1:])]
        done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True,
                              timeout=120, stdin=subprocess.DEVNULL)
        count += 1
        if done.returncode not in (0, 1):
            failures.append(f"{path.name}: {line}\n  run as {' '.join(arguments)}\n  ended with "
                            f"{done.returncode}: {done.stderr.strip()}")
    return count


def decoded(words, segments):
    """Of every lane, the symbols of the example's code, by paragraphs 3.1 to 3.8 of FORMAT.md."""
    slots = ([("a", g, 15) for g in range(15)] + [("b", g, 7) for g in range(7)] + [("c", 0, 1)] +
             [("a", 0, 1)] * 233)
    stream, lanes = iter(words), range(len(segments))
    current = [[0, 0] for _ in lanes]
    for c in (0, 1):
        for lane in lanes:
            current[lane][c] = next(stream)
    d, r, text = [0] * len(lanes), [1] * len(lanes), [""] * len(lanes)
    for s in range(max(segments)):
        for lane in lanes:
            if s >= segments[lane]:
                continue
            number = current[lane][0] | current[lane][1] << 32
            for symbol, digit, base in (slots[number >> 8 * i & 255] for i in range(8)):
                text[lane] += symbol
                d[lane], r[lane] = d[lane] * base + digit, r[lane] * base
            if s + 1 == segments[lane]:
                continue
            if r[lane] >= 2**32:
                current[lane][0], d[lane], r[lane] = d[lane] % 2**32, d[lane] >> 32, r[lane] >> 32
            else:
                current[lane][0] = next(stream)
            current[lane][1] = next(stream)
    return text, list(stream)


def check_example(text):
    words = [int(word, 16) for word in re.search(r"^    ([0-9a-f ]{60,})$", text, re.M)[1].split()]
    symbols = re.findall(r"`([abc]+)`", text)[:2]  # of lanes 0 and 1
    found, left = decoded(words, [3, 1])
    if left or any(lane.rstrip("a") != said.rstrip("a") or len(lane) < len(said)
                   for lane, said in zip(found, symbols, strict=True)):
        failures.append(f"format_example.md: the words mean {found}, {left} are left")


blocks = commands = 0
check_picture()
check_example((source / "apps/manual/format_example.md").read_text())
with tempfile.TemporaryDirectory() as name:
    prepare(pathlib.Path(name))
    for path in documents:
        text = path.read_text()
        blocks += check_blocks(path, text)
        check_links(path, text)
        commands += check_commands(path, text, pathlib.Path(name))
print(f"{blocks} blocks, {commands} commands")
print("\n".join(failures))
sys.exit(bool(failures) or blocks == 0 or commands == 0)
