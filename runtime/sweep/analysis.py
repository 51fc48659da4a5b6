# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics of a sweep: effects of factors on a metric. Numbers only; figures.py draws them."""
from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy import stats

from .sample import Axis, Sample

MOST_INTERACTIONS = 45
MANY = 12  # levels of a factor with numbers, above which it counts as continuous
OUTLIER = 3.5  # standard deviations; Iglewicz and Hoaglin, "How to detect and handle outliers"
FARTHEST = 38.0  # standard deviations; what is less likely than that is no number
ROUNDING = 1e-13  # scatter (of logarithms) that is none
MIDDLE = 0.6745  # median distance of a normal variable from its median, in standard deviations
# The same of the points of a row from the median of the row, the median itself left out.
_MIDDLE = {2: 0.477, 3: 0.690, 4: 0.486, 5: 0.684, 6: 0.529, 7: 0.683, 8: 0.563, 10: 0.588, 12: 0.604}


@dataclass(frozen=True)
class Mean:
    """Of the points at one level."""

    level: str
    number: float | None
    count: int
    mean: float
    half: float  # of its confidence interval; not a number if there is one point


def is_continuous(axis: Axis) -> bool:
    return axis.numbers is not None and len(axis.levels) > MANY


def means(axis: Axis, values: np.ndarray, confidence: float) -> list[Mean]:
    """For a continuous factor, of five parts of its range with as many points each."""
    index, names, numbers = axis.index, axis.levels, axis.numbers
    if is_continuous(axis):
        edges = np.quantile(axis.values, np.linspace(0, 1, 6))
        index = np.clip(np.searchsorted(edges, axis.values, side="right") - 1, 0, 4)
        centers = [float(np.median(axis.values[index == part])) if (index == part).any() else 0.0 for part in range(5)]
        names, numbers = [f"{center:.4g}" for center in centers], centers
    found = []
    for at, name in enumerate(names):
        part = values[index == at]
        if len(part):
            found.append(Mean(name, numbers[at] if numbers else None, len(part), float(part.mean()),
                              _half(part, confidence)))  # fmt: skip
    return found


def _half(part: np.ndarray, confidence: float) -> float:
    """Of the confidence interval of a mean."""
    if len(part) < 2:
        return float("nan")
    return float(stats.t.ppf((1 + confidence) / 2, len(part) - 1) * part.std(ddof=1) / len(part) ** 0.5)


def interaction(
    one: Axis, other: Axis, values: np.ndarray, confidence: float
) -> list[tuple[str, str, int, float, float]]:
    """Points, mean and half of its confidence interval at each pair of levels."""
    found = []
    for a, b in itertools.product(range(len(one.levels)), range(len(other.levels))):
        part = values[(one.index == a) & (other.index == b)]
        if len(part):
            found.append((one.levels[a], other.levels[b], len(part), float(part.mean()), _half(part, confidence)))
    return found


@dataclass(frozen=True)
class Term:
    name: str
    squares: float
    freedom: int
    f: float | None  # none where nothing is left to estimate an error by
    p: float | None
    share: float  # of all squares


@dataclass(frozen=True)
class Variance:
    terms: list[Term]  # the last one is what is left
    explained: float
    notes: list[str]  # what the numbers cannot say


@dataclass
class _Part:
    """Of a model: a main effect or an interaction, or several that no row tells from each other."""

    names: list[str]
    factors: set[int]
    block: np.ndarray
    main: bool


