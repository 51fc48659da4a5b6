# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long a sweep takes and how much memory it needs, from some first runs, which are no results: points with the same
program and the same number of ranks are of one kind, and of each kind those run where the numbers of the design are
lowest and highest. What lies between them is interpolated."""
from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import itertools
import os
import pathlib
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from . import sweeps
from .commit import read_json
from .errors import INCOMPLETE, OK, SweepError, plural
from .execution import told
from .known import Umwelt
from .quantities import shown_bytes, shown_seconds
from .store import Planned, Store
from .worker import Worker

MOST_RUNS = 8
PATIENCE = 60.0  # seconds in first runs, after which no other one begins
_OWNER = "owner"


@contextlib.contextmanager
def _scratch() -> Iterator[pathlib.Path]:
    """A directory that is gone afterwards. If this process is killed, the next sweep takes it away: nobody holds the
    lock of the file in it then."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="umwelt-sweep-"))
    try:
        with open(directory / ".owner", "w", encoding="utf-8") as owner:
            fcntl.flock(owner, fcntl.LOCK_EX)
            (directory / ".owner").rename(directory / _OWNER)  # with its lock
            yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def tidy() -> None:
    """Takes away what killed sweeps left (_scratch)."""
    for directory in pathlib.Path(tempfile.gettempdir()).glob("umwelt-sweep-*"):
        with contextlib.suppress(OSError):
            if directory.stat().st_uid != os.getuid():
                continue
            with open(directory / _OWNER, "r+", encoding="utf-8") as owner:
                fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(directory, ignore_errors=True)


Kind = tuple[str, str]  # ranks, program


@dataclasses.dataclass
class _Row:
    """Points that differ by their replicate only, and their place among all rows: each number as its share of the way
    from the lowest to the highest."""

    point: int  # one of them
    count: int
    kind: Kind
    numbers: tuple[float | None, ...]
    place: tuple[float, ...] = ()

    def distance(self, place: tuple[float, ...]) -> float:
        return sum(abs(one - other) for one, other in zip(self.place, place))


@dataclasses.dataclass
class _Run:
    row: _Row
    point: Planned
    seconds: float | None  # nothing if that tells nothing of others
    memory: int
    failed: str


def _kind(words: list[str], takes: dict[str, int]) -> Kind:
    """By the options of `umwelt run`; those behind them are the program's own."""
    ranks, at = "1", 0
    while at < len(words) and words[at].startswith("-"):
        name, equal, value = words[at].lstrip("-").partition("=")
        if name in ("np", "n", "c"):
            ranks = value if equal else words[at + 1]
        at += 1 if equal else 1 + takes.get(name, 1)
    return ranks, words[at] if at < len(words) else ""


def _ranks(kind: Kind) -> float:
    return float(kind[0]) if kind[0].isdigit() else 0.0


def _rows(store: Store, umwelt: Umwelt, points: list[int] | None) -> list[_Row]:
    names = [factor["name"] for factor in store.meta["factors"] if not factor["follows"]]
    rows: dict[int, _Row] = {}
    for point in store.points(points):
        if point.row in rows:
            rows[point.row].count += 1
        else:
            kind = _kind(point.arguments, umwelt.options)
            numbers = (_ranks(kind), *(point.numbers.get(name) for name in names))
            rows[point.row] = _Row(point.number, 1, kind, numbers)
    found = sorted(rows.values(), key=lambda row: row.point)
    limits = []
    for values in zip(*(row.numbers for row in found)):
        known = [value for value in values if value is not None]
        limits.append((min(known), max(known)) if len(known) == len(values) and len(set(known)) > 1 else None)
    for row in found:
        row.place = tuple(
            ((value or 0.0) - limit[0]) / (limit[1] - limit[0])
            for value, limit in zip(row.numbers, limits)
            if limit is not None
        )
    return found


def _corners(rows: list[_Row]) -> list[_Row]:
    """Of one kind, without repetition: where all numbers are lowest, where they are highest, where one of them is."""
    size = len(rows[0].place)
    low = tuple(min(row.place[at] for row in rows) for at in range(size))
    high = tuple(max(row.place[at] for row in rows) for at in range(size))
    varied = [at for at in range(size) if high[at] > low[at]]
    places = [low, high]
    if len(varied) > 1:
        places += [tuple(high[at] if at == one else low[at] for at in range(size)) for one in varied]
    chosen = {id(row): row for row in (min(rows, key=lambda row: row.distance(place)) for place in places)}
    return list(chosen.values())


