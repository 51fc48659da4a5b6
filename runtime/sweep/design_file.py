# SPDX-License-Identifier: LGPL-2.1-or-later
"""The design: a YAML file as data. Whatever is wrong with it is told with line and column; what needs the points, or
Umwelt itself, is looked at in points.py."""
from __future__ import annotations

import math
import pathlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from . import designs
from .designs import KINDS, DesignSpec
from .errors import nearest
from .expressions import Expression, ExpressionError
from .expressions import parse as parse_expression
from .factors import TARGETS, Factor, Level, Range, level
from .known import RESERVED, Umwelt
from .marked import Node, read
from .metrics import ENERGY
from .quantities import seconds, size
from .schema import COLUMNS

FORMAT = 1
Amount = TypeVar("Amount", int, float)
TOP = (
    "sweep",
    "name",
    "program",
    "arguments",
    "options",
    "environment",
    "templates",
    "inputs",
    "factors",
    "constraints",
    "design",
    "replicates",
    "seed",
    "order",
    "metrics",
    "cost",
    "run",
    "slurm",
)
NAME = re.compile(r"[A-Za-z_]\w*")
# Metrics for `cost:`, which no metric of the program's output may be called, either.
COSTS = {"simulated_s", "simulated_ps", "timeline_events", "wall_s", "cpu_s", "memory", *ENERGY.values()}
KEPT = ("report", "output", "files")


@dataclass(frozen=True)
class RunSpec:
    jobs: int = 1
    timeout: float | None = None  # seconds of wall-clock time for a point
    memory: int | None = None  # bytes for a point
    retries: int = 1
    mpi_calls: bool = False
    report_details: bool = False
    keep: tuple[str, ...] = ()


@dataclass(frozen=True)
class SlurmSpec:
    partition: str | None = None
    account: str | None = None
    time: float | None = None  # seconds for a task of the array
    memory: int | None = None  # bytes for such a task
    tasks: int | None = None
    at_once: int | None = None
    cpus: int = 1
    image: str | None = None  # of Apptainer, with Umwelt and the program in it
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setting:
    """A value for a fixed option or variable; may have {FACTOR} in it."""

    name: str
    value: str | None  # nothing: an option without a value
    where: Node


@dataclass(frozen=True)
class Design:
    path: pathlib.Path
    name: str
    program: str
    arguments: tuple[str, ...]
    options: tuple[Setting, ...]
    environment: tuple[Setting, ...]
    templates: dict[str, pathlib.Path]
    inputs: tuple[pathlib.Path, ...]
    factors: tuple[Factor, ...]
    constraints: tuple[Expression, ...]
    spec: DesignSpec
    replicates: int
    seed: int
    shuffled: bool
    metrics: dict[str, str] = field(default_factory=dict)  # name and regular expression
    cost: str | None = None
    run: RunSpec = RunSpec()
    slurm: SlurmSpec = SlurmSpec()
    root: Node | None = None

    def place(self, key: str, index: int | None = None) -> str:
        """Where in the file something stands, for messages: a key of the top, or one of its entries."""
        if self.root is None or key not in (top := self.root.mapping(TOP)):
            return f"{self.path}: {key}"
        node = top[key]
        return node.list()[index].where if index is not None and node.is_list() else node.where

    @property
    def free(self) -> list[Factor]:
        return [factor for factor in self.factors if factor.follows is None]


