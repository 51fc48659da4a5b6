# SPDX-License-Identifier: LGPL-2.1-or-later
"""kill -9 of parts of a sweep that Slurm carries out, at random moments: slurmd, slurmctld, the collector, tasks,
points. Afterwards no point may be lost or counted twice, nothing that was committed may have run again, and the
results must be those of a sweep without Slurm and without faults. What Slurm leaves undone (a controller that was
killed may lose jobs) is said, and --resume has to complete it. A fault that came too late to hit anything is tried
again.

usage: faults.py [--times N] [--seed N] [PART...]
"""
from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

from cluster import Cluster, cluster, missing
from support import PACKAGE, STAND_IN

from sweep import schema
from sweep.store import Store

PARTS = ("slurmd", "slurmctld", "collector", "task", "point")
POINTS = 40
TRIES = 5
DESIGN = """\
program: ./app
arguments: "{size}"
factors: {size: [%s]}
run: {retries: 3, timeout: 60}
slurm: {tasks: 4, time: 10min, memory: 100MiB}
"""


class Fault:
    def __init__(self, one: Cluster, directory: pathlib.Path, drawer: random.Random) -> None:
        self._cluster = one
        self._drawer = drawer
        self.set_right = 0
        self.directory = directory
        self.store = Store(directory / "design.sweep")
        self.environment = {**one.environment, "STAND_IN_LOG": str(directory / "log"), "STAND_IN_SECONDS": "0.1"}
        sizes = ", ".join(str(size) for size in range(POINTS))
        (directory / "design.yaml").write_text(DESIGN % sizes, encoding="utf-8")
        program = directory / "app"
        program.write_text("#!/bin/sh\n", encoding="utf-8")
        program.chmod(0o755)

    def sweep(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-B", str(PACKAGE), str(STAND_IN), *words], cwd=self.directory,
                              env=self.environment, capture_output=True, text=True, check=False)  # fmt: skip

    def runs(self) -> int:
        with contextlib.suppress(FileNotFoundError):
            return len((self.directory / "log").read_text(encoding="utf-8").splitlines())
        return 0

    def processes(self, words: list[bytes]) -> list[int]:
        """Of this sweep, whose command lines have all these words."""
        found = []
        mark = f"STAND_IN_LOG={self.directory}/log".encode()
        for entry in pathlib.Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes():
                    line = (entry / "cmdline").read_bytes().split(b"\0")
                    if all(word in line for word in words):
                        found.append(int(entry.name))
        return found

    def strike(self, part: str) -> bool:
        """kill -9; False if there was nothing to kill any more, or nothing that was still to be done."""
        if part in ("slurmd", "slurmctld"):
            self._cluster.kill(part)
            struck = len(self.store.completed()) < POINTS
            time.sleep(self._drawer.random())
            self._cluster.start(part)
            return struck
        words = {"collector": [str(PACKAGE).encode(), b"_collect"], "task": [str(PACKAGE).encode(), b"_task"],
                 "point": [str(STAND_IN).encode(), b"run"]}[part]  # fmt: skip
        until = time.monotonic() + 60
        while time.monotonic() < until and self._busy():
            if found := self.processes(words):
                if self._kill(self._drawer.choice(found), words):
                    return True
            time.sleep(0.01)
        return False

    @staticmethod
    def _kill(number: int, words: list[bytes]) -> bool:
        """Only a process that is still what it was, which stands still while it is looked at."""
        with contextlib.suppress(OSError):
            os.kill(number, signal.SIGSTOP)
            until = time.monotonic() + 5
            while time.monotonic() < until:
                state = pathlib.Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
                if state in "TZX":
                    break
                time.sleep(0.001)
            line = pathlib.Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
            os.kill(number, signal.SIGKILL)
            return state == "T" and all(word in line for word in words)
        return False

    def repeated(self) -> dict[int, int]:
        """How often points ran more often than their known failures explain."""
        lines = (self.directory / "log").read_text(encoding="utf-8").splitlines()
        runs = Counter(int(line.split()[-1]) for line in lines)
        known = self.store.attempts()
        return {point: count for point, count in runs.items() if count > 1 + len(known.get(point, []))}

    def _busy(self) -> bool:
        done = subprocess.run(
            ["squeue", "--noheader"], env=self.environment, capture_output=True, text=True, check=False
        )
        return done.returncode != 0 or bool(done.stdout.strip())

    def wait_for_runs(self, count: int, patience: float = 600) -> None:
        """A controller killed before may have forgotten which numbers it has given to jobs: set right here, too."""
        until = time.monotonic() + patience
        look = time.monotonic() + 5
        while self.runs() < count:
            if time.monotonic() > until:
                raise AssertionError("Slurm begins no points")
            if time.monotonic() > look:
                self.set_right += self._cluster.set_right()
                look += 5
            time.sleep(0.02)

    def wait(self, patience: float = 600) -> None:
        until = time.monotonic() + patience
        while self._busy():
            if time.monotonic() > until:
                raise AssertionError("Slurm still has jobs")
            self.set_right += self._cluster.set_right()
            time.sleep(0.2)


