# SPDX-License-Identifier: LGPL-2.1-or-later
"""The file of results (SQLite): its tables, and how it is opened. SCHEMA.md says what is in them; whoever changes them
counts VERSION up."""
from __future__ import annotations

import contextlib
import pathlib
import sqlite3

from .errors import SweepError

VERSION = 1
APPLICATION = 0x756D7773  # "umws", which file(1) and SQLite's own tools show

# Of a point in the exported table, before its levels and metrics.
COLUMNS = ("point", "position", "row", "replicate", "seed", "state", "host")

TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE factors (name TEXT PRIMARY KEY, position INTEGER NOT NULL, target TEXT NOT NULL, key TEXT NOT NULL);
CREATE TABLE hosts (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, name TEXT, processor TEXT, processors INTEGER,
  memory INTEGER, kernel TEXT, lstopo TEXT);
CREATE TABLE contexts (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL);
CREATE TABLE points (
  point INTEGER PRIMARY KEY, position INTEGER NOT NULL, row INTEGER NOT NULL, replicate INTEGER NOT NULL,
  seed INTEGER NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL, command TEXT NOT NULL,
  host INTEGER REFERENCES hosts, context INTEGER REFERENCES contexts, began REAL, ended REAL, job TEXT);
CREATE TABLE levels (point INTEGER NOT NULL, factor TEXT NOT NULL, level TEXT NOT NULL, number REAL,
  PRIMARY KEY (point, factor)) WITHOUT ROWID;
CREATE TABLE metrics (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, simulated INTEGER NOT NULL);
CREATE TABLE measurements (point INTEGER NOT NULL, metric INTEGER NOT NULL, value NUMERIC,
  PRIMARY KEY (point, metric)) WITHOUT ROWID;
CREATE TABLE functions (point INTEGER NOT NULL, function TEXT NOT NULL, calls INTEGER, bytes INTEGER, time_ps INTEGER,
  waited_ps INTEGER, late_ps INTEGER, PRIMARY KEY (point, function)) WITHOUT ROWID;
CREATE TABLE pairs (point INTEGER NOT NULL, sender INTEGER NOT NULL, receiver INTEGER NOT NULL, messages INTEGER,
  bytes INTEGER, PRIMARY KEY (point, sender, receiver)) WITHOUT ROWID;
CREATE TABLE links (point INTEGER NOT NULL, link TEXT NOT NULL, what TEXT NOT NULL, value NUMERIC,
  PRIMARY KEY (point, link, what)) WITHOUT ROWID;
CREATE TABLE failures (point INTEGER NOT NULL, attempt INTEGER NOT NULL, kind TEXT NOT NULL, reason TEXT, errors TEXT,
  exit_code INTEGER, host TEXT, began REAL, ended REAL, job TEXT, PRIMARY KEY (point, attempt)) WITHOUT ROWID;
CREATE VIEW results AS SELECT point, name AS metric, simulated, value FROM measurements JOIN metrics ON id = metric;
"""


def create(path: pathlib.Path) -> sqlite3.Connection:
    database = sqlite3.connect(path)
    # A file of its own that gets its name when it is complete needs no journal.
    database.executescript(
        f"PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA application_id={APPLICATION}; "
        f"PRAGMA user_version={VERSION}; {TABLES}"
    )
    return database


def open_results(path: pathlib.Path) -> sqlite3.Connection:
    """To read. The directory of a sweep stands for the file in it."""
    file = path / "results.db" if path.is_dir() else path
    if not file.is_file():
        raise SweepError(str(file), "a file of results", "none", "umwelt sweep gather makes it")
    try:
        database = sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)
        application = database.execute("PRAGMA application_id").fetchone()[0]
        version = database.execute("PRAGMA user_version").fetchone()[0]
    except sqlite3.Error as error:
        raise SweepError(str(file), "a file of results of umwelt sweep", str(error)) from None
    if application != APPLICATION:
        database.close()
        raise SweepError(str(file), "a file of results of umwelt sweep", "another SQLite file")
    if version > VERSION:
        database.close()
        raise SweepError(
            str(file),
            f"a schema of version {VERSION} at most",
            f"version {version}",
            "use the Umwelt that made it, or a newer one",
        )
    return database


@contextlib.contextmanager
def results(path: pathlib.Path):
    database = open_results(path)
    try:
        yield database
    finally:
        database.close()
