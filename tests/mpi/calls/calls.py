#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""calls.py CASE UMWELT NP [OPTION...] -- PROGRAM [ARGUMENT...]: what --mpi-calls says of a program.

counts    of a program that writes its own ("RANK call NAME BYTES", "RANK message TO BYTES"): the same, function by
          function and pair by pair
apart     the rest of report and output is as without the option; and the same, twice, and in worker processes
deadlock  what the report of it says of MPI: lines of stdin, in this order, the last of them the cycle; umwelt explain
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def run(umwelt, np, options, command, name, code=0):
    """Report, stdout, stderr."""
    with tempfile.TemporaryDirectory() as work:
        report = pathlib.Path(work, name)
        done = subprocess.run([umwelt, "run", "--cpu", "none", "--report", report, "-np", np, *options, *command],
                              capture_output=True, text=True, timeout=190, stdin=subprocess.DEVNULL, check=False)
        if done.returncode != code:
            sys.exit(f"expected exit code {code}, got {done.returncode}:\n{done.stdout}{done.stderr}")
        return json.loads(report.read_text()), done.stdout, done.stderr


def compare(what, expected, got):
    if expected != got:
        lost = {key: value for key, value in expected.items() if got.get(key) != value}
        more = {key: value for key, value in got.items() if expected.get(key) != value}
        sys.exit(f"{what}: expected {lost}, got {more}")
    if not expected:
        sys.exit(f"{what}: expected some, got none")


def counts(umwelt, np, options, command):
    report, output, summary = run(umwelt, np, [*options, "--mpi-calls"], command, "counts")
    calls = collections.defaultdict(lambda: (0, 0))
    messages = collections.defaultdict(lambda: (0, 0))
    for line in output.splitlines():
        rank, what, name, size = line.split()
        into, key = (calls, name) if what == "call" else (messages, (int(rank), int(name)))
        into[key] = (into[key][0] + 1, into[key][1] + int(size))
    mpi = report["mpi_calls"]
    compare("functions", dict(calls), {one["name"]: (one["calls"], one["bytes"]) for one in mpi["functions"]})
    if messages:
        compare("messages", dict(messages),
                {(one["from"], one["to"]): (one["messages"], one["bytes"]) for one in mpi["messages"]})
    for part in "sites", "ranks":
        total = sum(one["calls"] for one in mpi[part])
        if total != sum(one["calls"] for one in mpi["functions"]):
            sys.exit(f"{part}: expected as many calls as of the functions, got {total}")
    for one in mpi["functions"]:
        sized = sum(size["bytes"] for size in one["sizes"])
        if sized != one["bytes"]:
            sys.exit(f"sizes of {one['name']}: expected {one['bytes']} bytes, got {sized}")
    if not any(name in one["place"] for name in ("main", "messages", "MAIN__") for one in mpi["sites"]):
        sys.exit(f"sites: expected a function of the program, got {[one['place'] for one in mpi['sites']]}")
    named = [one["communicator"] for one in mpi["communicators"]]
    if "MPI_COMM_WORLD" not in named or ("with a name" in named) != bool(messages):
        sys.exit(f"communicators: expected MPI_COMM_WORLD and what the program calls them, got {named}")
    if "MPI_Init" not in summary:
        sys.exit(f"expected a table of functions in the summary, got:\n{summary}")


def without_crossings(report):
    """The report; to load one more library takes calls that cross."""
    for part in [report["totals"], *report["ranks"]]:
        del part["crossings"]
    return report


def apart(umwelt, np, options, command):
    without, output, _ = run(umwelt, np, options, command, "without")
    without_crossings(without)
    first = None
    for more in [], [], ["--workers", "2"]:
        report, text, _ = run(umwelt, np, [*options, *more, "--mpi-calls"], command, "with")
        calls = report.pop("mpi_calls")
        if sorted(text.splitlines()) != sorted(output.splitlines()):
            sys.exit(f"{more}: expected the output of a run without --mpi-calls, got:\n{text}")
        if report["simulated_ps"] != without["simulated_ps"]:
            sys.exit(f"{more}: expected {without['simulated_ps']} ps, got {report['simulated_ps']}")
        if without_crossings(report) != without:
            sys.exit(f"{more}: expected the report of a run without --mpi-calls, got another one")
        first = first or calls
        if calls != first:
            sys.exit(f"{more}: expected the calls of the first run, got others")


def deadlock(umwelt, np, options, command):
    expected = sys.stdin.read().splitlines()
    report, _, text = run(umwelt, np, [*options, "--mpi-calls"], command, "deadlock", 122)
    rest = text
    for line in expected:
        _, found, rest = rest.partition(line)
        if not found:
            sys.exit(f"expected {line!r} in:\n{text}")
    # The report has the same.
    told = [int(one) for one in re.findall(r"(\d+) (?:waits )?in MPI_\w+", expected[-1])]
    if report["deadlock"]["cycle"] != told:
        sys.exit(f"expected the cycle {told}, got {report['deadlock']}")
    for wait, line in zip(report["deadlock"]["waits"], expected):
        if not line.startswith(wait["call"]) or "deadlock.c:" not in wait.get("place", "") or not wait["for"]:
            sys.exit(f"expected {line!r}, its place, and for whom it waits, got {wait}")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(report, file)
        file.flush()
        words = subprocess.run([umwelt, "explain", file.name], capture_output=True, text=True, check=True).stdout
    if "wait for each other in a circle" not in words or f"rank {told[0]} is in MPI_" not in words:
        sys.exit(f"expected umwelt explain to name the cycle, got:\n{words}")


def late(umwelt, np, options, command):
    """What late.c does."""
    report, _, summary = run(umwelt, np, [*options, "--mpi-calls"], command, "late")
    by_place, waited = report["mpi_calls"]["late_ps"], report["mpi_calls"]["waited_ps"]
    for place in "receives", "sends", "completion", "barriers":
        if not 4.8e9 < by_place[place] < 5.2e9 or by_place[place] > waited[place]:
            sys.exit(f"{place}: expected 5 ms in which the other had not begun, got {by_place} of {waited}")
    # Open MPI looks at TCP's sockets now and then: who sends is late with every piece.
    streams = not any("tcp" in option for option in options)
    if streams and (waited["collectives"] < 0.5e9 or by_place["collectives"] > 0.2 * waited["collectives"]):
        sys.exit(f"expected 8 MiB to take their time and nobody to be late, got {by_place} of {waited}")
    if "late were: receivers " not in summary:
        sys.exit(f"expected the summary to say who was late, got:\n{summary}")
    for one in report["mpi_calls"]["functions"]:
        if one["name"] == "MPI_Ssend" and not 4.8e9 < one["late_ps"] < 5.2e9:
            sys.exit(f"expected MPI_Ssend to have waited for a receiver that was late, got {one}")


def main():
    case, umwelt, np, *arguments = sys.argv[1:]
    end = arguments.index("--")
    {"counts": counts, "apart": apart, "deadlock": deadlock,
     "late": late}[case](umwelt, np, arguments[:end], arguments[end + 1:])


main()
