# SPDX-License-Identifier: LGPL-2.1-or-later
"""How far a sweep is: from the files that are there, without asking whoever runs it."""
from __future__ import annotations

import contextlib
import functools
import json
import pathlib
import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

from .commit import read_json
from .errors import INCOMPLETE, OK
from .execution import told
from .quantities import shown_seconds
from .store import Store, locked, machine, started

_PERIOD = 1.0  # seconds
_PATIENCE = 60.0  # seconds without an answer of Slurm, nor anybody else who works on it
Tasks = dict[str, str]  # state by JOB_TASK, of what Slurm has; nothing instead of that if it does not answer


def _tasks(store: Store) -> Tasks | None:
    from . import slurm

    return slurm.tasks(store)


def live(
    store: Store, tasks: Callable[[], Tasks | None] | None = None, lock: Callable[[], bool] | None = None
) -> set[int]:
    """Points that somebody runs at this moment: whoever was killed leaves its marker, too. On this machine processes
    tell, of tasks elsewhere Slurm, of a sweep elsewhere the lock."""
    here = machine()
    held = functools.cache(lock or (lambda: locked(store.path)))
    ask = functools.cache(tasks or (lambda: _tasks(store)))

    def alive(marker: pathlib.Path, who: dict[str, Any]) -> bool:
        if who.get("machine") == here:
            return started(who["pid"]) == who.get("started") is not None
        job = who.get("who", {}).get("job")
        if not job:
            return held()
        there = ask()
        if there is None:
            return store.fresh(marker)
        return there.get(f"{job['id']}_{job['task']}", "pending") in ("running", "completing", "suspended", "stopped")

    return {number for number, marker, who in store.running() if alive(marker, who)}


def status(store: Store) -> dict[str, Any]:
    found, _ = _look(store)
    return found


def _look(store: Store) -> tuple[dict[str, Any], bool | None]:
    """How far it is, and whether anybody works on it; None: only Slurm could tell, and does not."""
    tasks = _tasks(store)
    running = live(store, lambda: tasks)
    held = locked(store.path)
    numbers = set(store.numbers())
    completed = store.completed() & numbers  # what completes from now on counts the next time
    missing, failed = store.remaining(completed)
    found: dict[str, Any] = {
        "points": len(numbers),
        "completed": len(completed),
        "failed": len(failed),
        "missing": len(missing),
        "running": len(running & set(missing)),
    }
    pace = _pace(store)
    if pace and missing:
        found["seconds_left"] = len(missing) / pace
    if tasks is not None and (tasks or (store.path / "slurm").exists()):
        found["slurm"] = Counter(tasks.values())
    works = bool(running or tasks or held)
    return found, None if tasks is None and not works else works


def _pace(store: Store) -> float | None:
    """Points a second, of the last ones."""
    times = []
    for _, path in store.results():
        with contextlib.suppress(OSError):
            times.append(path.stat().st_mtime)
    times = sorted(times)[-200:]
    return (len(times) - 1) / (times[-1] - times[0]) if len(times) > 2 and times[-1] > times[0] else None


def _text(found: dict[str, Any]) -> str:
    share = 100 * found["completed"] / max(found["points"], 1)
    text = f"{found['completed']:,} of {found['points']:,} points completed ({share:.1f} %)"
    if found["failed"]:
        text += f", {found['failed']:,} failed"
    if found["running"]:
        text += f", {found['running']:,} running"
    if found["missing"] - found["running"]:
        text += f", {found['missing'] - found['running']:,} to run"
    if "seconds_left" in found and found["running"]:
        text += f", about {shown_seconds(found['seconds_left'])} left"
    if found.get("slurm"):
        text += ". Slurm: " + ", ".join(f"{count} {state}" for state, count in sorted(found["slurm"].items()))
        if any(state.startswith("held") for state in found["slurm"]):
            text += "; scontrol release lets them go on (sinfo -R: whether a node is drained)"
    return text


def show(store: Store, follow: bool, as_json: bool) -> int:
    live_line = follow and sys.stdout.isatty()
    last = ""
    silent = time.monotonic()
    while True:
        found, works = _look(store)
        if works is not None:
            silent = time.monotonic()
        done = found["missing"] == 0
        text = json.dumps(found) if as_json else _text(found)
        if not follow:
            print(text)
            break
        if live_line:
            print(f"\r\033[K{text}", end="\n" if done else "", flush=True)
        elif text != last:
            print(text, flush=True)
        last = text
        if done or works is False or time.monotonic() - silent > _PATIENCE:
            break
        time.sleep(_PERIOD)
    if found["missing"] and not works:
        why = "nobody works on it" if works is False else "Slurm does not answer, and nobody else works on it"
        print(f"{chr(10) * live_line}{why}: umwelt sweep --resume {store.path}", file=sys.stderr)
    if not as_json and not follow and found["failed"]:
        _show_failures(store)
    return OK if found["completed"] == found["points"] else INCOMPLETE


def _show_failures(store: Store, most: int = 10) -> None:
    done = store.completed()
    shown: dict[int, pathlib.Path] = {
        number: path for number, _, path in sorted(store.failures()) if number not in done
    }
    for number, path in list(shown.items())[:most]:
        entry = read_json(path) or {}
        error = told(entry.get("errors") or "")
        print(
            f"  point {number}: {entry.get('kind', 'damaged')}: {entry.get('reason', '')}"
            + (f": {error[:200]}" if error else "")
        )
    if len(shown) > most:
        print(f"  and {len(shown) - most} more: umwelt sweep export {store.path} --table failures")