def load(path: pathlib.Path, umwelt: Umwelt) -> Design:
    root = read(path)
    top = root.mapping(TOP)
    where = path.resolve().parent
    for key in ("program", "factors"):
        if key not in top:
            raise root.error(f"'{key}:'", "none", "runtime/sweep/README.md has an example")
    if "sweep" in top and top["sweep"].integer(1) != FORMAT:
        raise top["sweep"].error(f"{FORMAT}, the format this umwelt knows")
    seed = top["seed"].integer(0, 2**63 - 1) if "seed" in top else 0
    factors = _factors(top["factors"], umwelt, _kind(top.get("design")) == "list")
    names = {factor.name for factor in factors}
    free = [factor for factor in factors if factor.follows is None]
    arguments = _arguments(top.get("arguments"))
    metrics = _metrics(top.get("metrics"), names)
    templates = {_inside(key): _there(where, value) for key, value in _pairs(top.get("templates"))}
    return Design(
        path=path.resolve(),
        name=top["name"].text() if "name" in top else path.stem,
        program=top["program"].text(),
        arguments=arguments,
        options=tuple(_options(top.get("options"), umwelt)),
        environment=tuple(_environment(top.get("environment"))),
        templates=templates,
        inputs=_inputs(where, top.get("inputs"), templates),
        factors=tuple(factors),
        constraints=tuple(
            _expression(entry, names) for entry in (top["constraints"].list() if "constraints" in top else [])
        ),
        spec=_spec(top.get("design"), root, free, where, seed),
        replicates=top["replicates"].integer(1, designs.MOST) if "replicates" in top else 1,
        seed=seed,
        shuffled="order" not in top or top["order"].one_of(("random", "given")) == "random",
        metrics=metrics,
        cost=_expression(top["cost"], names | set(metrics) | COSTS).text if "cost" in top else None,
        run=run_spec(top.get("run")),
        slurm=slurm_spec(top.get("slurm")),
        root=root,
    )


def _pairs(node: Node | None) -> list[tuple[Node, Node]]:
    return [] if node is None else list(node.items())


def _there(where: pathlib.Path, node: Node) -> pathlib.Path:
    path = where / node.text()
    if not path.is_file():
        raise node.error("a file", f"'{path}', which is none")
    return path


def _inputs(where: pathlib.Path, node: Node | None, templates: dict[str, pathlib.Path]) -> tuple[pathlib.Path, ...]:
    """Each is linked into a point's directory by its name: no two things there may have the same."""
    found: dict[str, pathlib.Path] = {}
    for entry in node.list() if node is not None else []:
        path = _there(where, entry)
        if path.name in templates or path.name in found:
            raise entry.error(
                "another name than those of other inputs and of templates in the point's directory", f"'{path.name}'"
            )
        found[path.name] = path
    return tuple(found.values())


def _inside(node: Node) -> str:
    path = pathlib.PurePath(node.text())
    if path.is_absolute() or ".." in path.parts or not path.parts:
        raise node.error("a path in the point's directory", f"'{path}'")
    return str(path)


def _arguments(node: Node | None) -> tuple[str, ...]:
    if node is None:
        return ()
    if node.is_list():
        return tuple(entry.text() for entry in node.list())
    return tuple(node.text().split())


def _metrics(node: Node | None, factors: set[str]) -> dict[str, str]:
    found = {}
    for key, value in (node.mapping() if node is not None else {}).items():
        if not NAME.fullmatch(key):
            raise value.error("a name of letters, digits and '_'", f"'{key}'")
        if key in factors or key in COLUMNS or key in COSTS:
            what = "Umwelt's own metric" if key in COSTS else "a column of results" if key in COLUMNS else "a factor"
            raise value.error("a name of its own", f"'{key}', which is {what}")
        try:
            groups = re.compile(value.text(), re.MULTILINE).groups
        except re.error as error:
            raise value.error("a regular expression", str(error)) from None
        if groups != 1:
            raise value.error("a regular expression with one group, the number", f"{groups} groups")
        found[key] = value.text()
    return found


def check_option(name: str, where: Node, umwelt: Umwelt) -> str:
    bare = name.lstrip("-")
    if bare in RESERVED:
        raise where.error("an option that a sweep may give", f"--{bare}", RESERVED[bare])
    if bare not in umwelt.options:
        close = nearest(bare, umwelt.options)
        raise where.error(
            "an option of `umwelt run`",
            f"'{name}'",
            f"the nearest known one is '{close}'" if close else "`umwelt run --help` lists them",
        )
    return bare


def _options(node: Node | None, umwelt: Umwelt) -> list[Setting]:
    found = []
    for key, value in (node.mapping(kind="option") if node is not None else {}).items():
        name = check_option(key, value, umwelt)
        takes = umwelt.options[name]
        for entry in value.list() if value.is_list() else [value]:
            if takes == 0:
                if entry.flag():
                    found.append(Setting(name, None, entry))
            elif entry.is_mapping():  # nic: {pci_latency: 200ns}, mca: {pml: cm}
                found += [
                    Setting(name, f"{inner}{' ' if takes == 2 else '='}{one.text()}", one)
                    for inner, one in entry.mapping().items()
                ]
            else:
                found.append(Setting(name, entry.text(), entry))
    return found


