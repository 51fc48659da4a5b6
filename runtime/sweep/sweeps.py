# SPDX-License-Identifier: LGPL-2.1-or-later
"""A sweep from its design to its results, here: beginning it, going on with it, running what is missing."""
from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator

from . import provenance
from .commit import commit, read_json
from .design_file import Design, load
from .errors import INCOMPLETE, OK, SweepError, plural
from .gather import gather
from .known import Umwelt
from .points import Commands, Point, check_against, check_differences, expand
from .quantities import shown_seconds
from .store import PLAN_FORMAT, Planned, Store
from .worker import Stopped, Worker


Examined = tuple[Design, list[Point], Commands]


def directory_of(design: pathlib.Path) -> pathlib.Path:
    """Where a sweep goes if nobody says where: beside the caller, not beside the design."""
    return pathlib.Path(f"{design.stem}.sweep")


def examine(path: pathlib.Path, umwelt: Umwelt) -> Examined:
    """The design and its points; raises for whatever is wrong with them."""
    design = load(path, umwelt)
    check_against(design, umwelt)
    points = expand(design)
    commands = Commands(design, umwelt)
    check_differences(design, points, commands)
    programs = {commands.program(point) for point in points}
    for program in sorted(programs):
        if not (shutil.which(program) or pathlib.Path(program).is_file()):
            raise SweepError(
                f"{design.path}: program '{program}'", "a program, in PATH or from where the design lies", "none", ""
            )
    return design, points, commands


def begin(examined: Examined, store: Store, umwelt: Umwelt) -> None:
    """Writes the plan. The caller holds the lock."""
    if store.plan.exists():
        raise store.taken()
    design, points, commands = examined
    programs = sorted({commands.program(point) for point in points})
    inputs = [str(one.resolve()) for one in design.inputs]
    others = [str(one.resolve()) for one in design.templates.values()] + _platform_files(design)
    meta = {
        "format": PLAN_FORMAT,
        "name": design.name,
        "design": str(design.path),
        "umwelt": umwelt.version,
        "design_hash": provenance.hash_file(design.path),
        "design_text": design.path.read_text(encoding="utf-8"),
        "factors": [
            {"name": f.name, "target": f.target, "key": f.key, "follows": f.follows is not None} for f in design.factors
        ],
        "kind": design.spec.kind,
        "replicates": design.replicates,
        "seed": design.seed,
        "shuffled": design.shuffled,
        "templates": {name: one.read_text(encoding="utf-8") for name, one in design.templates.items()},
        "inputs": inputs,
        "other_files": others,
        "programs": programs,
        "metrics": design.metrics,
        "cost": design.cost,
        "run": vars(design.run) | {"keep": list(design.run.keep)},
        "slurm": vars(design.slurm),
        "files": provenance.files(umwelt.path, programs, [*inputs, *others]),
        "git": provenance.git(pathlib.Path.cwd()),
        "directory": os.getcwd(),
        "created": time.time(),
    }
    commit(store.path / "design.yaml", design.path.read_bytes(), replace=True)
    store.create(meta, _planned(points, commands))


def _platform_files(design: Design) -> list[str]:
    """Files that options name: an XML platform, a file of parameters, of kernels."""
    found = []
    for setting in design.options:
        name = (setting.value or "").removeprefix("@")
        if "/" in name or name.endswith((".xml", ".so", ".yaml", ".conf")):
            path = design.path.parent / name
            if path.is_file():
                found.append(str(path.resolve()))
    return found


def _planned(points: list[Point], commands: Commands) -> Iterator[Planned]:
    for position, point in enumerate(points):
        command = commands.of(point)
        yield Planned(
            point.number,
            position,
            point.row,
            point.replicate,
            point.seed,
            {name: one.text for name, one in point.levels.items()},
            {name: one.number for name, one in point.levels.items()},
            command.arguments,
            command.environment,
        )


def check_same_design(store: Store, design: pathlib.Path) -> None:
    if provenance.hash_file(design) != store.meta["design_hash"]:
        raise SweepError(
            str(design),
            f"the design that {store.path} was begun with",
            "another one",
            f"take {store.path}/design.yaml, or begin another sweep with --output DIR",
        )


def recover(store: Store, lost: Callable[[dict], tuple[str, str]] | None = None) -> int:
    """Attempts of which nobody is left: told as such, so that they are neither lost nor counted. Only for who knows
    that nothing runs here."""
    count = 0
    for number, marker, told in store.running():
        if not store.result_path(number).exists():
            kind, reason = lost(told) if lost else ("interrupted", "whoever ran it was killed")
            entry = {"kind": kind, "reason": reason, "who": told.get("who", {}), "began": told.get("began")}
            store.commit_failure(number, {"point": number, **entry})
            count += 1
        shutil.rmtree(store.path / "work" / marker.name, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            marker.unlink()
    for number, path in list(store.results()):
        if path.stat().st_size == 0 or read_json(path) is None:
            path.rename(path.with_name(f"damaged.{path.name}.{time.time_ns()}"))
    for directory in ("results", "failures"):  # what a killed commit left
        for path in (store.path / directory).glob("*/.*"):
            path.unlink(missing_ok=True)
    shutil.rmtree(store.path / "work", ignore_errors=True)
    return count


class Progress:
    """A line on a terminal, and one for each failure anywhere."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._began = time.monotonic()
        self._shown = 0.0
        self._live = sys.stderr.isatty()

    def __call__(self, point: Planned, kind: str) -> None:
        self._done += kind in ("completed", "twice")
        if kind not in ("completed", "twice", "interrupted"):
            print(f"umwelt sweep: point {point.number} ({_shown(point)}): {kind}", file=sys.stderr)
        now = time.monotonic()
        if self._live and (now - self._shown > 0.2 or self._done == self._total):
            self._shown = now
            left = (now - self._began) / max(self._done, 1) * (self._total - self._done)
            print(f"\r{self._done} of {self._total} points, {shown_seconds(left)} left   ", end="", file=sys.stderr)

    def end(self) -> None:
        if self._live:
            print(file=sys.stderr)


def _shown(point: Planned) -> str:
    return ", ".join(f"{name} {text}" for name, text in point.levels.items())


def run_here(store: Store, umwelt: Umwelt, jobs: int | None) -> int:
    """Runs what is missing, and gathers. The caller holds the lock."""
    recover(store)
    missing, _ = store.remaining()
    progress = Progress(len(missing))
    stopped: Stopped | None = None
    if missing:
        worker = Worker(store, umwelt.path, told=progress)
        try:
            worker.run(store.points(missing), jobs or store.meta["run"]["jobs"])
        except Stopped as stop:
            stopped = stop
        finally:
            progress.end()
            with contextlib.suppress(OSError):
                (store.path / "work").rmdir()
    states = gather(store)
    tell(store, states)
    if stopped is not None:
        print(f"umwelt sweep: stopped by {stopped}. To go on: umwelt sweep --resume {store.path}", file=sys.stderr)
        return 128 + stopped.number
    return outcome(states)


def outcome(states: Counter[str]) -> int:
    return OK if set(states) <= {"completed"} else INCOMPLETE


def tell(store: Store, states: Counter[str]) -> None:
    total = sum(states.values())
    print(
        f"{store.path}: {states['completed']:,} of {plural(total, 'point')} completed"
        + "".join(
            f", {count:,} {state.replace('_', ' ')}" for state, count in sorted(states.items()) if state != "completed"
        )
    )
    failed = {state for state in states if state not in ("completed", "missing", "running", "damaged")}
    if failed:
        print(f"  failed ones once more: umwelt sweep --resume --again {store.path}")
