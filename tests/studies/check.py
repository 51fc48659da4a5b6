#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs a study on something tiny, twice, with programs of ours in the place of others', and looks whether page, table
and plot are there, and are the same bytes both times.

usage: check.py STUDY BUILD
"""

import csv
import itertools
import pathlib
import subprocess
import sys
import tempfile

import studies

# Study: its programs (those of BUILD, or `stand_in` by what it stands for), options, rows of the table.
TINY = {
    "components": (["stand_in"], "--n 64 --grid 1x2 --platform crossbar --factors 1,10", 8),
    "configurations": (["stand_in", "directory"], "--n 64 --grid 1x2", 24),
    "factors": (["stand_in"], "--n 64 --grid 1x2 --factors 10 --faster 1", 4),
    "flow_control": (
        ["tests/bench/contention/flood"],
        "--pairs 2 --processes 1 --size 4096 --victims 8 --limits 1 --fabrics occupancy --count 2",
        4,
    ),
    "pruned_tree": (
        ["tests/studies/panels", "stand_in"],
        "--tree 2x2 --grid 2x2 --spines 1 --small-tree 2x1 --small-grid 2x1 --small-spines 1 --order 1024 "
        "--hpl-tree 2x1 --hpl-grid 1x2 --hpl-spines 1",
        6,
    ),
    "switching": (
        ["tests/accuracy/mpi_loops", "stand_in"],
        "--repetitions 4 --steps 4 --percent 50 --cheap zero --only latency,LULESH",
        4,
    ),
    "variability": (["stand_in"], "--n 64 --each 1 --removed 28,31", 4),
    "zero_collectives": (["directory"], "--ranks 2 --only ft", 1),
}

# As if a larger block size and a deeper look-ahead cost something, and broadcasts differed by one thousandth
REAL = "bcast,block_size,depth,swap,gflops\n" + "".join(
    f"{bcast},{size},{depth},{swap},{1000 + bcast - size - 100 * depth + run}\n"
    for bcast, size, depth, swap, run in itertools.product(range(3), (128, 256), (0, 1), (0, 1), (0, 1)))


def expect(condition, text):
    if not condition:
        raise studies.Failure(text)


def make(study, build, programs, options, directory):
    command = [studies.HERE / f"{study}.py", build / "bin" / "umwelt", *programs, "--to", directory, *options]
    return subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, check=False)


def main():
    study, build = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    programs, options, rows = TINY[study]
    with tempfile.TemporaryDirectory(prefix="umwelt-studies-") as name:
        work = pathlib.Path(name)
        stand_in = build / "tests" / "studies" / "stand_in"
        (work / "ft.S.2").symlink_to(stand_in)
        (work / "hpl_factorial.csv").write_text(REAL)
        paths = [{"stand_in": stand_in, "directory": work}.get(one, build / one) for one in programs]
        made = []
        for turn in ("first", "second"):
            done = make(study, build, paths, options.split(), work / turn)
            expect(done.returncode == 0, f"{study}.py: expected exit code 0, got {done.returncode}: {done.stderr}")
            files = sorted(path for path in (work / turn).rglob("*") if path.is_file())
            made.append({str(path.relative_to(work / turn)): path.read_bytes() for path in files})
        expected = {f"{study.upper()}.md", f"results/{study}.csv", f"results/{study}.svg"}
        expect(set(made[0]) == expected, f"expected {sorted(expected)}, got {sorted(made[0])}")
        for file in expected:
            expect(made[0][file] == made[1][file], f"{file}: expected the same bytes in two runs, got others")
        page = made[0][f"{study.upper()}.md"].decode()
        command = f"    tests/studies/{study}.py build/release/bin/umwelt "
        expect(f"\n{command}" in page and options in page, f"expected the command in the page, got\n{page}")
        expect("\n|---|" in page, f"expected a table in the page, got\n{page}")
        expect(made[0][f"results/{study}.svg"].startswith(b"<?xml"), "expected an SVG file, got something else")
        lines = list(csv.DictReader(made[0][f"results/{study}.csv"].decode().splitlines()))
        expect(len(lines) == rows, f"expected {rows} rows, got {lines}")
        nothing = make(study, build, [work / "nothing" for _ in programs], [], work / "third")
        expect(nothing.returncode == 2 and "nothing: expected a program" in nothing.stderr,
               f"expected exit code 2 and what is missing, got {nothing.returncode}: {nothing.stderr}")


if __name__ == "__main__":
    studies.main(main)
