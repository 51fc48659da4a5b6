# SPDX-License-Identifier: LGPL-2.1-or-later
"""Points: what is run, with which levels and which seed, in which order; and what of a design can be found wrong only
here, before anything runs."""
from __future__ import annotations

import hashlib
import random
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from . import designs
from .design_file import Design
from .errors import SweepError, nearest, unknown
from .expressions import ExpressionError
from .factors import Factor, Level, computed
from .known import Umwelt
from .marked import Node

# Options whose values are files that Umwelt reads.
OF_FILES = ("hostfile", "machinefile", "default-hostfile", "power", "kernels")
_HOLE = re.compile(r"\{([A-Za-z_]\w*)\}")


@dataclass(frozen=True)
class Point:
    number: int  # as designed, replicates of a row one after the other
    row: int
    replicate: int
    seed: int
    levels: dict[str, Level]


def fill(text: str, values: Mapping[str, str]) -> str:
    """{NAME} is the level of that factor; other braces stay as they are."""
    return _HOLE.sub(lambda match: values.get(match[1], match[0]), text)


def holes(text: str) -> set[str]:
    return set(_HOLE.findall(text))


def expand(design: Design) -> list[Point]:
    """All points, in the order in which they run."""
    free = design.free
    expected = designs.size(design.spec, free)
    if expected * design.replicates > designs.MOST:
        raise _too_many(design, expected * design.replicates)
    rows: list[dict[str, Level]] = []
    tried = 0
    for row in designs.rows(design.spec, free):
        tried += 1
        row = _with_followers(design, row)
        if not _allowed(design, row):
            continue
        rows.append(row)
        if len(rows) * design.replicates > designs.MOST:
            raise _too_many(design, len(rows) * design.replicates)
        if design.spec.kind == "random" and len(rows) == design.spec.points:
            break
    if not rows or (design.spec.kind == "random" and len(rows) < design.spec.points):
        raise SweepError(
            design.place("constraints"),
            f"{design.spec.points or 'some'} points that fulfil them",
            f"{len(rows)} of {tried:,}",
            "loosen a constraint or add levels",
        )
    if design.spec.kind == "latin_hypercube" and len(rows) < design.spec.points:
        # Others in their place would not have each part of each range once.
        print(f"umwelt sweep: design: {len(rows):,} of {design.spec.points:,} points of the Latin hypercube fulfil the "
              "constraints, the others are left out", file=sys.stderr)  # fmt: skip
    _check_varied(design, rows)
    points = [
        Point(index * design.replicates + replicate, index, replicate, design.seed + replicate, row)
        for index, row in enumerate(rows)
        for replicate in range(design.replicates)
    ]
    if design.shuffled:
        random.Random(f"order of {design.seed}").shuffle(points)
    return points


def _too_many(design: Design, count: int) -> SweepError:
    return SweepError(
        design.spec.where.where,
        f"at most {designs.MOST:,} points",
        f"{count:,}",
        "take a fractional design, a Latin hypercube or fewer levels or replicates",
    )


def _with_followers(design: Design, row: dict[str, Level]) -> dict[str, Level]:
    """With the values that follow from others, which may follow from others still."""
    waiting = [factor for factor in design.factors if factor.follows is not None]
    if not waiting:
        return row
    row = dict(row)
    while waiting:
        ready = [factor for factor in waiting if factor.follows is not None and factor.follows.names <= row.keys()]
        if not ready:
            raise waiting[0].where.error("a value that follows from others", "one that follows from itself")
        for factor in ready:
            assert factor.follows is not None
            try:
                row[factor.name] = computed(factor.follows.value({name: one.value for name, one in row.items()}))
            except ExpressionError as error:
                raise factor.where.error(
                    "a value for every point", f"{error} where {_shown(row, factor.follows.names)}"
                ) from None
            waiting.remove(factor)
    return {factor.name: row[factor.name] for factor in design.factors}


def _allowed(design: Design, row: dict[str, Level]) -> bool:
    values = {name: one.value for name, one in row.items()}
    for index, constraint in enumerate(design.constraints):
        try:
            if not constraint.value(values):
                return False
        except ExpressionError as error:
            raise SweepError(
                design.place("constraints", index),
                "a value for every point",
                f"{error} where {_shown(row, constraint.names)}",
            ) from None
    return True


def _shown(row: dict[str, Level], names: frozenset[str]) -> str:
    return ", ".join(f"{name} is {row[name].text}" for name in sorted(names) if name in row) or "everywhere"


def _check_varied(design: Design, rows: list[dict[str, Level]]) -> None:
    for factor in design.factors:
        if len(rows) > 1 and all(row[factor.name].text == rows[0][factor.name].text for row in rows):
            alone = len(factor.levels) == 1
            raise factor.where.error(
                "a factor that differs between points",
                f"'{rows[0][factor.name].text}' in all",
                "write it as a fixed value" if alone else "look at the constraints",
            )


