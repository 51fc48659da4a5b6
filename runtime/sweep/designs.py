# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kinds of designs: from factors to rows, each a level for every factor."""
from __future__ import annotations

import csv
import itertools
import math
import pathlib
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from .errors import SweepError, nearest
from .factors import Factor, Level
from .fractions import Fraction, NoDesign, by_generators, by_resolution
from .marked import Node

MOST = 1_000_000  # points
KINDS = ("full", "fractional", "one_at_a_time", "latin_hypercube", "random", "list")
TRIES = 200  # draws for each point that the constraints are to let through

Row = dict[str, Level]


@dataclass(frozen=True)
class DesignSpec:
    kind: str
    where: Node
    points: int = 0  # latin_hypercube, random
    resolution: int = 0  # fractional
    generators: tuple[str, ...] = ()
    base: dict[str, Level] = field(default_factory=dict)  # one_at_a_time
    file: pathlib.Path | None = None  # list
    seed: int = 0


def size(spec: DesignSpec, factors: list[Factor]) -> int:
    """Rows before constraints; -1 if only the file knows."""
    if spec.kind == "full":
        return math.prod(len(factor.levels) for factor in factors)
    if spec.kind == "fractional":
        return 1 << fraction(spec, factors)[0].base
    if spec.kind == "one_at_a_time":
        return 1 + sum(len(factor.levels) - 1 for factor in factors)
    return -1 if spec.kind == "list" else spec.points


def rows(spec: DesignSpec, factors: list[Factor]) -> Iterable[Row]:
    if spec.kind == "full":
        return _full(factors)
    if spec.kind == "fractional":
        return _fractional(spec, factors)
    if spec.kind == "one_at_a_time":
        return _one_at_a_time(spec, factors)
    if spec.kind == "latin_hypercube":
        return _latin_hypercube(spec, factors)
    if spec.kind == "random":
        return _random(spec, factors)
    return _from_list(spec, factors)


def _full(factors: list[Factor]) -> Iterator[Row]:
    names = [factor.name for factor in factors]
    for levels in itertools.product(*(factor.levels for factor in factors)):
        yield dict(zip(names, levels))


def fraction(spec: DesignSpec, factors: list[Factor]) -> tuple[Fraction, list[str]]:
    names = [factor.name for factor in factors]
    try:
        if spec.generators:
            return by_generators(names, list(spec.generators))
        return by_resolution(len(names), spec.resolution), names
    except NoDesign as problem:
        raise SweepError(
            spec.where.where, str(problem).split(", got ")[0], str(problem).partition(", got ")[2] or "something else"
        ) from None


def _fractional(spec: DesignSpec, factors: list[Factor]) -> Iterator[Row]:
    chosen, names = fraction(spec, factors)
    by_name = {factor.name: factor for factor in factors}
    for signs in chosen.rows():
        levels = {name: by_name[name].levels[sign > 0] for name, sign in zip(names, signs)}
        yield {factor.name: levels[factor.name] for factor in factors}


def _one_at_a_time(spec: DesignSpec, factors: list[Factor]) -> Iterator[Row]:
    base = {factor.name: spec.base.get(factor.name, factor.levels[0]) for factor in factors}
    yield dict(base)
    for factor in factors:
        for level in factor.levels:
            if level.text != base[factor.name].text:
                yield {**base, factor.name: level}


def _latin_hypercube(spec: DesignSpec, factors: list[Factor]) -> Iterator[Row]:
    from scipy.stats import qmc

    drawn = qmc.LatinHypercube(d=len(factors), seed=spec.seed).random(spec.points)
    for shares in drawn:
        yield {factor.name: factor.at(float(share)) for factor, share in zip(factors, shares)}


def _random(spec: DesignSpec, factors: list[Factor]) -> Iterator[Row]:
    """More than `points`, for constraints take some away: the caller stops when it has enough."""
    drawer = random.Random(f"rows of {spec.seed}")
    for _ in range(spec.points * TRIES):
        yield {factor.name: factor.at(drawer.random()) for factor in factors}


def _from_list(spec: DesignSpec, factors: list[Factor]) -> Iterator[Row]:
    from .marked import parse

    assert spec.file is not None
    by_name = {factor.name: factor for factor in factors}
    names = list(by_name)
    try:
        with open(spec.file, newline="", encoding="utf-8-sig") as file:
            reader = csv.reader(file)
            header = [name.strip() for name in next(reader, [])]
            for name in header:
                if name not in names:
                    close = nearest(name, names)
                    raise SweepError(
                        f"{spec.file}:1: column '{name}'",
                        "a factor of the design",
                        "none of that name",
                        f"the nearest known one is '{close}'" if close else f"known are {', '.join(names)}",
                    )
            if missing := [name for name in names if name not in header]:
                raise SweepError(f"{spec.file}:1", "a column for each factor", f"none for {', '.join(missing)}")
            if len(set(header)) != len(header):
                raise SweepError(f"{spec.file}:1", "each column once", ", ".join(header))
            for line in reader:
                if not line:
                    continue
                if len(line) != len(header):
                    raise SweepError(f"{spec.file}:{reader.line_num}", f"{len(header)} values", f"{len(line)}")
                row = {}
                for name, text in zip(header, (text.strip() for text in line)):
                    place = f"{spec.file}:{reader.line_num}: {name}"
                    if not text:
                        raise SweepError(place, "a value", "none")
                    plain = text.isprintable() and not set(text) & set("{}[]&*!|>'\"%@`#:,?")
                    value = parse(text, "value").plain() if plain else text
                    level = Level(text, value if isinstance(value, (int, float, str, bool)) else text)
                    by_name[name].check(level, place)
                    row[name] = level
                yield row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SweepError(str(spec.file), "a list of points (CSV)", str(error)) from None
