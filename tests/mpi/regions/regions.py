#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""regions.py UMWELT PHASES PROGRAM [OPTION...]: --model-region, where each phase of PROGRAM (phases.c) has to take what
the models say: 1 us and what MPI adds outside of regions, 2 us more within."""
import json
import subprocess
import sys

umwelt, phases, program, *options = sys.argv[1:]
count = int(phases)


def run(*regions):
    command = [umwelt, "run", "--cpu", "none", "-np", "2", "--model", "delay", "--nic", "latency=1us"]
    command += ["--report", "r.json"]
    for region in regions:
        command += ["--model-region", region]
    done = subprocess.run(command + options + [program], capture_output=True, text=True, timeout=100)
    if done.returncode != 0:
        sys.exit(f"FAILED: {regions}: exit code {done.returncode}: {done.stderr}")
    with open("r.json", encoding="utf-8") as report:
        return [int(word) for word in done.stdout.split()], json.load(report), done.stderr


def check(what, got, longer):
    expected = [plain + (2000 if which else 0) for plain, which in zip(base, longer)]
    if any(abs(a - b) > 0.08 * b for a, b in zip(got, expected)):  # a message or two at the edge of a phase
        sys.exit(f"FAILED: {what}: expected {expected}, got {got}")


base, plain_report, _ = run()
assert len(base) == count and "models" not in plain_report, base
slow = "delay:latency=3us"
times, report, _ = run(f"1={slow}")
check("MPI_Pcontrol", times, [0, 1, 0, 0, 0][:count])
assert report["models"]["not_reached"] == [], report["models"]
again, other, _ = run(f"1={slow}")
assert report == other, "expected the same twice"
check("another level", run(f"0={slow}")[0], [0, 0, 1, 1, 1][:count])
if count == 5:
    check("the second MPI_Barrier", run(f"MPI_Barrier#2={slow}")[0], [0, 0, 0, 1, 1])
    check("between two functions", run(f"MPI_Pcontrol..MPI_Barrier={slow}")[0], [0, 1, 1, 0, 0])
    check("and up to a third", run(f"MPI_Barrier..MPI_Comm_rank={slow}")[0], [1, 1, 1, 1, 0])
    half = run(f"1=0={slow}")[0]
    if abs(half[1] - base[1] - 1000) > 200:
        sys.exit(f"FAILED: on one of two nodes: expected 1000 ns more in the second phase, got {half}, {base}")
_, report, said = run("77=zero", "MPI_Barrier#99=zero")
assert "--model-region 77=zero: never came to that" in said, said
assert report["models"]["not_reached"] == ["--model-region 77=zero", "--model-region MPI_Barrier#99=zero"], report
