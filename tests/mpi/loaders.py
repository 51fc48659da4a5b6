#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The whole matrix of MPI programs with both ways to load a rank: each program that CTest runs under Umwelt runs with
--loader linker and --loader dlmopen, with --cpu none; results and reports must be the same to the bit.

usage: loaders.py BUILD [PATTERN]      PATTERN: of names of tests; default: all of pml ob1 and cm

Prints a line for each that differs and a line of totals; exit code 1 if there is one. Some ten minutes.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SECONDS = 120


def cases(build: pathlib.Path, pattern: str):
    """Name, options and program with its arguments, environment."""
    listed = json.loads(
        subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, check=True, capture_output=True, text=True).stdout
    )
    for test in listed["tests"]:
        command = test.get("command", [])
        if not re.search(pattern, test["name"]) or "emulated" not in command:
            continue
        separator = command.index("--")
        ranks, *options = command[command.index("emulated") + 3 : separator]
        properties = {each["name"]: each["value"] for each in test["properties"]}
        environment = dict(line.split("=", 1) for line in properties.get("ENVIRONMENT", []))
        yield test["name"], ["-np", ranks, *options], command[separator + 1 :], environment


def run(umwelt: pathlib.Path, loader: str, options: list[str], program: list[str], environment: dict[str, str]):
    """Exit code, lines of ranks, report."""
    with tempfile.TemporaryDirectory() as directory:
        report = pathlib.Path(directory, "report.json")
        with open(environment.get("UMWELT_TEST_INPUT", os.devnull), "rb") as text:
            try:
                done = subprocess.run(
                    [umwelt, "run", "-q", "--cpu", "none", "--loader", loader, "--report", report, *options, *program],
                    env=os.environ | environment,
                    stdin=text,
                    capture_output=True,
                    timeout=SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"none within {SECONDS} s", [], b""
        lines = sorted(line for line in done.stdout.splitlines() if line.startswith(b"["))
        return done.returncode, lines, report.read_bytes() if report.exists() else b""


def compare(umwelt: pathlib.Path, case) -> tuple[str, str]:
    """Name and what differs."""
    name, options, program, environment = case
    linker, dlmopen = (run(umwelt, loader, options, program, environment) for loader in ("linker", "dlmopen"))
    for what, first, second in zip(("exit code", "output", "report"), linker, dlmopen):
        if first != second:
            return name, f"{what}: {first} and {second}" if what == "exit code" else what
    return name, ""


def main() -> int:
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    pattern = sys.argv[2] if len(sys.argv) == 3 else r"^mpi\..*\.(ob1|cm)$"
    umwelt = build / "bin" / "umwelt"
    same = different = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, what in pool.map(lambda case: compare(umwelt, case), cases(build, pattern)):
            same += not what
            different += bool(what)
            if what:
                print(f"{name}: {what}", flush=True)
    print(f"{same} the same, {different} different")
    return 1 if different or not same else 0


if __name__ == "__main__":
    sys.exit(main())