def _environment(node: Node | None) -> list[Setting]:
    found = []
    for key, value in (node.mapping() if node is not None else {}).items():
        if not NAME.fullmatch(key):
            raise value.error("a name of a variable", f"'{key}'")
        found.append(Setting(key, value.text(), value))
    return found


def _expression(node: Node, names: set[str]) -> Expression:
    try:
        return parse_expression(node.text(), names)
    except ExpressionError as error:
        raise node.error("an expression of factors", str(error)) from None


def _kind(node: Node | None) -> str:
    parts = dict(node.mapping()) if node is not None and node.is_mapping() else {}
    return parts["kind"].one_of(KINDS) if "kind" in parts else "full"


def _factors(node: Node, umwelt: Umwelt, listed: bool) -> list[Factor]:
    """`listed`: a list has the values of all points."""
    entries = node.mapping(kind="factor")
    if not entries:
        raise node.error("at least one factor", "none")
    for key, value in entries.items():
        if not NAME.fullmatch(key):
            raise value.error("a name of letters, digits and '_'", f"'{key}'")
        if key in COLUMNS or key in COSTS:
            raise value.error("a name of its own", f"'{key}', which results have already")
    return [_factor(key, value, set(entries), umwelt, listed) for key, value in entries.items()]


def _factor(name: str, node: Node, names: set[str], umwelt: Umwelt, listed: bool) -> Factor:
    if node.is_list():
        return Factor(name, node, "", "", _levels(node))
    parts = node.mapping((*TARGETS, "levels", "from", "to", "scale", "whole", "value"))
    targets = [target for target in TARGETS if target in parts]
    if len(targets) > 1:
        raise node.error("one place where it goes", f"{' and '.join(targets)}", "use two factors, or {NAME}")
    target = targets[0] if targets else ""
    key = parts[target].text() if target else ""
    if target == "option":
        key = check_option(key, parts[target], umwelt)
    kinds = [kind for kind in ("levels", "from", "value") if kind in parts]
    if listed and not kinds:
        return Factor(name, node, target, key)
    if len(kinds) != 1:
        raise node.error("one of levels, from and to, value", " and ".join(kinds) or "none of them")
    if kinds[0] == "levels":
        return Factor(name, node, target, key, _levels(parts["levels"]))
    if kinds[0] == "value":
        expression = _expression(parts["value"], names - {name})
        return Factor(name, node, target, key, follows=expression)
    if "to" not in parts:
        raise node.error("from and to", "from only")
    low, high = parts["from"].number(), parts["to"].number()
    logarithmic = "scale" in parts and parts["scale"].one_of(("linear", "log")) == "log"
    whole = parts["whole"].flag() if "whole" in parts else False
    if high <= low or (logarithmic and low <= 0):
        raise parts["to"].error("more than from" + (", which is positive" if logarithmic else ""))
    return Factor(name, node, target, key, range=Range(low, high, logarithmic, whole))


def _levels(node: Node) -> tuple[Level, ...]:
    found: dict[str, Level] = {}
    for entry in node.list():
        one = level(entry)
        if one.text in found:
            raise entry.error("each level once", f"'{one.text}' again")
        # With units: 1us and 1000ns are one level. Without: a program may tell 1 from 1.0.
        same = next((other.text for other in found.values() if _same_amount(one, other)), None)
        if same is not None:
            raise entry.error("each level once", f"'{one.text}', which is '{same}'")
        found[one.text] = one
    if len(found) == 0:
        raise node.error("at least one level", "none")
    return tuple(found.values())


def _same_amount(one: Level, other: Level) -> bool:
    a, b = one.number, other.number
    return isinstance(one.value, str) and a is not None and b is not None and math.isclose(a, b, rel_tol=1e-12)


