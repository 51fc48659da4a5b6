# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results of a sweep as columns, for statistics: completed points, their levels and metrics."""
from __future__ import annotations

import json
import pathlib
from dataclasses import dataclass

import numpy as np

from .errors import SweepError, unknown
from .schema import results


@dataclass(frozen=True)
class Axis:
    """A factor: for every point the index of its level; levels in order of their numbers where they have such."""

    name: str
    levels: list[str]
    numbers: list[float] | None  # of the levels
    index: np.ndarray
    follows: bool = False  # from other factors

    @property
    def values(self) -> np.ndarray:
        assert self.numbers is not None
        return np.asarray(self.numbers)[self.index]


@dataclass(frozen=True)
class Sample:
    name: str
    factors: list[Axis]  # those that differ, and do not follow from others
    points: np.ndarray  # numbers
    position: np.ndarray  # in the order in which they ran
    began: np.ndarray
    hosts: list[str]
    metrics: dict[str, np.ndarray]  # not a number where a point does not have it
    simulated: set[str]
    default: list[str]  # metrics that one looks at first
    cost: str | None
    all_factors: list[Axis]
    rows: np.ndarray
    seeds: np.ndarray
    unfinished: tuple[tuple[str, ...], ...] = ()  # keys of points that did not complete

    def keys(self) -> list[tuple[str, ...]]:
        """Of all points: what tells a row in another file, too. Factors of which one level is left have a part in it,
        for there it may be two."""
        free = [axis for axis in self.all_factors if not axis.follows]
        return [tuple(f"{axis.name}={axis.levels[axis.index[at]]}" for axis in free) for at in range(len(self.points))]

    def chosen(self, names: list[str] | None) -> list[str]:
        for name in names or []:
            if name not in self.metrics:
                raise unknown("--metric", name, self.metrics, "metric")
        return names or self.default


def read(path: pathlib.Path) -> Sample:
    with results(path) as database:
        about = {key: json.loads(value) for key, value in database.execute("SELECT key, value FROM about")}
        entries = list(
            database.execute(
                "SELECT point, position, began, hosts.name, row, seed, state FROM points "
                "LEFT JOIN hosts ON hosts.id = host ORDER BY point"
            )
        )
        points = [row for row in entries if row[6] == "completed"]
        if not points:
            raise SweepError(str(path), "points that completed", "none", "umwelt sweep --resume runs them")
        place = {row[0]: index for index, row in enumerate(points)}
        metrics, simulated = _metrics(database, place)
        levels: dict[str, list[tuple[str, float | None]]] = {}
        others: dict[int, dict[str, str]] = {row[0]: {} for row in entries if row[0] not in place}
        for point, factor, level, number in database.execute("SELECT point, factor, level, number FROM levels"):
            if point in place:
                levels.setdefault(factor, [("", None)] * len(points))[place[point]] = (level, number)
            elif point in others:
                others[point][factor] = level
    axes = [_axis(entry["name"], levels[entry["name"]], bool(entry["follows"])) for entry in about["factors"]]
    factors = [axis for axis in axes if len(axis.levels) > 1 and not axis.follows]
    unfinished = tuple(tuple(f"{axis.name}={of_point.get(axis.name, '')}" for axis in axes if not axis.follows)
                       for of_point in others.values())  # fmt: skip
    default = [name for name in ("simulated_s", *about["metrics"]) if name in metrics]
    return Sample(
        about["name"], factors, np.array([row[0] for row in points]), np.array([row[1] for row in points]),
        np.array([row[2] or 0.0 for row in points]), [row[3] or "?" for row in points], metrics, simulated, default,
        about.get("cost"), axes, np.array([row[4] for row in points]), np.array([row[5] for row in points]),
        unfinished,
    )  # fmt: skip


def _metrics(database, place: dict[int, int]) -> tuple[dict[str, np.ndarray], set[str]]:
    names = {number: (name, simulated) for number, name, simulated in database.execute("SELECT * FROM metrics")}
    found = {name: np.full(len(place), np.nan) for name, _ in names.values()}
    for point, metric, value in database.execute("SELECT point, metric, value FROM measurements"):
        if point in place and value is not None:
            found[names[metric][0]][place[point]] = value
    return found, {name for name, simulated in names.values() if simulated}


def _axis(name: str, entries: list[tuple[str, float | None]], follows: bool) -> Axis:
    distinct = dict(entries)
    numeric = all(number is not None for number in distinct.values())
    # By number where they have one, else in the order of the texts, so that two databases agree.
    levels = sorted(distinct, key=lambda level: (distinct[level] if numeric else 0, level))
    place = {level: index for index, level in enumerate(levels)}
    numbers = [float(distinct[level] or 0) for level in levels] if numeric else None
    return Axis(name, levels, numbers, np.array([place[level] for level, _ in entries]), follows)
