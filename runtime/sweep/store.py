# SPDX-License-Identifier: LGPL-2.1-or-later
"""The directory of a sweep: the plan, what is there of each point, who works on it.

    design.yaml, plan.db          what is to be run; never changed
    settings.json                 how it is run (`slurm:`, part of `run:`), if that was changed since
    results/NNN/POINT.json        a point that completed
    failures/NNN/POINT.K.json     its K-th attempt, that did not
    running/POINT.WHO             an attempt that has begun; left behind if whoever ran it was killed
    contexts/, hosts/             what results have in common: hashes of programs, machines
    kept/NNN/POINT/               what `keep:` asks for
    work/                         directories of points that run
    lock                          held by the one `umwelt sweep` that runs points here
    slurm/                        what was submitted, and what its tasks said
    results.db                    all of it, gathered (gather.py)
"""
from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pathlib
import re
import socket
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .commit import commit_json, read_json
from .errors import SweepError

PLAN_FORMAT = 1
_GROUP = 1000  # points in a directory
_RESULT = re.compile(r"(\d+)\.json")
_FAILURE = re.compile(r"(\d+)\.(\d+)\.json")

_PLAN = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE points (
  number INTEGER PRIMARY KEY, position INTEGER NOT NULL UNIQUE, row INTEGER NOT NULL, replicate INTEGER NOT NULL,
  seed INTEGER NOT NULL, levels TEXT NOT NULL, numbers TEXT NOT NULL, command TEXT NOT NULL);
