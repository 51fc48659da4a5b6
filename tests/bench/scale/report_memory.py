#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""report_memory.py BUILD [RANKS]: what the data of a report takes, in KiB per rank of a run in one process.

The most anonymous memory that the process had at any time, with the options of a report less that without."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROUNDS = "20"


def peak(umwelt, ranks, options, program):
    """In KiB."""
    command = [umwelt, "run", "-q", "--cpu", "none", "--workers", "0", "-np", str(ranks), *options, program, ROUNDS]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        most = 0
        while process.poll() is None:
            try:
                text = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
            except OSError:
                break
            found = re.search(r"RssAnon:\s+(\d+)", text)
            most = max(most, int(found[1]) if found else 0)
            time.sleep(0.01)
    if process.returncode != 0:
        sys.exit(f"report_memory.py: {' '.join(command)}: expected exit code 0, got {process.returncode}")
    return most


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1])
    ranks = int(sys.argv[2]) if len(sys.argv) == 3 else 1024
    umwelt, program = str(build / "bin" / "umwelt"), str(build / "tests" / "bench" / "scale" / "neighbours")
    with tempfile.TemporaryDirectory(prefix="umwelt-bench-") as directory:
        report = os.path.join(directory, "report.json")
        rows = (
            ("nothing", ()),
            ("--mpi-calls", ("--mpi-calls",)),
            ("--mpi-calls --report", ("--mpi-calls", "--report", report)),
            ("--mpi-calls --report --report-details", ("--mpi-calls", "--report", report, "--report-details")),
        )
        without = 0
        for name, options in rows:
            most = peak(umwelt, ranks, options, program)
            if not options:
                without = most
            print(f"{name:40} {most:9} KiB  {(most - without) / ranks:6.1f} KiB per rank", flush=True)


if __name__ == "__main__":
    main()
