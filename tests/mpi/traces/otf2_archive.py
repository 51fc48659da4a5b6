#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""otf2_archive.py UMWELT NP [OPTION...] -- PROGRAM [ARGUMENT...]: what an OTF2 archive of a run says.

Regions are entered and left in turns; every send has its receive; calls, messages and bytes are those of the report;
the run takes the same simulated time and prints the same as without a trace; and archives of two runs, of another in
worker processes, too, are the same to the byte. Ends with 77 if python3-otf2 is not installed.
"""
import collections
import filecmp
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


def fail(text):
    sys.exit(f"FAILED: {text}")


def run(umwelt, np, options, command, report):
    done = subprocess.run([umwelt, "run", "-q", "--cpu", "none", "--mpi-calls", "--report", report, "-np", np, *options,
                           *command], capture_output=True, text=True, timeout=190, stdin=subprocess.DEVNULL,
                          check=False)
    if done.returncode != 0:
        fail(f"expected exit code 0, got {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(report.read_text()), sorted(done.stdout.splitlines())


def equal(what, expected, got):
    if expected != got:
        lost = {key: value for key, value in expected.items() if got.get(key) != value}
        more = {key: value for key, value in got.items() if expected.get(key) != value}
        fail(f"{what}: expected {lost}, got {more}")


class Archive:
    """What there is of it, counted."""

    def __init__(self, path):
        self.calls = collections.Counter()
        self.bytes_of_collectives = collections.Counter()
        self.sent, self.received = collections.Counter(), collections.Counter()  # by communicator, ranks, tag, bytes
        self.messages = collections.defaultdict(lambda: (0, 0))
        self.begun, self.ended, self.cancelled = set(), set(), 0
        self.accesses = collections.Counter()
        self.moved = collections.Counter()
        self.metrics = 0
        self.stacks = collections.defaultdict(list)
        self.last = collections.defaultdict(int)
        self.kinds = collections.Counter()
        with otf2.reader.open(str(path)) as trace:
            if trace.definitions.clock_properties.timer_resolution != 10 ** 12:
                fail("expected picoseconds")
            self.locations = len(trace.definitions.locations)
            for location, event in trace.events:
                self.take(location, event)
        if any(self.stacks.values()):
            fail(f"regions that are not left: {self.stacks}")

    @staticmethod
    def members(communicator, location):
        if hasattr(communicator, "group"):
            return communicator.group.members, communicator.group.members
        sides = communicator.group_a.members, communicator.group_b.members
        own = 0 if location in sides[0] else 1
        return sides[own], sides[1 - own]

    def take(self, location, event):
        self.kinds[type(event).__name__] += 1
        if event.time < self.last[location]:
            fail(f"{location}: time goes back to {event.time}")
        self.last[location] = event.time
        stack = self.stacks[location]
        kind = type(event)
        if kind is events.Enter:
            stack.append(event.region)
            self.calls[event.region.name] += 1
        elif kind is events.Leave:
            if not stack or stack.pop() is not event.region:
                fail(f"{location} leaves {event.region.name}, which it is not in")
        elif kind in (events.MpiSend, events.MpiIsend):
            _, others = self.members(event.communicator, location)
            to = others[event.receiver]
            self.sent[event.communicator.name, location.group.name, to.group.name, event.msg_tag, event.msg_length] += 1
            pair = location.group.name, to.group.name
            count, size = self.messages[pair]
            self.messages[pair] = (count + 1, size + event.msg_length)
            if kind is events.MpiIsend:
                self.begun.add((location.group.name, event.request_id))
        elif kind in (events.MpiRecv, events.MpiIrecv):
            _, others = self.members(event.communicator, location)
            whose = others[event.sender]
            self.received[event.communicator.name, whose.group.name, location.group.name, event.msg_tag,
                          event.msg_length] += 1
            if kind is events.MpiIrecv:
                self.ended.add((location.group.name, event.request_id))
        elif kind is events.MpiIrecvRequest:
            self.begun.add((location.group.name, event.request_id))
        elif kind is events.MpiIsendComplete:
            self.ended.add((location.group.name, event.request_id))
        elif kind is events.MpiRequestCancelled:
            self.cancelled += 1
            self.ended.add((location.group.name, event.request_id))
        elif kind is events.MpiCollectiveEnd:
            self.bytes_of_collectives[stack[-1].name] += event.size_sent
        elif kind is events.Metric:
            self.metrics += 1
        elif kind is events.IoOperationComplete:
            self.moved["operations"] += 1
            self.moved["bytes"] += event.bytes_result
        elif kind in (events.RmaPut, events.RmaGet, events.RmaAtomic):
            self.accesses[kind.__name__] += 1


def compare(archive, report):
    calls = report["mpi_calls"]
    equal("calls", {one["name"]: one["calls"] for one in calls["functions"]}, dict(archive.calls))
    expected = {(f"rank {one['from']}", f"rank {one['to']}"): (one["messages"], one["bytes"])
                for one in calls["messages"] if one["to"] >= 0}
    equal("messages", expected, dict(archive.messages))
    sizes = {one["name"]: one["bytes"] for one in calls["functions"]}
    equal("bytes of collectives", {name: sizes[name] for name in archive.bytes_of_collectives},
          dict(archive.bytes_of_collectives))
    if archive.cancelled == 0:
        equal("receives", dict(archive.sent), dict(archive.received))
        freed = archive.calls["MPI_Request_free"] > 0  # nobody hears of their ends
        if not archive.ended <= archive.begun or (archive.begun != archive.ended and not freed):
            fail(f"requests: begun {archive.begun - archive.ended}, ended {archive.ended - archive.begun}")
    if archive.metrics == 0:
        fail("expected metrics of NICs, got none")


def same_files(first, second, but):
    names = sorted(path.relative_to(first) for path in first.rglob("*"))
    others = sorted(path.relative_to(second) for path in second.rglob("*"))
    if names != others:
        fail(f"expected {names}, got {others}")
    for name in names:
        if name.name in but or not (first / name).is_file():
            continue
        if not filecmp.cmp(first / name, second / name, shallow=False):
            fail(f"{name} differs between two runs")


def main():
    umwelt, np, *arguments = sys.argv[1:]
    end = arguments.index("--")
    options, command = arguments[:end], arguments[end + 1:]
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        without, output = run(umwelt, np, options, command, work / "without.json")
        for name, more in ("first", []), ("second", []), ("workers", ["--workers", "2"]):
            (work / name).mkdir()
            report, text = run(umwelt, np, [*options, *more, "--trace", work / name / "run.otf2"], command,
                               work / f"{name}.json")
            if text != output:
                fail(f"{name}: expected the output of a run without a trace, got:\n{text}")
            if report["simulated_ps"] != without["simulated_ps"]:
                fail(f"{name}: expected {without['simulated_ps']} ps, got {report['simulated_ps']}")
            left = [path.name for path in (work / name).iterdir() if path.name not in ("run", "run.otf2", "run.def")]
            if left:
                fail(f"{name}: left behind: {left}")
        archive = Archive(work / "first" / "run.otf2")
        # Paths below the directory of a run have another name in each.
        but = ("run.def", "run.otf2") if archive.moved else ()
        for name in "second", "workers":
            same_files(work / "first", work / name, but)
        compare(archive, report)
        printed = subprocess.run(["otf2-print", work / "first" / "run.otf2"], capture_output=True, text=True,
                                 check=False)
        if printed.returncode != 0 or printed.stderr:
            fail(f"otf2-print: expected no error, got {printed.returncode}: {printed.stderr}")
        print(dict(archive.kinds))


main()
