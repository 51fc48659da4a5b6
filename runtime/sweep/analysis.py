# SPDX-License-Identifier: LGPL-2.1-or-later
"""Statistics of a sweep: effects of factors on a metric. Numbers only; figures.py draws them."""
from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass

import numpy as np
from scipy import stats

from .sample import Axis, Sample

MANY = 12  # levels of a factor with numbers, above which it counts as continuous
OUTLIER = 3.5  # robust standard deviations; Iglewicz and Hoaglin, "How to detect and handle outliers"


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
            half = float("nan")
            if len(part) > 1:
                half = float(stats.t.ppf((1 + confidence) / 2, len(part) - 1) * part.std(ddof=1) / len(part) ** 0.5)
            found.append(Mean(name, numbers[at] if numbers else None, len(part), float(part.mean()), half))
    return found


def interaction(one: Axis, other: Axis, values: np.ndarray) -> list[tuple[str, str, int, float]]:
    """Mean at each pair of levels."""
    found = []
    for a, b in itertools.product(range(len(one.levels)), range(len(other.levels))):
        part = values[(one.index == a) & (other.index == b)]
        if len(part):
            found.append((one.levels[a], other.levels[b], len(part), float(part.mean())))
    return found


@dataclass(frozen=True)
class Term:
    name: str
    squares: float
    freedom: int
    f: float
    p: float
    share: float  # of all squares


def variance(factors: list[Axis], values: np.ndarray, *, interactions: bool = True) -> tuple[list[Term], float]:
    """Analysis of variance (type II), with interactions of two factors as far as the points suffice; the last term is
    what is left. Also the share that is explained. By statsmodels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pandas
        from statsmodels.formula.api import ols
        from statsmodels.stats.anova import anova_lm

        table = {"y": (values - values.mean()) / (values.std() or 1.0)}
        terms, names = [], {}
        for at, axis in enumerate(factors):
            table[f"x{at}"] = axis.values if is_continuous(axis) else np.array(axis.levels)[axis.index]
            term = f"x{at}" if is_continuous(axis) else f"C(x{at})"
            terms.append(term)
            names[term] = axis.name
        size = {term: 1 if is_continuous(axis) else len(axis.levels) - 1 for term, axis in zip(terms, factors)}
        free = len(values) - 1 - sum(size.values())
        pairs: list[str] = []
        for one, other in sorted(itertools.combinations(terms, 2), key=lambda pair: size[pair[0]] * size[pair[1]]):
            if interactions and size[one] * size[other] < free and len(pairs) < 45:
                free -= size[one] * size[other]
                pairs.append(f"{one}:{other}")
                names[pairs[-1]] = f"{names[one]} x {names[other]}"
        if free < 1 and not pairs:
            return [], float("nan")
        frame = pandas.DataFrame(table)
        fitted = ols("y ~ " + " + ".join(terms + pairs), frame).fit()
        if fitted.df_resid < 1:
            return [], float("nan")
        rows = anova_lm(fitted, typ=2)
    total = float(np.sum((values - values.mean()) ** 2)) or 1.0
    scale = float(values.var()) or 1.0
    return [
        Term(names.get(name, "rest"), float(row["sum_sq"]) * scale, int(row["df"]), float(row["F"]),
             float(row["PR(>F)"]), float(row["sum_sq"]) * scale / total)
        for name, row in rows.iterrows()
    ], float(fitted.rsquared)  # fmt: skip


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
    that are alike in all the first one."""
    values = np.stack(criteria, axis=-1)
    front: list[int] = []
    for at in np.lexsort(tuple(reversed(criteria))):
        if not np.any(np.all(values[front] <= values[at], axis=-1)):
            front.append(at)
    found = np.zeros(len(values), dtype=bool)
    found[front] = True
    return found


def residuals(sample: Sample, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each point is from the others of its row, as a share (of the level's mean product where there are no
    repetitions), and by how many robust standard deviations."""
    logs = np.log(np.where(values > 0, values, np.nan))
    rows, inverse, counts = np.unique(sample.rows, return_inverse=True, return_counts=True)
    if counts.max() > 1:
        center = np.array([np.nanmedian(logs[inverse == at]) for at in range(len(rows))])
        off = logs - center[inverse]
    else:
        off = logs - np.nanmean(logs)
        for axis in sample.factors:
            index = axis.index
            if is_continuous(axis):
                slope = np.polyfit(axis.values, off, 1) if np.isfinite(off).all() else [0.0, 0.0]
                off = off - np.polyval(slope, axis.values)
                continue
            for level in range(len(axis.levels)):
                if (index == level).any():
                    off[index == level] -= np.nanmean(off[index == level])
    spread = 1.4826 * np.nanmedian(np.abs(off - np.nanmedian(off)))
    return off, (off - np.nanmedian(off)) / spread if spread > 1e-15 else np.zeros_like(off)