def _spec(node: Node | None, root: Node, factors: list[Factor], where: pathlib.Path, seed: int) -> DesignSpec:
    parts = {} if node is None else node.mapping(("kind", "points", "resolution", "generators", "base", "file", "seed"))
    here = root if node is None else node
    kind = parts["kind"].one_of(KINDS) if "kind" in parts else "full"
    wanted = {
        "fractional": ("resolution", "generators"),
        "one_at_a_time": ("base",),
        "list": ("file",),
        "latin_hypercube": ("points",),
        "random": ("points",),
    }.get(kind, ())
    for key in parts:
        if key not in ("kind", "seed", *wanted):
            raise parts[key].error(f"what a {kind} design takes ({', '.join(wanted) or 'nothing'})", f"'{key}'")
    for factor in factors:
        if kind in ("full", "fractional", "one_at_a_time") and factor.range is not None:
            raise factor.where.error(
                f"levels, for the design is {kind}", "a range", "latin_hypercube and random take ranges"
            )
        if kind == "fractional" and len(factor.levels) != 2:
            raise factor.where.error("two levels, for the design is fractional", f"{len(factor.levels)}")
    if kind == "list" and "file" not in parts:
        raise here.error("file: POINTS.csv, for the design is a list", "none")
    if kind in ("latin_hypercube", "random") and "points" not in parts:
        raise here.error("points: N", "none")
    if kind == "fractional" and ("resolution" in parts) == ("generators" in parts):
        raise here.error("either resolution or generators", "both" if "resolution" in parts else "neither")
    base = {}
    for key, value in (
        parts["base"].mapping(tuple(f.name for f in factors), "factor") if "base" in parts else {}
    ).items():
        factor = next(factor for factor in factors if factor.name == key)
        base[key] = next((one for one in factor.levels if one.text == value.text()), level(value))
    return DesignSpec(
        kind,
        here,
        points=parts["points"].integer(1) if "points" in parts else 0,
        resolution=parts["resolution"].integer(3, 20) if "resolution" in parts else 0,
        generators=tuple(entry.text() for entry in parts["generators"].list()) if "generators" in parts else (),
        base=base,
        file=_there(where, parts["file"]) if "file" in parts else None,
        seed=parts["seed"].integer(0, 2**63 - 1) if "seed" in parts else seed,
    )


def _above_zero(node: Node | None, read: Callable[[str], Amount | None], expected: str) -> Amount | None:
    if node is None:
        return None
    value = read(node.text())
    if value is None or value <= 0:
        raise node.error(expected)
    return value


def _time(node: Node | None) -> float | None:
    return _above_zero(node, seconds, "a time (90, 5min, 1:30:00)")


def _size(node: Node | None) -> int | None:
    return _above_zero(node, size, "a size (2GiB)")


_RUN_KEYS = ("jobs", "timeout", "memory", "retries", "mpi_calls", "report_details", "keep")


def run_spec(node: Node | None) -> RunSpec:
    parts = {} if node is None else node.mapping(_RUN_KEYS)
    return RunSpec(
        jobs=parts["jobs"].integer(1, 4096) if "jobs" in parts else 1,
        timeout=_time(parts.get("timeout")),
        memory=_size(parts.get("memory")),
        retries=parts["retries"].integer(0, 100) if "retries" in parts else 1,
        mpi_calls=parts["mpi_calls"].flag() if "mpi_calls" in parts else False,
        report_details=parts["report_details"].flag() if "report_details" in parts else False,
        keep=tuple(entry.one_of(KEPT) for entry in parts["keep"].list()) if "keep" in parts else (),
    )


def slurm_spec(node: Node | None) -> SlurmSpec:
    parts = (
        {}
        if node is None
        else node.mapping(("partition", "account", "time", "memory", "tasks", "at_once", "cpus", "image", "options"))
    )
    return SlurmSpec(
        partition=parts["partition"].text() if "partition" in parts else None,
        account=parts["account"].text() if "account" in parts else None,
        time=_time(parts.get("time")),
        memory=_size(parts.get("memory")),
        tasks=parts["tasks"].integer(1) if "tasks" in parts else None,
        at_once=parts["at_once"].integer(1) if "at_once" in parts else None,
        cpus=parts["cpus"].integer(1) if "cpus" in parts else 1,
        image=parts["image"].text() if "image" in parts else None,
        options=tuple(entry.text() for entry in parts["options"].list()) if "options" in parts else (),
    )