def simulated(path: pathlib.Path) -> list[tuple]:
    with schema.results(path) as database:
        return list(database.execute("SELECT point, metric, value FROM results WHERE simulated ORDER BY 1, 2"))


def once(one: Cluster, part: str, drawer: random.Random, reference: list[tuple]) -> dict[str, object]:
    """One sweep with one fault; raises if anything is lost or repeated."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="umwelt-faults-"))
    try:
        fault = Fault(one, directory, drawer)
        started = fault.sweep("design.yaml", "--slurm")
        assert started.returncode == 0, started.stderr
        if part != "collector":
            after = drawer.randint(1, POINTS - 8)
            fault.wait_for_runs(after)
        struck = fault.strike(part)
        before = {number: path.stat().st_ino for number, path in fault.store.results()}
        fault.wait()
        submissions = 2 * len(list((fault.store.path / "slurm").glob("[0-9].json")))
        after_slurm = {number: path.stat().st_ino for number, path in fault.store.results()}
        runs_before = fault.runs()
        resumed = fault.sweep("--resume", "design.sweep", "--jobs", "2")
        assert resumed.returncode == 0, resumed.stdout + resumed.stderr
        now = {number: path.stat().st_ino for number, path in fault.store.results()}
        assert before.items() <= after_slurm.items() <= now.items(), "a committed result was replaced"
        assert set(now) == set(range(POINTS)), "points are lost"
        failures = sum(len(entries) for entries in fault.store.attempts().values())
        # Every run that was begun is a result or a known failure.
        assert 0 <= fault.runs() - POINTS <= failures, (fault.runs(), failures)
        assert not fault.repeated(), f"points ran again: {fault.repeated()}"
        left, ran = POINTS - len(after_slurm), fault.runs() - runs_before
        assert ran == left, f"--resume ran {ran} points, and {left} were missing"
        assert simulated(fault.store.path) == reference, "results differ"
        return {"struck": struck, "runs": fault.runs(), "failures": failures, "submissions": submissions,
                "left_for_resume": left, "set_right": fault.set_right}  # fmt: skip
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def until_struck(one: Cluster, part: str, drawer: random.Random, reference: list[tuple]) -> dict[str, object]:
    """A fault that hit nothing tells nothing: another moment."""
    for _ in range(TRIES):
        found = once(one, part, drawer, reference)
        one.wait_until_up()
        if found["struck"]:
            return found
        print(f"{part}: nothing was there to be hit any more: again", flush=True)
    raise AssertionError(f"nothing was hit in {TRIES} sweeps")


def without_slurm(one: Cluster) -> list[tuple]:
    directory = pathlib.Path(tempfile.mkdtemp(prefix="umwelt-faults-"))
    try:
        fault = Fault(one, directory, random.Random(0))
        fault.environment["STAND_IN_SECONDS"] = "0"
        done = fault.sweep("design.yaml", "--jobs", "2")
        assert done.returncode == 0, done.stderr
        return simulated(fault.store.path)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("part", nargs="*", choices=(*PARTS, []), default=[])
    given = parser.parse_args()
    if why := missing():
        print(f"skipped: {why}")
        return 77
    drawer = random.Random(given.seed)
    wrong = 0
    with cluster() as one:
        reference = without_slurm(one)
        for part in given.part or PARTS:
            counts: list[dict[str, object]] = []
            for number in range(given.times):
                try:
                    counts.append(until_struck(one, part, drawer, reference))
                    if left := counts[-1]["left_for_resume"]:
                        text = f"Slurm left {left} of {POINTS} points; --resume completed them"
                        print(f"{part} {number}: {text}", flush=True)
                except AssertionError as error:
                    wrong += 1
                    print(f"{part} {number}: {error}", flush=True)
                    one.wait_until_up()
            sums = {key: sum(int(entry[key]) for entry in counts) for key in counts[0]} if counts else {}
            print(f"{part}: {json.dumps(sums)} in {len(counts)} of {given.times}", flush=True)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