def check_against(design: Design, umwelt: Umwelt) -> None:
    """Factors that go nowhere, clashes, parameters that the model or the platform does not have."""
    names = {factor.name for factor in design.factors}
    used = _used(design, names)
    followed = {name for factor in design.factors if factor.follows for name in factor.follows.names}
    for factor in design.factors:
        if not factor.target and factor.name not in used and factor.name not in followed:
            raise factor.where.error(
                "a factor that changes something",
                "one that goes nowhere",
                f"give it a place (option, nic, node, platform, environment), or write {{{factor.name}}} into "
                "arguments, options, environment or a template",
            )
    _check_clashes(design)
    fixed = {setting.name: setting for setting in design.options}
    model = fixed["model"].value if "model" in fixed else "bxi"
    spec = fixed["platform"].value if "platform" in fixed else "bxi"
    by_option = {factor.key for factor in design.factors if factor.target == "option"}
    _check_parameters(design, umwelt, None if "model" in by_option or not model or "{" in model else model)
    for factor in design.factors:
        table: dict[str, str] | None = None
        if factor.target == "node":
            table, what = umwelt.models.get("node"), "parameter of nodes"
        elif factor.target == "nic" and "model" not in by_option and model and "{" not in model:
            table, what = umwelt.models.get(model), f"parameter of model {model}"
        elif factor.target == "platform" and "platform" not in by_option and spec and "{" not in spec:
            table, what = umwelt.platforms.get(spec.partition(":")[0]), f"parameter of platform {spec}"
            if spec.endswith((".xml", ".so")):
                raise factor.where.error("a platform of `umwelt platforms`, which has parameters", spec)
        if table is not None and factor.key not in table:
            raise unknown(f"{factor.where.where}.{factor.target}", factor.key, table, what)


def _check_parameters(design: Design, umwelt: Umwelt, model: str | None) -> None:
    """Of --nic and --node as they are fixed. `model`: nothing if points have several."""
    for setting in design.options:
        key, equals, _ = (setting.value or "").partition("=")
        table = umwelt.models.get("node" if setting.name == "node" else model or "")
        if setting.name not in ("nic", "node") or not equals or "{" in key or key.startswith("@") or table is None:
            continue
        if key not in table:
            what = "parameter of nodes" if setting.name == "node" else f"parameter of model {model}"
            raise unknown(setting.where.where, key, table, what)


def _texts(design: Design) -> list[tuple[str, str]]:
    found = [(design.place("program"), design.program)]
    found += [(design.place("arguments", index), text) for index, text in enumerate(design.arguments)]
    settings = (*design.options, *design.environment)
    return found + [(setting.where.where, setting.value) for setting in settings if setting.value]


def _used(design: Design, names: set[str]) -> set[str]:
    """Factors that stand somewhere in braces; braces around a word that is nearly a factor are an error."""
    used: set[str] = set()
    for where, text in _texts(design):
        for name in holes(text):
            if name in names or name in ("seed", "replicate", "point"):
                used.add(name)
            else:
                close = nearest(name, names)
                raise SweepError(
                    where,
                    "the name of a factor in braces",
                    f"'{{{name}}}'",
                    f"the nearest known one is '{close}'" if close else "",
                )
    for path in design.templates.values():
        try:
            used |= holes(path.read_text(encoding="utf-8")) & names
        except (OSError, UnicodeDecodeError) as error:
            raise SweepError(str(path), "a template (text)", str(error)) from None
    return used


def _check_clashes(design: Design) -> None:
    repeated = {
        "mca",
        "gmca",
        "nic",
        "node",
        "kernels",
        "nodes",
        "model-at",
        "model-region",
        "cpu-at",
        "cpu-region",
        "latency-factor",
        "bandwidth-factor",
        "fault",
        "fold",
        "collectives",
    }
    aliases = {"n": "np", "c": "np", "npernode": "N", "jobs": "j", "cpus-per-proc": "cpus-per-rank", "host": "H"}
    taken: dict[tuple[str, str], str] = {}
    entries: list[tuple[tuple[str, str], str, Node]] = []
    for setting in design.options:
        name = aliases.get(setting.name, setting.name)
        if name in ("nic", "node"):
            entries.append(((name, str(setting.value).partition("=")[0]), f"options.{setting.name}", setting.where))
        elif name not in repeated:
            entries.append((("option", name), f"options.{setting.name}", setting.where))
    entries += [
        (("environment", setting.name), f"environment.{setting.name}", setting.where) for setting in design.environment
    ]
    for factor in design.factors:
        key = aliases.get(factor.key, factor.key) if factor.target == "option" else factor.key
        if factor.target and not (factor.target == "option" and key in repeated):
            entries.append(((factor.target, key), f"factor {factor.name}", factor.where))
    for place, what, where in entries:
        if place in taken:
            raise where.error(
                f"one value for {place[0]} {place[1]}", f"{taken[place]} and {what}", "take one of them out"
            )
        taken[place] = what
    if ("option", "seed") in taken and design.replicates > 1:
        raise SweepError(
            str(design.path), "seeds of replicates from `seed:`", f"{taken[('option', 'seed')]}, too", "take that out"
        )


