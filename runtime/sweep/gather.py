# SPDX-License-Identifier: LGPL-2.1-or-later
"""All that is there of a sweep's points into one SQLite file, which takes the place of the last one when it is whole.
Any number of times, also while points run."""
from __future__ import annotations

import contextlib
import json
import os
import pathlib
import socket
import sqlite3
from collections import Counter
from typing import Any

from . import schema
from .commit import read_json
from .errors import FAILURE, SweepError
from .status import live
from .store import Store, given_up

_BATCH = 2000  # points between two insertions


class _Writer:
    """Rows for tables, inserted many at a time."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self._metrics: dict[str, int] = {}
        self._ids: dict[str, dict[str, int]] = {"hosts": {}, "contexts": {}}
        self._points = 0

    def add(self, table: str, *values: Any) -> None:
        self._rows.setdefault(table, []).append(values)

    def metric(self, point: int, name: str, value: Any, simulated: bool) -> None:
        number = self._metrics.get(name)
        if number is None:
            number = self._metrics[name] = len(self._metrics) + 1
            self.add("metrics", number, name, int(simulated))
        # SQLite's whole numbers have 64 bits.
        self.add("measurements", point, number, float(value) if isinstance(value, int) and abs(value) >> 63 else value)

    def id_of(self, table: str, key: str) -> int | None:
        return self._ids[table].get(key)

    def name(self, table: str, key: str) -> int:
        return self._ids[table].setdefault(key, len(self._ids[table]) + 1)

    def point_done(self) -> None:
        self._points += 1
        if self._points % _BATCH == 0:
            self.flush()

    def flush(self) -> None:
        for table, rows in self._rows.items():
            marks = ",".join("?" * len(rows[0]))
            self._database.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", rows)
        self._rows.clear()


def gather(store: Store, output: pathlib.Path | None = None) -> Counter[str]:
    """Tells how many points are in which state."""
    target = output or store.path / "results.db"
    temporary = target.with_name(f".{target.name}.{socket.gethostname()}.{os.getpid()}")
    try:
        with contextlib.closing(schema.create(temporary)) as database, database:
            states = _fill(store, _Writer(database))
        with open(temporary, "rb") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except (sqlite3.Error, OSError) as error:
        raise SweepError(
            str(target),
            "it to be written",
            str(error),
            "make room, then umwelt sweep gather " f"{store.path}: nothing is lost",
            FAILURE,
        ) from None
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
    return states


def _fill(store: Store, writer: _Writer) -> Counter[str]:
    meta = store.meta
    for key, value in meta.items():
        writer.add("about", key, json.dumps(value))
    for position, factor in enumerate(meta["factors"]):
        writer.add("factors", factor["name"], position, factor["target"], factor["key"])
    for key, host in store.shared("hosts").items():
        host = host or {}
        writer.add(
            "hosts",
            writer.name("hosts", key),
            key,
            *(host.get(name) for name in ("name", "processor", "processors", "memory", "kernel", "lstopo")),
        )
    for key, value in store.shared("contexts").items():
        writer.add("contexts", writer.name("contexts", key), key, json.dumps(value))
    attempts = store.attempts()
    completed = dict(store.results())
    running = live(store)
    states: Counter[str] = Counter()
    for point in store.points():
        failures = attempts.get(point.number, [])
        result = read_json(completed[point.number]) if point.number in completed else None
        if result is not None:
            state = "completed"
        elif point.number in completed:
            state = "damaged"  # the machine lost power; --resume runs it again
        elif given_up(failures, meta["run"]["retries"]):
            state = failures[-1].get("kind", "failed")
        else:
            state = "running" if point.number in running else "missing"
        states[state] += 1
        _point(writer, point, state, result, failures)
        writer.point_done()
    writer.flush()
    return states


def _point(writer: _Writer, point: Any, state: str, result: dict[str, Any] | None, failures: list[dict]) -> None:
    number = point.number
    entry = result or {}
    job = entry.get("who", {}).get("job")
    writer.add(
        "points",
        number,
        point.position,
        point.row,
        point.replicate,
        point.seed,
        state,
        len(failures) + (result is not None),
        json.dumps(point.arguments),
        writer.id_of("hosts", entry.get("host", "")),
        writer.id_of("contexts", entry.get("context", "")),
        entry.get("began"),
        entry.get("ended"),
        json.dumps(job) if job else None,
    )
    for name, text in point.levels.items():
        writer.add("levels", number, name, text, point.numbers.get(name))
    for attempt, failure in enumerate(failures, 1):
        who = failure.get("who", {})
        writer.add(
            "failures",
            number,
            attempt,
            failure.get("kind", "damaged"),
            failure.get("reason"),
            failure.get("errors"),
            failure.get("exit_code"),
            who.get("host"),
            failure.get("began"),
            failure.get("ended"),
            json.dumps(who["job"]) if who.get("job") else None,
        )
    for group, simulated in (("metrics", True), ("host_metrics", False)):
        for name, value in entry.get(group, {}).items():
            writer.metric(number, name, value, simulated)
    for table in ("functions", "pairs", "links"):
        for row in entry.get(table, []):
            writer.add(table, number, *row)