def _chosen(rows: list[_Row]) -> list[_Row]:
    """Those of which one point is run first: of many kinds some, from the smallest to the largest."""
    kinds: dict[Kind, list[_Row]] = {}
    for row in rows:
        kinds.setdefault(row.kind, []).append(row)
    corners = [_corners(kinds[kind]) for kind in sorted(kinds, key=lambda kind: (_ranks(kind), kind))]
    most = MOST_RUNS if all(len(one) == 1 for one in corners) else MOST_RUNS // 2
    if len(corners) > most:
        corners = [corners[round(at * (len(corners) - 1) / (most - 1))] for at in range(most)]
    turns = [row for turn in itertools.zip_longest(*corners) for row in turn if row is not None][:MOST_RUNS]
    turns.sort(key=lambda row: (_ranks(row.kind), row.kind, row.place))
    return turns[-1:] + turns[:-1]  # the largest alone tells what is enough for all


def _while_patient(points: Iterator[Planned]) -> Iterator[Planned]:
    began = time.monotonic()
    for at, point in enumerate(points):
        if at > 0 and time.monotonic() - began > PATIENCE:
            return
        yield point


def _runs(store: Store, umwelt: Umwelt, rows: list[_Row], image: dict[str, str] | None) -> list[_Run]:
    """One point of each row, one after the other, in a store of their own; the first ones if they take long."""
    if image and shutil.which("apptainer") is None:
        raise SweepError(
            "first runs", "apptainer in PATH, for `image:`", "none", "say `slurm: {tasks: , time: , memory: }`"
        )
    planned = {point.number: point for point in store.points([row.point for row in rows])}
    with _scratch() as directory:
        trial = Store(directory / "trial")
        points = (dataclasses.replace(planned[row.point], position=at) for at, row in enumerate(rows))
        trial.create({**store.meta, "run": {**store.meta["run"], "retries": 0, "keep": []}}, points)
        counted = itertools.count(1)

        def show(point: Planned, kind: str) -> None:
            if sys.stderr.isatty():
                print(f"\r\033[Kfirst run {next(counted)} of {len(rows)}: {kind}", end="", file=sys.stderr)

        try:
            Worker(trial, umwelt.path, told=show, image=image).run(_while_patient(trial.points()), 1)
        finally:
            if sys.stderr.isatty():
                print("\r\033[K", end="", file=sys.stderr)
        results = {number: read_json(path) for number, path in trial.results()}
        failures = {number: entries[-1] for number, entries in trial.attempts().items()}
    found = []
    for row in (row for row in rows if row.point in results or row.point in failures):
        entry = results.get(row.point) or failures.get(row.point) or {}
        own = entry.get("host_metrics", {})
        kind = entry.get("kind", "")
        failed = f"{kind}: {told(entry.get('errors') or '') or entry.get('reason')}" if kind else ""
        # What came to a limit takes at least that much; other failures tell nothing of how long it takes.
        seconds = own.get("wall_s") if kind in ("", "timeout", "memory") else None
        found.append(_Run(row, planned[row.point], seconds, own.get("memory", 0), failed))
    return found


class Estimate:
    """From first runs of some of these points (all without any numbers)."""

    def __init__(
        self, store: Store, umwelt: Umwelt, points: list[int] | None, image: dict[str, str] | None = None
    ) -> None:
        rows = _rows(store, umwelt, points)
        self.counts: dict[Kind, int] = {}
        for row in rows:
            self.counts[row.kind] = self.counts.get(row.kind, 0) + row.count
        chosen = _chosen(rows)
        self.runs = _runs(store, umwelt, chosen, image)
        self.left_out = len(chosen) - len(self.runs)  # first runs that did not begin
        tried = {run.row.kind for run in self.runs}
        self.untried = {kind: count for kind, count in self.counts.items() if kind not in tried}
        self._good = [run for run in self.runs if run.seconds is not None]
        self.known = bool(self._good)
        times = [(self._seconds(row), row.count) for row in rows] if self.known else []
        self.seconds = sum(time * count for time, count in times)  # of all points
        self.mean = self.seconds / max(sum(count for _, count in times), 1)
        self.longest = max((time for time, _ in times), default=0.0)
        self.memory = max((run.memory for run in self._good), default=0)

    def _seconds(self, row: _Row) -> float:
        """The mean of runs of its kind, each by how near it is: between two that is what a straight line tells."""
        near = [run for run in self._good if run.row.kind == row.kind]
        near = near or [run for run in self._good if run.row.kind[1] == row.kind[1]] or self._good
        weights = [1 / max(row.distance(run.row.place), 1e-9) for run in near]
        return sum(weight * (run.seconds or 0.0) for weight, run in zip(weights, near)) / sum(weights)


