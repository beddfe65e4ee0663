# SPDX-License-Identifier: BSD-3-Clause
"""documents_test.py SOURCE PROGRAM: what the documents show is true.

Every C++ block stands word for word in an example, which the tests compile and run. Every command line
is run as it is written, but on small stand-ins for its matrices: it must be understood and end well.
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
    examples = [without_layout(e.read_text()) for e in (source / "apps/examples").glob("*.cpp")]
    blocks = re.findall(r"```cpp\n(.*?)```", text, re.S)
    for block in blocks:
        if not any(without_layout(block) in example for example in examples):
            failures.append(f"{path.name}: no example has this block:\n{block}")
    return len(blocks)


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


blocks = commands = 0
with tempfile.TemporaryDirectory() as name:
    prepare(pathlib.Path(name))
    for path in documents:
        text = path.read_text()
        blocks += check_blocks(path, text)
        commands += check_commands(path, text, pathlib.Path(name))
print(f"{blocks} blocks, {commands} commands")
print("\n".join(failures))
sys.exit(bool(failures) or blocks == 0 or commands == 0)
