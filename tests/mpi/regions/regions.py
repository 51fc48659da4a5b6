#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""regions.py UMWELT PHASES PROGRAM [OPTION...]: --model-region and --cpu-region, where each phase of PROGRAM (phases.c)
has to take what models and --cpu say: 1 us and what MPI adds outside of regions, 2 us more within, or what computing
adds."""
import json
import subprocess
import sys

umwelt, phases, program, *options = sys.argv[1:]
count = int(phases)


def run(*regions, cpu="none", cpus=()):
    command = [umwelt, "run", "--cpu", cpu, "-np", "2", "--model", "delay", "--nic", "latency=1us"]
    command += ["--report", "r.json"]
    for region in regions:
        command += ["--model-region", region]
    for region in cpus:
        command += ["--cpu-region", region]
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
    check("after a function of the program", run(f"phase#3={slow}")[0], [0, 0, 0, 1, 1])
    check("between one and one of MPI", run(f"phase..MPI_Barrier={slow}")[0], [0, 1, 1, 0, 1])
    _, report, said = run(f"fase..MPI_Barrier={slow}")
    assert "--model-region fase..MPI_Barrier=" in said and report["models"]["not_reached"], said

# Computing: nothing of it is measured, but it takes something.
times, report, said = run(cpus=["1=fixed=1us"])
check("no computing", times[0:1] + times[2:], [0] * (count - 1))
assert times[1] > base[1] + 1000, (times, base)
assert [c["cpu"] for c in report["cpus"]["changes"]] == ["fixed=1000"] * 2 + ["none"] * 2, report["cpus"]
assert "computing: none; fixed=1000 on 1 at " in said, said
again, other, _ = run(cpus=["1=fixed=1us"])
assert again == times and report == other, "expected the same twice"
times, _, _ = run(cpus=["1=0=fixed=1us"])
assert times[1] > base[1] + 500, (times, base)
# It is measured, and long, so whoever comes first to a phase waits there for the other.
times, _, _ = run(cpus=["1=scale=100"])
check("not measured yet", times[0:1], [0])
assert times[1] > 5 * max(times[0], times[2]), (times, base)
times, _, _ = run(cpu="scale=100", cpus=["1=none"])
assert min(times[0], times[2]) > 5 * times[1], (times, base)
_, report, said = run("77=zero", "MPI_Barrier#99=zero")
assert "--model-region 77=zero: never came to that" in said, said
assert report["models"]["not_reached"] == ["--model-region 77=zero", "--model-region MPI_Barrier#99=zero"], report
