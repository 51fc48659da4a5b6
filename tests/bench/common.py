# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the scripts of scale, contention and smpi share: the machine, the processes of a run, where results go."""

import contextlib
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys

MARK = "UMWELT_BENCH_MARK"  # variable by which the processes of a run are found


class Failure(Exception):
    """A run that did not end as it should."""


def clean_up_on_sigterm():
    """Temporary directories go, and what runs is killed, as with Ctrl-C."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


def machine():
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"cores": len(os.sched_getaffinity(0)), "processor": model[1] if model else platform.machine(),
            "memory_gib": pages / (1 << 30), "kernel": platform.release(), "load": os.getloadavg()[0]}


def machine_text(facts):
    return (f"{facts['cores']} cores ({facts['processor']}), {facts['memory_gib']:.0f} GiB, Linux {facts['kernel']}, "
            f"load {facts['load']:.1f} at the beginning")


def job_processes(mark):
    """Directories in /proc of all processes with MARK=mark in their environment."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                if wanted in (entry / "environ").read_bytes().split(b"\0"):
                    found.append(entry)
    return found


def split_arguments(arguments):
    """What stands before the first "--", and what stands behind it."""
    if "--" not in arguments:
        return arguments, []
    split = arguments.index("--")
    return arguments[:split], arguments[split + 1 :]


def need_gnuplot():
    if shutil.which("gnuplot") is None:
        raise Failure("gnuplot: expected the program in PATH, got none. Install what ci/packages --list names")


def svg(script, what):
    """What gnuplot draws by `script`, without groups of nothing, which are half of it."""
    need_gnuplot()
    drawn = subprocess.run(["gnuplot"], input=script, text=True, capture_output=True, check=False)
    if drawn.returncode != 0 or "<svg" not in drawn.stdout:
        raise Failure(f"gnuplot: expected a figure of {what}, got: {drawn.stderr.strip()}. Try gnuplot 5.4")
    return re.sub(r"<g [^>]*>\s*</g>\s*", "", drawn.stdout)


def add_outputs(parser):
    parser.add_argument("--json", type=pathlib.Path, help="write the figures there, too")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the tables there instead of to standard output")


def write_outputs(options, results, markdown):
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    if options.markdown:
        options.markdown.write_text(markdown(results))
    else:
        print(markdown(results), end="")
