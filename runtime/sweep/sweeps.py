# SPDX-License-Identifier: LGPL-2.1-or-later
"""A sweep from its design to its results, here: beginning it, going on with it, running what is missing."""
from __future__ import annotations

import contextlib
import os
import pathlib
import re
import shutil
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from . import provenance
from .commit import commit, read_json
from .design_file import TOP, Design, load, run_spec, slurm_spec
from .errors import INCOMPLETE, OK, SweepError, plural
from .gather import gather
from .known import Umwelt
from .marked import Node, parse, read
from .points import OF_FILES, Commands, Point, check_against, check_differences, expand, fill, holes
from .quantities import shown_seconds
from .signals import Stopped
from .store import PLAN_FORMAT, Planned, Store
from .worker import Worker


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
        # What has no path may be in the image alone; who runs it here is told (worker.py).
        if not provenance.where_is(program) and not (design.slurm.image and "/" not in program):
            expected = "a program, in PATH or from where the design lies"
            raise SweepError(design.place("program"), expected, f"'{program}', which is none")
    return design, points, commands


def begin(examined: Examined, store: Store, umwelt: Umwelt) -> None:
    """Writes the plan. The caller holds the lock."""
    if store.plan.exists():
        raise store.taken()
    design, points, commands = examined
    programs = sorted({commands.program(point) for point in points})
    inputs = [str(one.resolve()) for one in design.inputs]
    others = [str(one.resolve()) for one in design.templates.values()] + _option_files(design, points)
    if design.spec.file is not None:
        others.append(str(design.spec.file.resolve()))
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
        "slurm": vars(design.slurm) | {"image": _image(design.slurm.image, design.path.parent)},
        "files": provenance.files(umwelt.path, programs, [*inputs, *others]),
        "git": provenance.git(pathlib.Path.cwd()),
        "directory": os.getcwd(),
        "created": time.time(),
    }
    commit(store.path / "design.yaml", design.path.read_bytes(), replace=True)
    store.create(meta, _planned(points, commands))


def _image(name: str | None, directory: pathlib.Path) -> str | None:
    """Points run elsewhere: a path is one from where the design lies; docker://... is none."""
    return name if name is None or "://" in name else str(directory.resolve() / name)


def _option_files(design: Design, points: list[Point]) -> list[str]:
    """Files that options name, whatever the point: an XML platform, parameters, kernels, watts."""
    values: set[tuple[str, str]] = set()
    for setting in design.options:
        if holes(setting.value or ""):
            levels = ({name: one.text for name, one in point.levels.items()} for point in points)
            values |= {(setting.name, fill(setting.value or "", one)) for one in levels}
        elif setting.value:
            values.add((setting.name, setting.value))
    for factor in design.factors:
        if factor.target == "option":
            values |= {(factor.key, text) for text in {point.levels[factor.name].text for point in points}}
    names = {name for option, value in values for name in _files_in(option, value)}
    paths = (design.path.parent / name for name in names)
    return sorted({str(path.resolve()) for path in paths if path.is_file()})


_READ = ("platform", *OF_FILES)
_WRITTEN = ("trace", "html", "output-filename", "power-trace")


def _files_in(option: str, value: str) -> Iterator[str]:
    """What may be a file in the value of an option: all of it, @FILE, or a part that looks like one."""
    if option in _WRITTEN:
        return
    if option in _READ:
        yield value
    for part in (value, *re.split(r"[=,:\s]", value)):
        if part.startswith("@") or "/" in part or part.endswith((".xml", ".so", ".yaml", ".conf")):
            yield part.removeprefix("@")


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


# Of `run:`: what decides how points are run, not what comes out of them.
_HOW = ("jobs", "timeout", "memory", "retries")


def settings(store: Store, design: pathlib.Path) -> dict[str, dict[str, Any]]:
    """How points are to be run, by a design of which nothing else differs from the one that the sweep began with."""
    top = read(design).mapping(TOP)
    begun = parse(store.meta["design_text"], store.meta["design"]).mapping(TOP)
    now, before = _what(top), _what(begun)
    if differing := [key for key in (*now, *before) if now.get(key) != before.get(key)]:
        raise SweepError(
            str(design),
            f"the design that {store.path} was begun with",
            f"another one: `{differing[0]}:` differs",
            f"only `slurm:` and `run: {{{', '.join(_HOW)}}}` may. Take {store.path}/design.yaml, or begin another "
            "sweep with --output DIR",
        )
    where = design.resolve().parent
    if where == store.path.resolve():  # the copy
        where = pathlib.Path(store.meta["design"]).parent
    run, slurm = vars(run_spec(top.get("run"))), vars(slurm_spec(top.get("slurm")))
    slurm |= {"image": _image(slurm["image"], where), "options": list(slurm["options"])}
    return {"run": {key: run[key] for key in _HOW}, "slurm": slurm}


def _what(top: dict[str, Node]) -> dict[str, Any]:
    """What of a design decides which points there are and what comes out of them."""
    found = {key: _written(node.node) for key, node in top.items() if key not in ("run", "slurm")}
    run = top["run"].mapping() if "run" in top else {}
    return found | {f"run: {key}": _written(node.node) for key, node in run.items() if key not in _HOW}


def _written(node: Any) -> Any:
    """As it is written, without marks, comments, kinds of quotes; in its order, for that of factors counts."""
    if isinstance(node.value, list):
        return [tuple(map(_written, one)) if isinstance(one, tuple) else _written(one) for one in node.value]
    return node.tag, node.value


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
    if states["task_timeout"]:
        print(
            f"  raise `slurm: {{time: }}` in the design, then umwelt sweep --resume --again {store.meta['design']} "
            f"--output {store.path} --slurm"
        )
    failed = {state for state in states if state not in ("completed", "missing", "running", "damaged")}
    if failed:
        print(f"  failed ones once more: umwelt sweep --resume --again {store.path}")
