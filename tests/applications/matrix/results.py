# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares what a program computed natively and simulated: texts, whose numbers may differ by rounding."""
import dataclasses
import math
import re

NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][-+]?\d+)?")


@dataclasses.dataclass(frozen=True)
class Verdict:
    good: bool
    text: str  # for a table
    details: tuple[str, ...] = ()


def value(text: str) -> float:
    return float(text.replace("d", "e").replace("D", "E"))


def difference(native: str, simulated: str) -> float:
    """Largest relative difference of the numbers of two lines; infinite if they differ in anything else."""
    if NUMBER.sub("#", native).split() != NUMBER.sub("#", simulated).split():
        return math.inf
    largest = 0.0
    for left, right in zip(NUMBER.findall(native), NUMBER.findall(simulated)):
        a, b = value(left), value(right)
        if a != b:
            largest = max(largest, abs(a - b) / max(abs(a), abs(b)))
    return largest


def compare(native: str, simulated: str, tolerance: float) -> Verdict:
    if not native.strip():
        return Verdict(False, "**nothing to compare**", ("the native run has no results",))
    if native == simulated:
        return Verdict(True, "equal")
    left, right = native.splitlines(), simulated.splitlines()
    if len(left) != len(right):
        return Verdict(False, "**differs**", (f"expected {len(left)} lines of results, got {len(right)}",
                                             *first_difference(left, right)))
    largest = max(difference(a, b) for a, b in zip(left, right))
    if largest <= tolerance:
        return Verdict(True, f"equal to {largest:.0e}")
    text = "**differs**" if math.isinf(largest) else f"**differs by {largest:.0e}**"
    return Verdict(False, text, first_difference(left, right))


def first_difference(left: list[str], right: list[str]) -> tuple[str, ...]:
    for number, (a, b) in enumerate(zip(left, right), 1):
        if a != b:
            return (f"line {number}: expected {a!r}", f"{' ' * len(f'line {number}')}  got      {b!r}")
    return ()
