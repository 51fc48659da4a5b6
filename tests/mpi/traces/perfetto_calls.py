#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""perfetto_calls.py UMWELT PROTO NP PROGRAM [ARGUMENT...]: calls of MPI in a trace for Perfetto.

There are as many slices of each function as the report counts calls; every message has an arrow from where it is sent
to where it is received, and not backwards; links have counters; and simulated time is as without a trace.
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def run(umwelt, np, options, command, report):
    subprocess.run([umwelt, "run", "-q", "--cpu", "none", "--mpi-calls", "--report", report, "-np", np, *options,
                    *command], check=True, timeout=100, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return json.loads(report.read_text())


def main():
    umwelt, proto, np, *command = sys.argv[1:]
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        without = run(umwelt, np, [], command, work / "without.json")
        report = run(umwelt, np, ["--trace", work / "run.pftrace"], command, work / "with.json")
        if report["simulated_ps"] != without["simulated_ps"]:
            sys.exit(f"expected {without['simulated_ps']} ps, got {report['simulated_ps']}")
        path = pathlib.Path(proto)
        text = subprocess.run(["protoc", "--decode=umwelt.perfetto.Trace", f"-I{path.parent}", path.name],
                              input=(work / "run.pftrace").read_bytes(), capture_output=True,
                              check=True).stdout.decode()
    names, calls, arrows, counters = {}, collections.Counter(), collections.defaultdict(list), 0
    for packet in text.split("\npacket {"):
        for number, name in re.findall(r"event_names \{\s*iid: (\d+)\s*name: \"([^\"]*)\"", packet):
            names[number] = name
        name = re.search(r"name_iid: (\d+)\n    track_uuid|type: TYPE_SLICE_BEGIN\n    name_iid: (\d+)", packet)
        if "TYPE_SLICE_BEGIN" in packet and name:
            calls[names[name.group(1) or name.group(2)]] += 1
        if "TYPE_INSTANT" in packet:
            name = names[re.search(r"type: TYPE_INSTANT\n    name_iid: (\d+)", packet).group(1)]
            for flow in re.findall(r"flow_ids: (\d+)", packet):
                arrows[flow].append((int(re.search(r"timestamp: (\d+)", packet).group(1)), name))
        counters += "TYPE_COUNTER" in packet
    expected = {one["name"]: one["calls"] for one in report["mpi_calls"]["functions"]}
    got = {name: count for name, count in calls.items() if name.startswith("MPI_")}
    if got != expected:
        sys.exit(f"slices: expected {expected}, got {got}")
    messages = sum(one["messages"] for one in report["mpi_calls"]["messages"])
    if len(arrows) != messages:
        sys.exit(f"expected an arrow for each of {messages} messages, got {len(arrows)}")
    for ends in arrows.values():
        if sorted(name for _, name in ends) != ["receive", "send"] or dict((n, t) for t, n in ends)["send"] > dict(
                (n, t) for t, n in ends)["receive"]:
            sys.exit(f"expected an arrow from a send to a later receive, got {ends}")
    if counters == 0:
        sys.exit("expected counters of links, got none")


main()
