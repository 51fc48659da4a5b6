#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""functions.py UMWELT PROGRAM [OPTION...]: --trace-functions with functions.c, read back from OTF2.

Each rank has entered and left each function as often as functions.c says, in turns, with the calls of MPI that lie in
them; times are those of a run without. Ends with 77 if python3-otf2 is not installed.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import otf2
    from otf2 import events
except ImportError:
    sys.exit(77)

NAMES = ["inner", "outer", "again", "jumps", "lands", "larger", "elsewhere", "alone"]
EXPECTED = {"inner": 7, "outer": 3, "again": 5, "jumps": 1, "lands": 1, "larger": 1, "elsewhere": 1, "alone": 2}
LIES_IN = {("inner", "outer"): 6, ("inner", "lands"): 1, ("again", "again"): 4, ("jumps", "lands"): 1,
           ("MPI_Barrier", "inner"): 7, ("MPI_Barrier", "outer"): 3}


def fail(text):
    sys.exit(f"FAILED: {text}")


def run(umwelt, program, options, report):
    done = subprocess.run([umwelt, "run", "-q", "--cpu", "none", "--report", report, "-np", "3", *options, program],
                          capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        fail(f"expected exit code 0, got {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(report.read_text())["simulated_ps"]


def main():
    umwelt, program, *options = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory)
        times = [run(umwelt, program, [*options, "--trace", path / "run.otf2", *more], path / "report.json")
                 for more in ([], ["--trace-functions", ",".join(NAMES[:4]), "--trace-functions", ",".join(NAMES[4:])])]
        if times[0] != times[1]:
            fail(f"expected the simulated time of a run without functions, {times[0]} ps, got {times[1]} ps")
        calls = collections.defaultdict(collections.Counter)
        within = collections.defaultdict(collections.Counter)
        stacks = collections.defaultdict(list)
        with otf2.reader.open(str(path / "run.otf2")) as trace:
            for location, event in trace.events:
                stack = stacks[location]
                rank = location.group.name
                if isinstance(event, events.Enter):
                    name = event.region.name
                    calls[rank][name] += 1
                    if stack:
                        within[rank][name, stack[-1]] += 1
                    if name in NAMES and event.region.paradigm != otf2.Paradigm.USER:
                        fail(f"expected {name} to be the user's, got {event.region.paradigm}")
                    stack.append(name)
                elif isinstance(event, events.Leave):
                    if not stack or stack.pop() != event.region.name:
                        fail(f"{rank}: expected regions to be left in turns, got {event.region.name}")
        if any(stacks.values()):
            fail(f"expected all regions to be left, got {dict(stacks)}")
        if len(calls) != 3:
            fail(f"expected 3 ranks, got {list(calls)}")
        for rank, counts in calls.items():
            got = {name: counts[name] for name in NAMES}
            if got != EXPECTED:
                fail(f"{rank}: expected calls {EXPECTED}, got {got}")
            got = {pair: within[rank][pair] for pair in LIES_IN}
            if got != LIES_IN:
                fail(f"{rank}: expected in what {LIES_IN}, got {got}")


main()
