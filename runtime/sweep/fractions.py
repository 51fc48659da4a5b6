# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two-level fractional factorial designs: 2^(k-p) points for k factors.

A generator `d = abc` says that the sign of factor d is the product of those of a, b and c; I = abcd is then a word of
the defining relation. The resolution is the length of the shortest word: with IV, main effects are confounded with
interactions of three factors at least. Words are sets of factors, kept as bits; the product of two is their exclusive
or. Box, Hunter and Hunter, "Statistics for Experimenters", chapter 6."""
from __future__ import annotations

import itertools
from dataclasses import dataclass

MOST_FACTORS = 20


class NoDesign(Exception):
    """There is none, and why."""


@dataclass(frozen=True)
class Fraction:
    factors: int
    base: int  # the first `base` factors are a full factorial
    generators: tuple[int, ...]  # for each of the others: bits of the base factors it is the product of
    signs: tuple[int, ...]  # +1 or -1 for each generator

    def words(self) -> list[int]:
        """The defining relation, without I."""
        single = [mask | 1 << (self.base + index) for index, mask in enumerate(self.generators)]
        found = []
        for count in range(1, len(single) + 1):
            for chosen in itertools.combinations(single, count):
                word = 0
                for one in chosen:
                    word ^= one
                found.append(word)
        return found

    @property
    def resolution(self) -> int:
        return min((word.bit_count() for word in self.words()), default=self.factors + 1)

    def rows(self) -> list[tuple[int, ...]]:
        """Signs (-1, +1) of all factors, the first one changing fastest (Yates' order)."""
        found = []
        for index in range(1 << self.base):
            row = [1 if index >> bit & 1 else -1 for bit in range(self.base)]
            for mask, sign in zip(self.generators, self.signs):
                product = sign
                for bit in range(self.base):
                    if mask >> bit & 1:
                        product *= row[bit]
                row.append(product)
            found.append(tuple(row))
        return found


def by_resolution(factors: int, resolution: int) -> Fraction:
    """The smallest one of at least that resolution; generators are taken greedily, long ones first, with a way back
    if that comes to nothing."""
    if factors > MOST_FACTORS:
        raise NoDesign(f"at most {MOST_FACTORS} factors, got {factors}")
    for base in range(max(1, resolution - 1), factors):
        # A factor more needs a word with the base; it has `resolution` letters at least, one of them the new one's.
        candidates = [mask for mask in range(1, 1 << base) if mask.bit_count() >= resolution - 1]
        candidates.sort(key=lambda mask: (-mask.bit_count(), mask))
        found = _extend([], candidates, factors - base, base, resolution, [20000])
        if found is not None:
            return Fraction(factors, base, tuple(found), (1,) * len(found))
    return Fraction(factors, factors, (), ())


def _extend(
    chosen: list[int], candidates: list[int], wanted: int, base: int, resolution: int, patience: list[int]
) -> list[int] | None:
    if len(chosen) == wanted:
        return chosen
    for index, mask in enumerate(candidates):
        patience[0] -= 1
        if patience[0] < 0:
            return None
        more = chosen + [mask]
        if Fraction(base + len(more), base, tuple(more), (1,) * len(more)).resolution < resolution:
            continue
        found = _extend(more, candidates[index + 1 :], wanted, base, resolution, patience)
        if found is not None:
            return found
    return None


def by_generators(names: list[str], texts: list[str]) -> tuple[Fraction, list[str]]:
    """From `d = a*b*c` or `d = -a*b`; also the names in the order of the fraction's factors."""
    parsed: dict[str, tuple[list[str], int]] = {}
    for text in texts:
        left, equals, right = (part.strip() for part in text.partition("="))
        sign = -1 if right.startswith("-") else 1
        parts = [part.strip() for part in right.removeprefix("-").split("*")]
        if not equals or not all(parts):
            raise NoDesign(f"a generator like 'd = a*b*c', got '{text}'")
        for name in (left, *parts):
            if name not in names:
                raise NoDesign(f"names of factors in generators, got '{name}'")
        if left in parsed:
            raise NoDesign(f"one generator for each factor, got a second one for '{left}'")
        parsed[left] = (parts, sign)
    base = [name for name in names if name not in parsed]
    masks = []
    for left, (parts, _) in parsed.items():
        mask = 0
        for name in parts:
            if name not in base:
                raise NoDesign(f"generators of factors without one, got '{name}' in that of '{left}'")
            mask ^= 1 << base.index(name)
        if mask.bit_count() < 2:
            raise NoDesign(f"a product of at least two factors for '{left}', or it is the same as another one")
        masks.append(mask)
    signs = tuple(sign for _, sign in parsed.values())
    return Fraction(len(names), len(base), tuple(masks), signs), base + list(parsed)
