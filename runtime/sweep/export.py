# SPDX-License-Identifier: LGPL-2.1-or-later
"""Results as CSV."""
from __future__ import annotations

import csv
import io
import pathlib
import sqlite3
import sys
from collections.abc import Iterable

from .commit import commit
from .errors import OK, unknown
from .schema import COLUMNS, results

TABLES = ("results", "functions", "pairs", "links", "failures", "points", "levels", "hosts")


def wide(database: sqlite3.Connection) -> tuple[list[str], Iterable[list[object]]]:
    """A row for each point: where it ran, its levels, its metrics."""
    factors = [name for (name,) in database.execute("SELECT name FROM factors ORDER BY position")]
    metrics = list(database.execute("SELECT id, name FROM metrics ORDER BY simulated DESC, name"))
    header = [*COLUMNS, *factors, *(name for _, name in metrics)]

    def rows() -> Iterable[list[object]]:
        points = database.execute(
            "SELECT point, position, row, replicate, seed, state, hosts.name FROM points "
            "LEFT JOIN hosts ON hosts.id = host ORDER BY point"
        )
        for point in points:
            levels = dict(database.execute("SELECT factor, level FROM levels WHERE point = ?", point[:1]))
            values = dict(database.execute("SELECT metric, value FROM measurements WHERE point = ?", point[:1]))
            yield [*point, *(levels.get(name) for name in factors), *(values.get(number) for number, _ in metrics)]

    return header, rows()


def table(database: sqlite3.Connection, name: str) -> tuple[list[str], Iterable[tuple[object, ...]]]:
    cursor = database.execute(f"SELECT * FROM {name}")
    return [column[0] for column in cursor.description], cursor


def export(path: pathlib.Path, name: str, output: pathlib.Path | None) -> int:
    if name not in TABLES:
        raise unknown("--table", name, TABLES, "table")
    with results(path) as database:
        header, rows = wide(database) if name == "results" else table(database, name)
        if output is None:
            write(sys.stdout, header, rows)
        else:
            text = io.StringIO()
            write(text, header, rows)
            commit(output, text.getvalue().encode(), replace=True)
    return OK


def write(file: io.TextIOBase | object, header: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Numbers as Python writes them: reading them back gives the same bits."""
    writer = csv.writer(file, lineterminator="\n")  # type: ignore[arg-type]
    writer.writerow(header)
    writer.writerows(rows)