@dataclass(frozen=True)
class Command:
    """`umwelt run` for a point, without the report and the directory, which the one who runs it knows."""

    arguments: list[str]  # what follows `umwelt run`
    environment: dict[str, str]
    files: dict[str, str]  # in the point's directory, from templates


class Commands:
    """Makes commands of points; templates are read once."""

    def __init__(self, design: Design, umwelt: Umwelt) -> None:
        self._design = design
        self._takes = umwelt.options
        self._beside = design.path.parent
        self._templates = {name: path.read_text(encoding="utf-8") for name, path in design.templates.items()}

    def of(self, point: Point) -> Command:
        design = self._design
        values = {name: level.text for name, level in point.levels.items()}
        values |= {"seed": str(point.seed), "replicate": str(point.replicate), "point": str(point.number)}
        arguments: list[str] = []
        platform = ""
        seeded = False
        for name, value in self._given(values):
            seeded = seeded or name == "seed"
            value = None if value is None else self._file(name, value)
            if name == "platform":
                platform = value or ""
            elif value is None:
                arguments.append(f"--{name}")
            else:
                dash = "-" if len(name) == 1 or name == "np" else "--"
                arguments += [dash + name, *(value.split(" ", 1) if self._takes.get(name) == 2 else [value])]
        if parameters := [
            f"{factor.key}={values[factor.name]}" for factor in design.factors if factor.target == "platform"
        ]:
            platform = platform or "bxi"
            platform += ("," if ":" in platform else ":") + ",".join(parameters)
        if platform:
            arguments += ["--platform", platform]
        for factor in design.factors:
            if factor.target in ("nic", "node"):
                arguments += [f"--{factor.target}", f"{factor.key}={values[factor.name]}"]
        if not seeded:
            arguments += ["--seed", str(point.seed)]
        environment = {setting.name: fill(setting.value or "", values) for setting in design.environment}
        environment |= {factor.key: values[factor.name] for factor in design.factors if factor.target == "environment"}
        for name, text in environment.items():
            arguments += ["-x", f"{name}={text}"]
        if design.run.mpi_calls:
            arguments.append("--mpi-calls")
        if design.run.report_details:
            arguments.append("--report-details")
        program = fill(design.program, values)
        arguments += [self._found(program), *(fill(text, values) for text in design.arguments)]
        files = {name: fill(text, values) for name, text in self._templates.items()}
        return Command(arguments, environment, files)

    def program(self, point: Point) -> str:
        return self._found(fill(self._design.program, {name: level.text for name, level in point.levels.items()}))

    def _given(self, values: dict[str, str]) -> list[tuple[str, str | None]]:
        given: list[tuple[str, str | None]] = [
            (setting.name, None if setting.value is None else fill(setting.value, values))
            for setting in self._design.options
        ]
        for factor in self._design.factors:
            if factor.target == "option":
                text = values[factor.name]
                if self._takes.get(factor.key, 1) > 0:
                    given.append((factor.key, text))
                elif text == "true":  # a flag: there or not
                    given.append((factor.key, None))
                elif text != "false":
                    raise factor.where.error(f"levels true and false, for --{factor.key} takes no value", f"'{text}'")
        return given

    def _file(self, option: str, value: str) -> str:
        """Points run in directories of their own: a file that an option names, or that follows '@', is one from where
        the design lies, if there is one."""
        at = value.startswith("@")
        if not (at or option in OF_FILES or (option == "platform" and value.endswith((".xml", ".so")))):
            return value
        beside = self._beside / value.removeprefix("@")
        return ("@" if at else "") + str(beside) if beside.is_file() else value

    def _found(self, program: str) -> str:
        """Points run in directories of their own: a path is one from where the design lies."""
        beside = self._design.path.parent / program
        return str(beside) if "/" in program or beside.is_file() else program


def check_differences(design: Design, points: list[Point], commands: Commands) -> None:
    """No two rows may come to the same command: their factors would change nothing."""
    seen: dict[bytes, Point] = {}
    for point in points:
        if point.replicate != 0:
            continue
        command = commands.of(point)
        key = "\0".join((*command.arguments, "\1", *(f"{k}={v}" for k, v in sorted(command.files.items()))))
        other = seen.setdefault(hashlib.blake2b(key.encode(), digest_size=16).digest(), point)
        if other is point:
            continue
        differing: list[Factor] = [
            factor for factor in design.factors if point.levels[factor.name].text != other.levels[factor.name].text
        ]
        if differing:
            factor = differing[0]
            raise factor.where.error(
                "a factor that changes something",
                f"the same command for '{other.levels[factor.name].text}' and '{point.levels[factor.name].text}'",
            )
        raise SweepError(
            f"{design.path}: design",
            "each point once",
            f"rows {other.row + 1} and {point.row + 1} alike",
            "say `replicates:` for repetitions",
        )