def first_runs(store: Store, umwelt: Umwelt, numbers: list[int], image: dict[str, str] | None) -> dict[str, Any]:
    """For a submission: seconds of a point on average and at most, the most memory."""
    found = Estimate(store, umwelt, numbers, image)
    for run in found.runs:
        if run.failed:
            print(f"umwelt sweep: warning: first run of point {run.point.number}: {run.failed}", file=sys.stderr)
    return {"seconds": found.mean, "longest": found.longest, "memory": int(found.memory), "runs": len(found.runs)}


def dry_run(path: pathlib.Path, umwelt: Umwelt, jobs: int | None, first: bool, slurm: bool) -> int:
    with _scratch() as directory:
        store = Store(directory / "plan")
        try:
            sweeps.begin(sweeps.examine(path, umwelt), store, umwelt)
        except sqlite3.Error as error:
            raise SweepError(str(directory), "room for the plan", str(error), code=125) from None
        return _tell(store, umwelt, jobs, first, slurm, None)


def dry_resume(store: Store, umwelt: Umwelt, jobs: int | None, first: bool, slurm: bool, again: bool) -> int:
    """The same of what is missing in a sweep that was begun."""
    missing, failed = store.remaining()
    points = missing + failed if again else missing
    print(
        f"{store.path}: {plural(len(missing), 'point')} of {len(store.numbers()):,} missing"
        + (f", {len(failed):,} failed{', which run again' if again else ''}" if failed else "")
    )
    return _tell(store, umwelt, jobs, first, slurm, points) if points else OK


def _tell(store: Store, umwelt: Umwelt, jobs: int | None, first: bool, slurm: bool, points: list[int] | None) -> int:
    meta = store.meta
    jobs = jobs or meta["run"]["jobs"]
    numbers = store.numbers() if points is None else points
    if points is None:
        rows = len(numbers) // meta["replicates"]
        print(
            f"{meta['name']}: {plural(len(numbers), 'run')}: {plural(rows, 'row')} of a {meta['kind']} design, "
            f"{plural(meta['replicates'], 'replicate')} of each, {'random' if meta['shuffled'] else 'given'} order"
        )
    point = next(store.points(points))
    print("  the first: " + " ".join(["umwelt run", *point.arguments]))
    if not first:
        return OK
    from . import slurm as by_slurm

    found = Estimate(store, umwelt, points, by_slurm.image_of(store) if slurm else None)
    print("  ranks   points  first run    memory  at")
    shown: set[Kind] = set()
    for run in found.runs:
        kind = run.row.kind
        head = f"  {kind[0]:>5} {'' if kind in shown else format(found.counts[kind], ','):>8}"
        shown.add(kind)
        at = ", ".join(f"{name} {text}" for name, text in run.point.levels.items())
        if run.failed:
            print(f"{head}  failed: {run.failed[:160]}  {at}")
        else:
            print(f"{head} {shown_seconds(run.seconds or 0.0):>10} {shown_bytes(run.memory):>9}  {at}")
    if found.left_out:
        print(f"  {plural(found.left_out, 'first run')} left out: those before took longer than {PATIENCE:g} s")
    if found.untried:
        names = ", ".join(f"{kind[0]} ({count:,} points)" for kind, count in sorted(found.untried.items()))
        print(f"  not tried, but estimated from these: ranks {names}")
    if found.known:
        total = shown_seconds(max(found.seconds / jobs, found.longest))
        print(
            f"  in all about {total} with --jobs {jobs}, {shown_bytes(found.memory * jobs)} of memory, estimated from "
            f"{plural(sum(run.seconds is not None for run in found.runs), 'first run')}; points between them in "
            f"proportion, the longest {shown_seconds(found.longest)}"
        )
    if slurm and found.known:
        guess = {"seconds": found.mean, "longest": found.longest, "memory": found.memory}
        count, seconds, memory = by_slurm.needs(store, numbers, guess, most=1000)
        print(f"  by Slurm: {plural(count, 'task')}, each of {shown_seconds(seconds)} at most, {shown_bytes(memory)}")
    return OK if found.known and not any(run.failed for run in found.runs) else INCOMPLETE
