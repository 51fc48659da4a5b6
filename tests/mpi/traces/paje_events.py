#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""paje_events.py UMWELT NP PROGRAM [ARGUMENT...]: what a trace in Paje's format says of a run.

Events are in the order of time, states are left as often as they are entered, every link has one beginning and one end,
not before it. What pj_dump (package pajeng) reads adds up to the report: calls by function, messages and their bytes;
and time computing of each rank to that of a trace in CSV. The run takes the same simulated time as without a trace, and
traces of two runs, one in worker processes, are the same to the byte. Without pj_dump the file alone is looked at, and
the test ends with 77.
"""
import collections
import csv
import decimal
import filecmp
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

PUSH, POP, START, END = 7, 8, 10, 11 # numbers of events


def fail(text):
    sys.exit(f"FAILED: {text}")


def run(umwelt, np, options, command, report):
    done = subprocess.run([umwelt, "run", "-q", "--cpu", "fixed=2us", "--mpi-calls", "--report", report, "-np", np,
                           *options, *command], capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        fail(f"{options}: {done.stdout}{done.stderr}")
    return json.loads(report.read_text())


def check_file(path):
    time, depths, links = decimal.Decimal(0), collections.Counter(), collections.defaultdict(list)
    for line in path.read_text().splitlines():
        if line.startswith("%"):
            continue
        event, *rest = line.split()
        event = int(event)
        if event in range(5):
            continue
        now = decimal.Decimal(rest[0])
        if now < time:
            fail(f"expected events in the order of time, got {line} after {time}")
        time = now
        if event in (PUSH, POP):
            depths[tuple(rest[1:3])] += 1 if event == PUSH else -1
            if depths[tuple(rest[1:3])] < 0:
                fail(f"expected a state to be left, got none: {line}")
        elif event in (START, END):
            links[rest[-1]].append(event)
    if any(depths.values()):
        fail(f"expected all states to be left, got {depths}")
    for key, ends in links.items():
        if ends != [START, END]:
            fail(f"link {key}: expected a beginning and an end, got {ends}")


def computing_in(path):
    """By rank, of a trace in CSV: of the main thread alone, which the report's is not."""
    spent = collections.Counter()
    for row in csv.DictReader(path.open()):
        if row["operation_type"] == "14":
            spent[int(row["initiator_rank"])] += round(
                (decimal.Decimal(row["end_time"]) - decimal.Decimal(row["start_time"])) * 10**12)
    return spent


def check_read(path, report, computing):
    done = subprocess.run(["pj_dump", "-l", "12", path], capture_output=True, text=True, timeout=100)
    if done.returncode != 0 or done.stderr:
        fail(f"pj_dump: {done.stderr}")
    rows = [[field.strip() for field in line.split(",", 9)] for line in done.stdout.splitlines()]
    spent, calls, messages, sent = collections.Counter(), collections.Counter(), 0, 0
    for row in rows:
        if row[0] == "State" and row[2] == "activity":
            spent[row[1], row[7]] += round(decimal.Decimal(row[5]) * 10**12)
        elif row[0] == "State":
            calls[row[7]] += 1
        elif row[0] == "Link":
            messages += 1
            sent += int(row[6])
    for rank in report["ranks"]:
        got, expected = spent[f"rank {rank['rank']}", "computing"], computing[rank["rank"]]
        # As in the CSV; other threads of the rank (Open MPI's, for PMIx) compute a little, too, and are in no trace.
        if got != expected or not 0.9 * rank["compute_ps"] <= got <= rank["compute_ps"]:
            fail(f"rank {rank['rank']} computing: expected {expected} of {rank['compute_ps']} ps, got {got}")
    expected = {one["name"]: one["calls"] for one in report["mpi_calls"]["functions"]}
    got = {name: count for name, count in calls.items() if name.startswith("MPI_")}
    if got != expected:
        fail(f"calls: expected {expected}, got {got}")
    said = report["mpi_calls"]["messages"]
    if (messages, sent) != (sum(one["messages"] for one in said), sum(one["bytes"] for one in said)):
        fail(f"expected messages as in {said}, got {messages} of {sent} bytes")
    if not any(row[0] == "Variable" for row in rows):
        fail("expected variables of NICs and links, got none")


def main():
    umwelt, np, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        path, again = work / "run.paje", work / "again.paje"
        without = run(umwelt, np, [], command, work / "without.json")
        report = run(umwelt, np, ["--trace", path], command, work / "with.json")
        if report["simulated_ps"] != without["simulated_ps"]:
            fail(f"expected {without['simulated_ps']} ps, got {report['simulated_ps']}")
        run(umwelt, np, ["--trace", again, "--workers", "2"], command, work / "again.json")
        if not filecmp.cmp(path, again, shallow=False):
            fail("expected the same bytes from a run in worker processes")
        check_file(path)
        if shutil.which("pj_dump") is None:
            sys.exit(77)
        run(umwelt, np, ["--trace", work / "run.csv"], command, work / "csv.json")
        check_read(path, report, computing_in(work / "run.csv"))


main()
