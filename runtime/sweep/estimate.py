# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long a sweep takes and how much memory it needs, from a first run of each kind: points with the same program and
the same number of ranks are of one kind. These runs are no results."""
from __future__ import annotations

import contextlib
import pathlib
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from typing import Any

from . import sweeps
from .commit import read_json
from .errors import INCOMPLETE, OK, SweepError, plural
from .known import Umwelt
from .quantities import shown_bytes, shown_seconds
from .store import Planned, Store
from .worker import Worker

MOST_KINDS = 6


def _kind(point: Planned) -> str:
    ranks = [point.arguments[at + 1] for at, word in enumerate(point.arguments[:-1]) if word in ("-np", "-n", "-c")]
    return ranks[0] if ranks else "1"


def _chosen(points: Iterator[Planned]) -> tuple[dict[str, Planned], dict[str, int]]:
    """The first point of each kind, and how many there are of it."""
    first: dict[str, Planned] = {}
    count: dict[str, int] = {}
    for point in points:
        first.setdefault(_kind(point), point)
        count[_kind(point)] = count.get(_kind(point), 0) + 1
    return first, count


@contextlib.contextmanager
def _runs(store: Store, umwelt: Umwelt, points: list[Planned]) -> Iterator[dict[int, dict[str, Any]]]:
    """Results of points, in a store of their own that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="umwelt-sweep-") as directory:
        trial = Store(pathlib.Path(directory) / "trial")
        trial.create(
            {
                **store.meta,
                "run": {**store.meta["run"], "retries": 0, "keep": []},
                "slurm": {**store.meta["slurm"], "image": None},
            },
            iter(points),
        )
        Worker(trial, umwelt.path).run(trial.points(), 1)
        found = {number: read_json(path) for number, path in trial.results()}
        for number, failures in trial.attempts().items():
            found[number] = failures[-1]
        yield found


def measure(store: Store, umwelt: Umwelt, numbers: list[int] | None) -> list[dict[str, Any]]:
    """Of each kind: ranks, points, seconds and bytes of its first run, or why it failed. Of many kinds some are run,
    from the smallest to the largest; the others count as the next one that was."""
    first, count = _chosen(store.points(numbers))
    kinds = sorted(first, key=lambda kind: (len(kind), kind))
    step = max(1, (len(kinds) - 1) / (MOST_KINDS - 1)) if len(kinds) > 1 else 1
    run = sorted({min(len(kinds) - 1, round(index * step)) for index in range(min(MOST_KINDS, len(kinds)))})
    table = []
    with _runs(store, umwelt, [first[kinds[index]] for index in run]) as results:
        for index, kind in enumerate(kinds):
            nearest = next((one for one in run if one >= index), run[-1])
            result = results.get(first[kinds[nearest]].number, {})
            own = result.get("host_metrics", {})
            table.append(
                {
                    "ranks": kind,
                    "points": count[kind],
                    "measured": nearest == index,
                    "seconds": own.get("wall_s"),
                    "memory": own.get("memory"),
                    "failed": f"{result['kind']}: {result.get('errors') or result.get('reason')}"
                    if "kind" in result
                    else None,
                }
            )
    return table


def first_runs(store: Store, umwelt: Umwelt, numbers: list[int]) -> dict[str, Any]:
    """For a submission: seconds of a point on average, the most memory."""
    table = [entry for entry in measure(store, umwelt, numbers) if entry["seconds"] is not None]
    total = sum(entry["points"] for entry in table)
    return {
        "seconds": sum(entry["seconds"] * entry["points"] for entry in table) / max(total, 1),
        "memory": int(max((entry["memory"] for entry in table), default=0)),
    }


def dry_run(path: pathlib.Path, umwelt: Umwelt, jobs: int | None, first: bool) -> int:
    directory = pathlib.Path(tempfile.mkdtemp(prefix="umwelt-sweep-"))
    try:
        store = Store(directory / "plan")
        sweeps.begin(sweeps.examine(path, umwelt), store, umwelt)
        return _tell(store, umwelt, jobs or store.meta["run"]["jobs"], first)
    except sqlite3.Error as error:
        raise SweepError(str(directory), "room for the plan", str(error), code=125) from None
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _tell(store: Store, umwelt: Umwelt, jobs: int, first: bool) -> int:
    meta = store.meta
    count = len(store.numbers())
    rows = count // meta["replicates"]
    print(
        f"{meta['name']}: {plural(count, 'run')}: {plural(rows, 'row')} of a {meta['kind']} design, "
        f"{plural(meta['replicates'], 'replicate')} of each, {'random' if meta['shuffled'] else 'given'} order"
    )
    point = next(store.points())
    print("  the first: " + " ".join(["umwelt run", *point.arguments]))
    if not first:
        return OK
    table = measure(store, umwelt, None)
    print("  ranks   points  first run    memory")
    for entry in table:
        if entry["failed"]:
            print(f"  {entry['ranks']:>5} {entry['points']:8,}  failed: {entry['failed'].splitlines()[0]}")
        else:
            print(
                f"  {entry['ranks']:>5} {entry['points']:8,} {shown_seconds(entry['seconds']):>10} "
                f"{shown_bytes(entry['memory']):>9}{'' if entry['measured'] else '  (as the next)'}"
            )
    good = [entry for entry in table if entry["seconds"] is not None and not entry["failed"]]
    if good:
        total = sum(entry["seconds"] * entry["points"] for entry in good)
        print(
            f"  in all about {shown_seconds(total / jobs)} with --jobs {jobs}, "
            f"{shown_bytes(max(entry['memory'] for entry in good) * jobs)} of memory"
        )
    return OK if len(good) == len(table) else INCOMPLETE
