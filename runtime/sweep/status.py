# SPDX-License-Identifier: LGPL-2.1-or-later
"""How far a sweep is: from the files that are there, without asking whoever runs it."""
from __future__ import annotations

import json
import pathlib
import sys
import time
from typing import Any

from .commit import read_json
from .errors import INCOMPLETE, OK
from .quantities import shown_seconds
from .store import Store

_PERIOD = 1.0  # seconds


def status(store: Store) -> dict[str, Any]:
    missing, failed = store.remaining()
    running = store.running()
    completed = store.completed()
    found: dict[str, Any] = {
        "points": len(missing) + len(failed) + len(completed),
        "completed": len(completed),
        "failed": len(failed),
        "missing": len(missing),
        "running": len({number for number, _, _ in running} & set(missing)),
    }
    pace = _pace(store)
    if pace and missing:
        found["seconds_left"] = len(missing) / pace
    from . import slurm

    if (jobs := slurm.jobs(store)) is not None:
        found["slurm"] = jobs
    return found


def _pace(store: Store) -> float | None:
    """Points a second, of the last ones."""
    times = sorted(path.stat().st_mtime for _, path in store.results())[-200:]
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
    live = follow and sys.stdout.isatty()
    last = ""
    while True:
        found = status(store)
        done = found["missing"] == 0
        text = json.dumps(found) if as_json else _text(found)
        if not follow:
            print(text)
            break
        if live:
            print(f"\r\033[K{text}", end="\n" if done else "", flush=True)
        elif text != last:
            print(text, flush=True)
        last = text
        if done:
            break
        time.sleep(_PERIOD)
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
        error = (entry.get("errors") or "").splitlines()
        print(
            f"  point {number}: {entry.get('kind', 'damaged')}: {entry.get('reason', '')}"
            + (f": {error[0][:200]}" if error else "")
        )
    if len(shown) > most:
        print(f"  and {len(shown) - most} more: umwelt sweep export {store.path} --table failures")
