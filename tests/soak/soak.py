#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Test programs in random order, with and without random faults, for as long as one likes.

Most rounds run one test of ctest as it is. The others start one of the MPI test programs with random options and let
something happen to it at a random moment: kill -9 of the runtime, of a worker process or of the janitor, Ctrl-C,
SIGTERM, or a disk that is full from the beginning. Whatever happens, the run has to end within minutes with an exit
code that stands for it, and nothing may be left: no process, no temporary file, nothing in /dev/shm. Ctrl-C ends it,
and it says what it has done so far.
"""
import argparse
import collections
import dataclasses
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

ENDS_WITHIN = 300.0  # seconds; some take 10 where nothing else runs
GONE_WITHIN = 15.0
PROGRAMS = ["p2p_sendrecv", "coll_data", "coll_reduce", "rma_fence", "rma_lock", "comm_split", "io_basic"]
WAYS = [
    [],
    ["--cpu", "none"],
    ["--workers", "2"],
    ["--workers", "3", "--cpu", "none"],
    ["-N", "2"],
    ["-N", "2", "--workers", "2"],
    ["--mca", "pml", "cm", "--mca", "mtl", "portals4"],
    ["--report", "REPORT"],
    ["--trace", "TRACE.csv"],
]


@dataclasses.dataclass
class Result:
    good: bool
    what: str
    output: str = ""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, metavar="BUILD", help="directory of a build, such as build/release")
    parser.add_argument("--hours", type=float, default=8.0, help="how long (default: 8)")
    parser.add_argument("--seed", type=int, default=None, help="of all that is random (default: the time)")
    parser.add_argument("--faults", type=float, default=0.5, help="share of the rounds with a fault (default: 0.5)")
    parser.add_argument("--tests", default=".", metavar="REGEX", help="only these tests of ctest (default: all)")
    return parser.parse_args()


def tests_of(build: pathlib.Path, regex: str) -> list[str]:
    listing = subprocess.run(
        ["ctest", "--test-dir", build, "--show-only=json-v1", "-R", regex], capture_output=True, text=True, check=True
    )
    return [test["name"] for test in json.loads(listing.stdout)["tests"]]


def run_test(build: pathlib.Path, name: str) -> Result:
    escaped = "".join(c if c.isalnum() or c in "_-" else f"[{c}]" for c in name)
    done = subprocess.run(
        ["ctest", "--test-dir", build, "-R", f"^{escaped}$", "--timeout", "900", "--output-on-failure"],
        capture_output=True,
        text=True,
    )
    return Result(done.returncode == 0, f"test {name}", done.stdout[-4000:])


class Job:
    """A run whose processes are known by a variable in their environment, with a TMPDIR of its own."""

    def __init__(self, command: list[str], work: pathlib.Path, tmp: pathlib.Path):
        self.mark = f"UMWELT_TEST_MARK={work}"
        self.tmp = tmp
        self.shared = set(os.listdir("/dev/shm"))
        self.log = open(work / "log", "wb+")
        environment = os.environ | {"TMPDIR": str(tmp), "UMWELT_TEST_MARK": str(work)}
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, env=environment, cwd=work
        )

    def processes(self) -> dict[int, str]:
        found = {}
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                if self.mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                    if (entry / "stat").read_text().rsplit(")", 1)[1].split()[0] != "Z":
                        found[int(entry.name)] = (entry / "comm").read_text().strip()
            except OSError:  # it has ended meanwhile
                pass
        return found

    def left(self) -> list[str]:
        files = [str(path) for path in self.tmp.iterdir()]
        shared = [f"/dev/shm/{name}" for name in set(os.listdir("/dev/shm")) - self.shared if "umwelt" in name]
        return [f"{name} (pid {pid})" for pid, name in self.processes().items()] + files + shared

    def output(self) -> str:
        self.log.seek(0)
        return self.log.read()[-4000:].decode(errors="replace")

    def end(self) -> None:
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.process.wait()
        self.log.close()


def victims(job: Job, fault: str) -> list[int]:
    if fault in ("kill runtime", "SIGINT", "SIGTERM"):
        return [job.process.pid]
    name = {"kill worker": "umwelt-worker", "kill janitor": "umwelt-janitor"}[fault]
    return [pid for pid, comm in job.processes().items() if comm.startswith(name)]


# What a run may end with; 0: it was over before.
CODES = {
    "kill runtime": {0, -signal.SIGKILL},
    "kill worker": {0, 137},
    "kill janitor": {0},
    "SIGINT": {0, 130, -signal.SIGINT},  # of the signal itself: before the run began, or when it was over
    "SIGTERM": {0, 143, -signal.SIGTERM},
    "full disk": set(range(1, 128)) | {128 + signal.SIGBUS},  # memory of the node lies there: as with a full /dev/shm
}


def check_end(job: Job, fault: str) -> str:
    """What is wrong; empty: nothing."""
    try:
        code = job.process.wait(ENDS_WITHIN)
    except subprocess.TimeoutExpired:
        return f"expected it to end within {ENDS_WITHIN:.0f} s"
    until = time.monotonic() + GONE_WITHIN
    while (left := job.left()) and time.monotonic() < until:
        time.sleep(0.1)
    if left:
        return f"expected nothing to be left, got {', '.join(left)}"
    if code not in CODES[fault]:
        return f"exit code {code}, expected one of {sorted(CODES[fault])}"
    return ""


def full_disk(tmp: pathlib.Path) -> bool:
    """A file system with hardly any room; False: this user cannot mount one."""
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp], capture_output=True)
    return mount.returncode == 0


def run_fault(build: pathlib.Path, chance: random.Random, fault: str) -> Result | None:
    """None: this fault cannot be had here."""
    work = pathlib.Path(tempfile.mkdtemp(prefix="umwelt-soak-"))
    tmp = work / "tmp"
    tmp.mkdir()
    ranks = chance.choice([2, 3, 4, 7, 8, 15])
    way = [str(work / word) if word in ("REPORT", "TRACE.csv") else word for word in chance.choice(WAYS)]
    if fault == "kill worker" and "--workers" not in way:
        way += ["--workers", "2"]
    program = chance.choice(PROGRAMS)
    command = [str(build / "bin/umwelt"), "run", "-q", "-np", str(ranks), *way, str(build / "tests/mpi/bin" / program)]
    delay = chance.uniform(0.0, 2.0)
    what = f"{fault} after {delay:.3f} s: {' '.join(command)}"
    mounted = False
    try:
        if fault == "full disk":
            mounted = full_disk(tmp)
            if not mounted:
                return None
        job = Job(command, work, tmp)
        try:
            if fault != "full disk":
                time.sleep(delay)
                chosen = victims(job, fault)
                if chosen and job.process.poll() is None:
                    number = signal.SIGKILL if fault.startswith("kill") else signal.Signals[fault]
                    try:
                        os.kill(chance.choice(chosen), number)
                    except ProcessLookupError:
                        pass
            wrong = check_end(job, fault)
            return Result(not wrong, what, f"{wrong}\n{job.output()}")
        finally:
            job.end()
    finally:
        if mounted:
            subprocess.run(["umount", "-l", tmp], check=False)
        shutil.rmtree(work, ignore_errors=True)


def main() -> int:
    options = arguments()
    umwelt = options.build / "bin/umwelt"
    if not umwelt.is_file():
        print(
            f"soak.py: expected a build with bin/umwelt, got {options.build}. Next step: cmake --build", file=sys.stderr
        )
        return 2
    options.build = options.build.resolve()
    seed = options.seed if options.seed is not None else int(time.time())
    chance = random.Random(seed)
    tests = tests_of(options.build, options.tests)
    if not tests and options.faults < 1:
        print(f"soak.py: expected tests that match {options.tests!r}, got none", file=sys.stderr)
        return 2
    print(f"seed {seed}, {len(tests)} tests, {options.hours} hours", flush=True)
    until = time.monotonic() + options.hours * 3600
    rounds: collections.Counter[str] = collections.Counter()
    failed = 0
    stopped = False
    try:
        while time.monotonic() < until:
            kind = chance.choice(sorted(CODES)) if chance.random() < options.faults else "test"
            if kind == "test":
                result = run_test(options.build, chance.choice(tests))
            else:
                result = run_fault(options.build, chance, kind)
            if result is None:
                rounds[f"{kind} (not possible here)"] += 1
                continue
            rounds[kind] += 1
            if not result.good:
                failed += 1
                print(f"FAILED: round {rounds.total()}, {result.what}\n{result.output}", flush=True)
    except KeyboardInterrupt:
        stopped = True
    print(", ".join(f"{count} {kind}" for kind, count in sorted(rounds.items())))
    print(f"{rounds.total()} rounds, {failed} failed{', stopped' if stopped else ''}")
    return 1 if failed or not rounds else 130 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
