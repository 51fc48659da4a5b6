#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Instructions of three rows of the comparison with SMPI beside the committed baseline; see README.md beside this file.

    instructions.py UMWELT ROWS [--baseline FILE] [--update]     ROWS: the program of ../smpi/rows.c
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TOLERANCE = 0.05
# name: row, bytes, ranks, calls in the short run and in the long one
ROWS = {
    "ping-pong, 8 B, 2 ranks": ("pingpong", 8, 2, 50, 1050),
    "bandwidth, 8 B, 4 ranks": ("bandwidth", 8, 4, 5, 55),
    "allreduce, 8 B, 8 ranks": ("allreduce", 8, 8, 5, 45),
}


class Failure(Exception):
    """A run that did not end as it should."""


def count(command, directory):
    """One run under callgrind: what it counted in all processes of the job, or None and what was said."""
    run = subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            "--trace-children=yes",
            "--trace-children-skip=*ld-linux*",
            f"--callgrind-out-file={directory}/out.%p",
            *command,
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    totals = [
        re.search(r"^totals: (\d+)", file.read_text(errors="replace"), re.MULTILINE)
        for file in pathlib.Path(directory).iterdir()
    ]
    if run.returncode != 0 or not any(totals):
        return None, f"exit code {run.returncode}, {sum(map(bool, totals))} totals and\n{run.stderr[-3000:]}"
    return sum(int(each[1]) for each in totals if each), ""


def instructions(umwelt, program, row, size, ranks, calls):
    # A time slice would interrupt threads that valgrind has made slow.
    command = [
        str(umwelt),
        "run",
        "-q",
        "--cpu",
        "none",
        "--quantum",
        "100s",
        "-np",
        str(ranks),
        str(program),
        row,
        str(calls),
        str(size),
    ]
    for _ in range(3):  # valgrind itself fails now and then
        with tempfile.TemporaryDirectory(prefix="umwelt-gate-") as directory:
            found, problem = count(command, directory)
        if found is not None:
            return found
    raise Failure(f"callgrind of {' '.join(command)}: expected exit code 0 and totals, got {problem}")


def measure(umwelt, program):
    result = {}
    for name, (row, size, ranks, few, many) in ROWS.items():
        short = instructions(umwelt, program, row, size, ranks, few)
        long = instructions(umwelt, program, row, size, ranks, many)
        result[name] = round((long - short) / (many - few))
    return result


def judge(found, baseline):
    """Prints a line per row; true if none has grown too much."""
    good = True
    for name, count in found.items():
        if name not in baseline:
            raise Failure(
                f"baseline: expected the row '{name}', got {', '.join(baseline) or 'none'}. Next step: --update"
            )
        change = count / baseline[name] - 1
        verdict = (
            "too many"
            if change > TOLERANCE
            else "fewer: commit a new baseline (--update)"
            if change < -TOLERANCE
            else "as before"
        )
        print(f"{name}: {count:,} instructions per call, baseline {baseline[name]:,}, {change:+.1%}: {verdict}")
        good = good and change <= TOLERANCE
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("umwelt", type=pathlib.Path)
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument(
        "--baseline", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "baseline.json"
    )
    parser.add_argument("--update", action="store_true", help="write what is found as the new baseline")
    options = parser.parse_args()
    try:
        if shutil.which("valgrind") is None:
            raise Failure("valgrind: expected the program, got none. Install what ci/packages --list names")
        baseline = {} if options.update else json.loads(options.baseline.read_text())
        found = measure(options.umwelt, options.rows)
        if options.update:
            options.baseline.write_text(json.dumps(found, indent=2) + "\n")
            print(f"{options.baseline}: written")
            return 0
        return 0 if judge(found, baseline) else 1
    except (Failure, OSError, ValueError, subprocess.SubprocessError) as error:
        print(f"instructions.py: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