"""


@dataclass(frozen=True)
class Planned:
    """A point as the plan has it; everything there is to know to run it."""

    number: int
    position: int
    row: int
    replicate: int
    seed: int
    levels: dict[str, str]
    numbers: dict[str, float | None]
    arguments: list[str]
    environment: dict[str, str]


class Store:
    def __init__(self, path: pathlib.Path) -> None:
        self.path = path
        self._meta: dict[str, Any] | None = None
        self._settings: dict[str, Any] | None = None

    # The plan

    @property
    def plan(self) -> pathlib.Path:
        return self.path / "plan.db"

    def create(self, meta: dict[str, Any], points: Iterator[Planned]) -> None:
        """All or nothing: a plan that is there is complete."""
        self.path.mkdir(parents=True, exist_ok=True)
        temporary = self.path / f".plan.{socket.gethostname()}.{os.getpid()}"
        try:
            with contextlib.closing(sqlite3.connect(temporary)) as database, database:
                database.executescript(_PLAN)
                database.executemany(
                    "INSERT INTO meta VALUES (?, ?)", [(key, json.dumps(value)) for key, value in meta.items()]
                )
                database.executemany(
                    "INSERT INTO points VALUES (?,?,?,?,?,?,?,?)",
                    (
                        (
                            p.number,
                            p.position,
                            p.row,
                            p.replicate,
                            p.seed,
                            json.dumps(p.levels),
                            json.dumps(p.numbers),
                            json.dumps([p.arguments, p.environment]),
                        )
                        for p in points
                    ),
                )
            os.link(temporary, self.plan)
        except FileExistsError:
            raise self.taken() from None
        except (sqlite3.Error, OSError) as error:
            raise SweepError(
                str(self.plan), "it to be written", str(error), "make room, then the same again", 125
            ) from None
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def taken(self) -> SweepError:
        return SweepError(
            str(self.path),
            "a directory without a sweep",
            "one that was begun",
            f"go on with it: umwelt sweep --resume {self.path}; or give another one: --output DIR",
        )

    def _database(self) -> sqlite3.Connection:
        if not self.plan.is_file():
            raise SweepError(
                str(self.path), "the directory of a sweep", "no plan.db in it", "start one: umwelt sweep design.yaml"
            )
        # Nobody ever writes to it, so it needs no locks, which some file systems do not have.
        return sqlite3.connect(f"file:{_quoted(self.plan.resolve())}?immutable=1", uri=True)

    @property
    def meta(self) -> dict[str, Any]:
        if self._meta is None:
            try:
                with contextlib.closing(self._database()) as database:
                    meta = {key: json.loads(value) for key, value in database.execute("SELECT key, value FROM meta")}
            except (sqlite3.Error, ValueError) as error:
                raise SweepError(str(self.plan), "a plan of umwelt sweep", str(error)) from None
            if meta.get("format", 0) > PLAN_FORMAT:
                raise SweepError(
                    str(self.plan),
                    f"a plan of format {PLAN_FORMAT}",
                    f"format {meta['format']}",
                    "use the Umwelt that made it, or a newer one",
                )
            settings = self._settings or read_json(self.path / "settings.json") or {}
            for key in ("run", "slurm"):
                meta[key] = {**meta[key], **settings.get(key, {})}
            self._meta = meta
        return self._meta

    def settle(self, settings: dict[str, dict[str, Any]], keep: bool) -> bool:
        """How points are run from now on; `keep`: for all who work on it later, else for this process. Tells whether
        that is another way."""
        if all(self.meta[part].get(key) == value for part in settings for key, value in settings[part].items()):
            return False
        self._settings, self._meta = settings, None
        if keep:
            commit_json(self.path / "settings.json", settings, replace=True)
        return True

    def points(self, numbers: list[int] | None = None) -> Iterator[Planned]:
        """In the order in which they run."""
        wanted = None if numbers is None else set(numbers)
        with contextlib.closing(self._database()) as database:
            for row in database.execute("SELECT * FROM points ORDER BY position"):
                if wanted is None or row[0] in wanted:
                    yield _planned(row)

    def planned(self, number: int) -> Planned:
        with contextlib.closing(self._database()) as database:
            row = database.execute("SELECT * FROM points WHERE number = ?", (number,)).fetchone()
        return _planned(row)

    def numbers(self) -> list[int]:
        with contextlib.closing(self._database()) as database:
            return [row[0] for row in database.execute("SELECT number FROM points ORDER BY position")]

    # What is there of points

    def result_path(self, number: int) -> pathlib.Path:
        return self.path / "results" / f"{number // _GROUP:04d}" / f"{number}.json"

    def failure_path(self, number: int, attempt: int) -> pathlib.Path:
        return self.path / "failures" / f"{number // _GROUP:04d}" / f"{number}.{attempt}.json"

    def kept(self, number: int) -> pathlib.Path:
        return self.path / "kept" / f"{number // _GROUP:04d}" / str(number)

    def completed(self) -> set[int]:
        return {int(match[1]) for _, match in self._files("results", _RESULT)}

    def results(self) -> Iterator[tuple[int, pathlib.Path]]:
        for path, match in self._files("results", _RESULT):
            yield int(match[1]), path

    def failures(self) -> Iterator[tuple[int, int, pathlib.Path]]:
        for path, match in self._files("failures", _FAILURE):
            yield int(match[1]), int(match[2]), path

    def _files(self, directory: str, pattern: re.Pattern[str]) -> Iterator[tuple[pathlib.Path, re.Match[str]]]:
        with contextlib.suppress(FileNotFoundError):
            for group in sorted(os.scandir(self.path / directory), key=lambda entry: entry.name):
                for entry in os.scandir(group.path):
                    if match := pattern.fullmatch(entry.name):
                        yield pathlib.Path(entry.path), match

    def attempts(self) -> dict[int, list[dict[str, Any]]]:
        """What went wrong with points, in order."""
        found: dict[int, list[tuple[int, dict[str, Any]]]] = {}
        for number, attempt, path in self.failures():
            found.setdefault(number, []).append((attempt, read_json(path) or {"kind": "damaged"}))
        return {
            number: [entry for _, entry in sorted(entries, key=lambda pair: pair[0])]
            for number, entries in found.items()
        }

    def commit_result(self, number: int, result: dict[str, Any]) -> bool:
        return commit_json(self.result_path(number), result)

    def commit_failure(self, number: int, failure: dict[str, Any]) -> None:
        attempt = 1
        while not commit_json(self.failure_path(number, attempt), {**failure, "attempt": attempt}):
            attempt += 1

    def forgive(self) -> None:
        """What went wrong with points that are not completed stays known, but counts no more."""
        done = self.completed()
        for number, _, path in list(self.failures()):
            if number not in done and (entry := read_json(path)):
                commit_json(path, {**entry, "counts": False}, replace=True)

    def share(self, directory: str, key: str, value: Any) -> None:
        path = self.path / directory / f"{key}.json"
        if not path.exists():
            commit_json(path, value)

    def shared(self, directory: str) -> dict[str, Any]:
        with contextlib.suppress(FileNotFoundError):
            return {
                entry.name.removesuffix(".json"): read_json(pathlib.Path(entry.path))
                for entry in os.scandir(self.path / directory)
                if not entry.name.startswith(".")
            }
        return {}

    # Who works on it

    def begin(self, number: int, who: dict[str, Any]) -> pathlib.Path:
        path = self.path / "running" / f"{number}.{socket.gethostname()}.{os.getpid()}.{time.time_ns()}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**who, "pid": os.getpid(), "machine": machine(), "started": started(os.getpid())}))
        return path

    def fresh(self, marker: pathlib.Path) -> bool:
        """Whether whoever began that attempt has touched its marker of late. The file system's clock tells, for those
        of machines differ."""
        now = time.time()
        probe = self.path / f".now.{socket.gethostname()}.{os.getpid()}"
        with contextlib.suppress(OSError):
            probe.touch()
            now = probe.stat().st_mtime
            probe.unlink()
        with contextlib.suppress(OSError):
            return now - marker.stat().st_mtime < SILENCE
        return False

    def running(self) -> list[tuple[int, pathlib.Path, dict[str, Any]]]:
        with contextlib.suppress(FileNotFoundError):
            return [
                (int(entry.name.split(".")[0]), pathlib.Path(entry.path), read_json(pathlib.Path(entry.path)) or {})
                for entry in os.scandir(self.path / "running")
            ]
        return []

    def remaining(self, done: set[int] | None = None) -> tuple[list[int], list[int]]:
        """Points to run, in their order, and those given up: failed as often as `retries` allows. `done`: those that
        count as completed, for who wants a sum of one moment."""
        done = self.completed() if done is None else done
        attempts = self.attempts()
        retries = self.meta["run"]["retries"]
        missing: list[int] = []
        failed: list[int] = []
        for number in self.numbers():
            if number not in done:
                (failed if given_up(attempts.get(number, []), retries) else missing).append(number)
        return missing, failed


BEAT = 30.0  # seconds between two touches of a marker
SILENCE = 10 * BEAT


def machine() -> str:
    """This machine since its start, and this set of process numbers: where a number means the same process."""
    boot = ""
    with contextlib.suppress(OSError):
        boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        boot += " " + os.readlink("/proc/self/ns/pid")
    return f"{socket.gethostname()} {boot}"


def started(pid: int) -> int | None:
    """When a process began (clock ticks since the machine's start); nothing if it is gone. A number may come again."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        words = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        return None if words[0] in "ZX" else int(words[19])
    return None


# Kinds of failures that would come again.
HOPELESS = ("wrong_use", "deadlock", "not_found")
# Those that are none of the point's.
INTERRUPTED = ("interrupted",)


def given_up(attempts: list[dict[str, Any]], retries: int) -> bool:
    """Failed more often than it is repeated, or in a way that would come again."""
    counted = [one for one in attempts if one.get("counts", True) and one.get("kind") not in INTERRUPTED]
    return len(counted) > retries or any(one.get("kind") in HOPELESS for one in counted)


def _planned(row: tuple) -> Planned:
    arguments, environment = json.loads(row[7])
    number, position, row_, replicate, seed = row[:5]
    levels, numbers = json.loads(row[5]), json.loads(row[6])
    return Planned(number, position, row_, replicate, seed, levels, numbers, arguments, environment)


def _quoted(path: pathlib.Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


@contextlib.contextmanager
def lock(path: pathlib.Path) -> Iterator[None]:
    """Two sweeps in one directory would run points twice. The kernel lets go of it however its holder ends."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise SweepError(
            str(path), "a directory to write to", error.strerror or str(error), "give another one: --output DIR"
        ) from None
    try:
        for look in range(5):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if look < 4:  # it may be somebody who only looks (locked())
                    time.sleep(0.02)
                    continue
            holder = os.pread(descriptor, 200, 0).decode(errors="replace").strip() or "somebody"
            raise SweepError(
                str(path),
                "no other sweep in this directory",
                f"one that runs ({holder})",
                "wait for it (umwelt sweep status), or give another directory: --output DIR",
            )
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def locked(path: pathlib.Path) -> bool:
    """Whether a sweep runs in this directory."""
    try:
        descriptor = os.open(path / "lock", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