def variance(factors: list[Axis], values: np.ndarray, *, interactions: bool = True) -> Variance | None:
    """Analysis of variance (type II). A term is in the model only if its rows let it be estimated beside those before
    it: main effects first, then interactions of two, small ones first, as far as the points suffice. None if values
    or factors do not differ."""
    used = [axis for axis in factors if len(np.unique(axis.index)) > 1]
    center = float(values.mean())
    total = float(np.sum((values - center) ** 2))
    # Squares of rounding errors, not of what was measured.
    nothing = len(values) * (1e-14 * float(np.abs(values).max())) ** 2 + 1e-24 * total
    if not used or total <= nothing:
        return None
    # Points of a row have the same columns: its mean stands for them, with their number as its weight.
    rows, inverse, counts = np.unique(np.stack([axis.index for axis in used], axis=1), axis=0, return_inverse=True,
                                      return_counts=True)  # fmt: skip
    inverse = inverse.reshape(-1)
    means_of_rows = np.bincount(inverse, values - center) / counts
    within = float(np.sum((values - center - means_of_rows[inverse]) ** 2))
    weight = np.sqrt(counts)[:, None]
    y = weight[:, 0] * means_of_rows
    parts, basis, notes = _model(used, rows, weight, len(values) if interactions else 0)

    # All that follows is within the model's space: as many numbers as it has columns suffice.
    z = basis.T @ y
    blocks = [basis.T @ part.block for part in parts]
    ones = basis.T @ weight
    rest, free = within + float(np.sum((y - basis @ z) ** 2)), len(values) - basis.shape[1]
    rest = rest if free and rest > nothing else 0.0
    terms = []
    for part, block in zip(parts, blocks):
        # Type II: beside all terms that this one is no part of.
        others = [blocks[at] for at, other in enumerate(parts)
                  if other is not part and not (part.main and not other.main and part.factors & other.factors)]
        own = _beside(_beside(np.zeros((len(z), 0)), np.hstack([ones, *others])), block, joined=False)
        squares = float(np.sum((own.T @ z) ** 2))
        squares = squares if squares > nothing else 0.0
        f = squares / own.shape[1] / (rest / free) if rest else None
        p = float(stats.f.sf(f, own.shape[1], free)) if f is not None else None
        terms.append(Term(" = ".join(part.names), squares, own.shape[1], f, p, min(1.0, squares / total)))
    if not free:
        notes.append("There are as many terms as points: nothing is left to estimate an error by, so there are no F "
                     "and p.")  # fmt: skip
    elif not rest:
        notes.append("Nothing at all is left unexplained: the squares are exact, and there are no F and p.")
    terms.append(Term("rest", rest, free, None, None, rest / total))
    return Variance(terms, 1 - rest / total, notes)


def _beside(basis: np.ndarray, block: np.ndarray, joined: bool = True) -> np.ndarray:
    """An orthonormal basis of what `block` adds to the space of `basis` (joined: of both)."""
    size = np.linalg.norm(block, axis=0)
    left = block / np.where(size > 0, size, 1)
    for _ in range(2):  # twice: rounding of the first time
        left = left - basis @ (basis.T @ left)
    vectors, strengths, _ = np.linalg.svd(left, full_matrices=False)
    added = vectors[:, strengths > 1e-7]
    return np.hstack([basis, added]) if joined else added


def _model(used: list[Axis], rows: np.ndarray, weight: np.ndarray, points: int):
    """Terms, an orthonormal basis of all of them, and notes. Interactions have to leave one of `points`."""
    notes: list[str] = []
    lines = [is_continuous(axis) for axis in used]
    if sum(len(np.unique(column)) - 1 for column in rows.T) >= len(rows):
        more = [axis.numbers is not None and len(np.unique(column)) > 2 for axis, column in zip(used, rows.T)]
        if more != lines and any(more):
            notes.append("There are too few rows for a mean at each level: of factors with numbers this is a line.")
        lines = [one or other for one, other in zip(lines, more)]
    blocks = [_columns(axis, column, line) for axis, column, line in zip(used, rows.T, lines)]
    parts: list[_Part] = []
    basis = _beside(np.zeros((len(rows), 0)), weight)
    ones = basis
    unknown: list[str] = []
    # Large ones first: they have all that is in smaller ones that follow from them.
    for at in sorted(range(len(used)), key=lambda at: -blocks[at].shape[1]):
        block = weight * blocks[at]
        wider = _beside(basis, block)
        if wider.shape[1] == basis.shape[1] + block.shape[1]:
            basis = wider
            parts.append(_Part([used[at].name], {at}, block, True))
        elif not _joined(parts, ones, block, used[at].name, {at}):
            unknown.append(used[at].name)
    parts.sort(key=lambda part: min(part.factors))
    known = sorted(set().union(*(part.factors for part in parts)))
    mains = basis
    left_out: dict[str, list[str]] = {
        "these rows do not tell them from other factors": unknown,
        "these rows do not tell them from main effects": [],
        "these rows do not tell them from other interactions": [],
        "combinations of their levels are missing": [],
        "there are too few points": [],
        f"there are {MOST_INTERACTIONS} interactions without them": [],
    }  # fmt: skip
    _, confounded, mixed, incomplete, few, many = left_out.values()
    pairs = sorted(itertools.combinations(known, 2),
                   key=lambda pair: blocks[pair[0]].shape[1] * blocks[pair[1]].shape[1])  # fmt: skip
    inner: list[_Part] = []
    for one, other in pairs if points else []:
        name = f"{used[one].name} x {used[other].name}"
        size = blocks[one].shape[1] * blocks[other].shape[1]
        if size >= len(rows):
            incomplete.append(name)
            continue
        block = weight * (blocks[one][:, :, None] * blocks[other][:, None, :]).reshape(len(rows), size)
        wider = _beside(basis, block)
        if wider.shape[1] == basis.shape[1] + size:
            if wider.shape[1] >= points:
                few.append(name)
            elif len(inner) == MOST_INTERACTIONS:
                many.append(name)
            else:
                basis = wider
                inner.append(_Part([name], {one, other}, block, False))
        elif (own := _beside(mains, block, joined=False).shape[1]) < size:
            (incomplete if own else confounded).append(name)
        elif not _joined(inner, mains, block, name, {one, other}):
            mixed.append(name)
    for why, names in left_out.items():
        if names:
            more = f" and {len(names) - 10} more" if len(names) > 10 else ""
            notes.append(f"Left out, for {why}: {', '.join(names[:10])}{more}.")
    return parts + inner, basis, notes


