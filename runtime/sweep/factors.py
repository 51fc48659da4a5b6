# SPDX-License-Identifier: LGPL-2.1-or-later
"""Factors: what differs between points, which values it takes, and where those go."""
from __future__ import annotations

import math
from dataclasses import dataclass

from .errors import SweepError
from .expressions import Expression
from .marked import Node
from .quantities import quantity

# Where a factor's value goes by itself; "" : only to where {NAME} stands.
TARGETS = ("option", "nic", "node", "platform", "environment")


@dataclass(frozen=True)
class Level:
    """A value as it is written, which goes into commands, and as expressions see it."""

    text: str
    value: int | float | str | bool

    @property
    def number(self) -> float | None:
        """For regressions and axes."""
        if isinstance(self.value, bool):
            return float(self.value)
        return float(self.value) if isinstance(self.value, (int, float)) else quantity(self.text)


@dataclass(frozen=True)
class Range:
    low: float
    high: float
    logarithmic: bool
    whole: bool

    def at(self, share: float) -> Level:
        """The value that lies at `share` (0 to 1) of the range."""
        if self.whole:
            low, high = math.log(self.low) if self.logarithmic else self.low, self.high + 1
            high = math.log(high) if self.logarithmic else high
            value = low + share * (high - low)
            whole = min(int(self.high), math.floor(math.exp(value) if self.logarithmic else value))
            return Level(str(whole), whole)
        if self.logarithmic:
            value = math.exp(math.log(self.low) + share * (math.log(self.high) - math.log(self.low)))
        else:
            value = self.low + share * (self.high - self.low)
        value = float(f"{value:.12g}")  # what is written is what is computed with
        return Level(repr(value), value)


@dataclass(frozen=True)
class Factor:
    name: str
    where: Node
    target: str  # one of TARGETS or ""
    key: str  # option, parameter or variable
    levels: tuple[Level, ...] = ()
    range: Range | None = None
    follows: Expression | None = None  # computed from the others

    def check(self, level: Level, place: str) -> None:
        """That a level which somebody has written elsewhere is one of this factor's."""
        if self.levels and level.text not in (known := [one.text for one in self.levels]):
            raise SweepError(place, f"a level of the factor: {', '.join(known)}", f"'{level.text}'")
        if self.range is not None and not (
            level.number is not None and self.range.low <= level.number <= self.range.high
        ):
            expected = f"a number from {self.range.low:g} to {self.range.high:g}, as the factor has it"
            raise SweepError(place, expected, f"'{level.text}'")

    def at(self, share: float) -> Level:
        if self.range is not None:
            return self.range.at(share)
        return self.levels[min(len(self.levels) - 1, int(share * len(self.levels)))]


def level(node: Node) -> Level:
    return Level(node.text(), node.scalar())


def computed(value: object) -> Level:
    """What an expression came to: whole numbers without a point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        value = int(value)
    assert isinstance(value, (int, float, str, bool))
    return Level(str(value), value)