def _columns(axis: Axis, index: np.ndarray, line: bool) -> np.ndarray:
    """Of a main effect, for each row."""
    if line:
        numbers = np.asarray(axis.numbers)[index]
        return ((numbers - numbers.mean()) / (numbers.std() or 1.0))[:, None]
    return (index[:, None] == np.unique(index)[1:]).astype(float)


def _joined(parts: list[_Part], basis: np.ndarray, block: np.ndarray, name: str, factors: set[int]) -> bool:
    """Whether one of `parts` is the same as `block` (both beside `basis`), and then has its name, too."""
    size = _beside(basis, block, joined=False).shape[1]
    for part in parts:
        wider = _beside(basis, part.block)
        if wider.shape[1] - basis.shape[1] == size and _beside(wider, block, joined=False).shape[1] == 0:
            part.names.append(name)
            part.factors |= factors
            return True
    return False


@dataclass(frozen=True)
class Surface:
    """A polynomial of second degree in two factors, scaled to -1 to 1 (logarithms where levels are all positive and
    far apart)."""

    one: Axis
    other: Axis
    logarithmic: tuple[bool, bool]
    coefficients: np.ndarray  # of 1, u, v, uu, uv, vv
    explained: float

    def at(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        u = _scaled(x, self.one, self.logarithmic[0])
        v = _scaled(y, self.other, self.logarithmic[1])
        return _terms(u, v) @ self.coefficients


def is_logarithmic(axis: Axis) -> bool:
    return axis.numbers is not None and min(axis.numbers) > 0 and max(axis.numbers) >= 8 * min(axis.numbers)


def _scaled(values: np.ndarray, axis: Axis, logarithmic: bool) -> np.ndarray:
    assert axis.numbers is not None
    low, high = min(axis.numbers), max(axis.numbers)
    if logarithmic:
        low, high, values = np.log(low), np.log(high), np.log(values)
    return 2 * (values - low) / (high - low) - 1


def _terms(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.stack([np.ones_like(u), u, v, u * u, u * v, v * v], axis=-1)


def surface(one: Axis, other: Axis, values: np.ndarray) -> Surface | None:
    if one.numbers is None or other.numbers is None or len(values) < 7:
        return None
    logarithmic = (is_logarithmic(one), is_logarithmic(other))
    matrix = _terms(_scaled(one.values, one, logarithmic[0]), _scaled(other.values, other, logarithmic[1]))
    if np.linalg.matrix_rank(matrix) < 6:
        return None
    coefficients = np.linalg.lstsq(matrix, values, rcond=None)[0]
    spread = float(np.sum((values - values.mean()) ** 2))
    left = float(np.sum((values - matrix @ coefficients) ** 2))
    return Surface(one, other, logarithmic, coefficients, 1 - left / spread if spread else 1.0)


def pareto(*criteria: np.ndarray) -> np.ndarray:
    """Which points no other one beats: is as good in all criteria (the less the better) and better in one. Of points
    that are alike in all the first one. Points that lack a criterion are none of them."""
    values = np.stack(criteria, axis=-1)
    lacking = np.isnan(values).any(axis=-1)
    front: list[int] = []
    for at in np.lexsort(tuple(reversed(criteria))):
        if not lacking[at] and not np.any(np.all(values[front] <= values[at], axis=-1)):
            front.append(at)
    found = np.zeros(len(values), dtype=bool)
    found[front] = True
    return found


def residuals(sample: Sample, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each point is from the median of its row, as a share (of the level's mean product where there are no
    repetitions), and by how many standard deviations. Not a number where there is no logarithm."""
    with np.errstate(invalid="ignore", divide="ignore"):
        logs = np.where(values > 0, np.log(values), np.nan)
    good = np.isfinite(logs)
    off, deviations = np.full(len(logs), np.nan), np.full(len(logs), np.nan)
    rows, inverse, counts = np.unique(sample.rows[good], return_inverse=True, return_counts=True)
    if counts.max(initial=0) > 1:
        order = np.argsort(inverse, kind="stable")
        parts = [part - np.median(part) for part in np.split(logs[good][order], np.cumsum(counts)[:-1])]
        found = np.empty(len(order))
        found[order] = np.concatenate(parts)
        off[good], deviations[good] = found, _deviations(found, inverse, parts)
        return np.expm1(off), deviations
    if good.any():
        found = _from_levels(sample, logs, good)
        spread = np.median(np.abs(found - np.median(found))) / MIDDLE
        off[good] = found
        deviations[good] = (found - np.median(found)) / spread if spread > ROUNDING else 0.0
    return np.expm1(off), deviations


def _from_levels(sample: Sample, logs: np.ndarray, good: np.ndarray) -> np.ndarray:
    """What main effects leave of the good ones."""
    left = logs[good] - logs[good].mean()
    for axis in sample.factors:
        index = axis.index[good]
        if is_continuous(axis):
            if len(np.unique(index)) > 1:
                left = left - np.polyval(np.polyfit(axis.values[good], left, 1), axis.values[good])
            continue
        for level in np.unique(index):
            left[index == level] -= left[index == level].mean()
    return left


def _deviations(off: np.ndarray, row: np.ndarray, parts: list[np.ndarray]) -> np.ndarray:
    """Distances from the row's median in standard deviations: as many as a normal variable would have that is as
    unlikely, for of few points the standard deviation is not known well. `parts`: these distances by row."""
    # One of an odd number of points is the median itself, whose distance of nothing says nothing of the scatter; those
    # of few points are shorter than those of many. Rows that do not scatter say nothing of those that do.
    telling = [np.sort(np.abs(part))[len(part) % 2 :] / _MIDDLE.get(len(part), MIDDLE)
               for part in parts if np.ptp(part) > ROUNDING]  # fmt: skip
    if not telling:
        return np.zeros(len(off))
    distances = np.sort(np.concatenate(telling))
    spread = distances[(len(distances) - 1) // 2]
    if spread <= ROUNDING:  # most agree with their rows
        return np.where(np.abs(off) > ROUNDING, np.sign(off) * FARTHEST, 0.0)
    # That is robust and wastes much. The usual one of what it does not find to be far away wastes nothing.
    near = np.abs(off) <= 2 * OUTLIER * spread
    left = np.bincount(row[near], minlength=len(parts))
    center = np.bincount(row[near], off[near], len(parts)) / np.maximum(left, 1)
    free = max(int(np.sum(np.maximum(left - 1, 0)[[np.ptp(part) > ROUNDING for part in parts]])), 1)
    spread = float(np.sum((off[near] - center[row[near]]) ** 2) / free) ** 0.5
    # Of two points each is half of their distance away: the square root of 1/2 of the scatter of one.
    unit = np.array([0.5**0.5 if len(part) == 2 else 1.0 for part in parts])[row] * spread
    likely = stats.t.sf(np.abs(off) / unit, free)
    return np.sign(off) * np.minimum(stats.norm.isf(likely), FARTHEST)
