# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether results changed: `umwelt sweep check baseline.db new.db`.

Points of the same levels are compared. Each row of the design is a block: what differs between rows is taken out by
working with logarithms and with deviations from the row's mean, so that a drift by a share shows as the same difference
everywhere. A metric that is zero or negative somewhere has no logarithms: of it the differences are compared. Answers:

- rows whose values have no scatter at all (--cpu none): they are the same to the bit, or not;
- per metric, Welch's t-test of the mean ratio (or difference), over all other rows;
- all metrics that scatter at once, Hotelling's T-squared for two samples, which also sees a change that is small in
  each of them and unusual together;
- rows, points and metrics of the baseline that the new one does not have.

P-values of all tests are corrected for their number by Holm's method, which keeps the share of false alarms of all of
them together at `level`.

A change counts if it is significant and its size at least `least`: with many repetitions everything is significant."""
from __future__ import annotations

import json
import math
import pathlib
from collections import Counter
from dataclasses import asdict, dataclass

import numpy as np
from scipy import stats

from .errors import CHANGED, OK, SweepError, plural
from .sample import Sample, read

NOISE = 1e-12  # what scatters less than this share of itself does not scatter: that is rounding

Key = tuple[str, ...]


@dataclass
class Finding:
    """Of one metric. What there is not (no test, no ratio to zero) is None."""

    metric: str
    rows: int = 0  # compared
    rows_left_out: int = 0  # in both, and without the metric on one side
    points_left_out: int = 0
    ratio: float | None = None  # new / baseline
    difference: float | None = None  # new - baseline, where values have no logarithms
    low: float | None = None  # of the interval of the one or the other
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    steady: int = 0  # rows without scatter
    differing: int = 0  # of these, that are not the same to the bit
    largest: float | None = None  # change of one of these, as a share; None from zero
    where: str = ""  # the row that changed so
    note: str = ""
    changed: bool = False


@dataclass(frozen=True)
class Pair:
    """Values of a metric in one row of the design."""

    key: Key
    old: np.ndarray
    new: np.ndarray

    @property
    def repeated(self) -> bool:
        return len(self.old) > 1 or len(self.new) > 1

    @property
    def same(self) -> bool:
        return bool(np.all(self.old == self.old[0]) and np.all(self.new == self.old[0]))

    @property
    def scatters(self) -> bool:
        return any(np.ptp(side) > NOISE * np.abs(side).max() for side in (self.old, self.new))

    @property
    def change(self) -> float:
        old, new = float(np.mean(self.old)), float(np.mean(self.new))
        return (new - old) / abs(old) if old else math.copysign(math.inf, new) if new else 0.0


def holm(values: list[float]) -> list[float]:
    """Corrected p-values: the smallest times their number, the next times one less ..., never falling."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    corrected = [1.0] * len(values)
    worst = 0.0
    for rank, index in enumerate(order):
        worst = max(worst, min(1.0, (len(values) - rank) * values[index]))
        corrected[index] = worst
    return corrected


def compare(
    old: list[np.ndarray], new: list[np.ndarray], level: float, logarithms: bool = True
) -> tuple[float, float, float, float]:
    """Of one metric, for every row its values: mean ratio (or difference), its interval and the p-value. The variance
    is that within rows, of each side by itself; degrees of freedom as Welch and Satterthwaite have them. Where a side
    has hardly any repetitions, its variance is taken to be that of the other. Every row weighs the same."""
    sides = [[np.log(row) for row in side] if logarithms else side for side in (old, new)]
    shown = np.exp if logarithms else float
    differences = [float(np.mean(after) - np.mean(before)) for before, after in zip(*sides)]
    count, mean = len(differences), float(np.mean(differences))
    spread = [_pooled(side) for side in sides]
    free = sum(freedom for _, freedom in spread)
    if min(freedom for _, freedom in spread) >= max(count, 2):
        parts = [(_of_mean(square, [side]), freedom) for (square, freedom), side in zip(spread, sides)]
    elif free:  # less than one for each row: of so few Welch's test makes too much
        parts = [(_of_mean(sum(square * freedom for square, freedom in spread) / free, sides), free)]
    elif count > 1:  # no repetitions: what differs from row to row is the scatter
        parts = [(float(np.var(differences, ddof=1)) / count, count - 1)]
    else:
        return float(shown(mean)), math.nan, math.nan, 1.0 if mean == 0 else math.nan
    variance = sum(part for part, _ in parts)
    size = max(1.0 if logarithms else 0.0, *(float(np.abs(row).max()) for side in sides for row in side))
    if variance <= (NOISE * size) ** 2 / count:  # no scatter at all
        ratio = float(shown(mean))
        return ratio, ratio, ratio, 1.0 if abs(mean) <= NOISE * size else 0.0
    effective = variance**2 / sum(part**2 / freedom for part, freedom in parts)
    error = variance**0.5
    p = float(2 * stats.t.sf(abs(mean) / error, effective))
    width = float(stats.t.ppf(1 - level / 2, effective)) * error
    return float(shown(mean)), float(shown(mean - width)), float(shown(mean + width)), p


def _pooled(rows: list[np.ndarray]) -> tuple[float, int]:
    """Variance within rows, and its degrees of freedom."""
    freedom = sum(len(row) - 1 for row in rows)
    if freedom == 0:
        return 0.0, 0
    return sum(float(np.sum((row - row.mean()) ** 2)) for row in rows) / freedom, freedom


def _of_mean(square: float, sides: list[list[np.ndarray]]) -> float:
    """Variance of the mean of all rows, of one that is `square` within rows."""
    return square * sum(1 / len(row) for side in sides for row in side) / len(sides[0]) ** 2


def hotelling(old: np.ndarray, new: np.ndarray) -> tuple[float, float]:
    """T-squared of two samples (a row for each observation, a column for each metric), and its p-value."""
    return _hotelling([(old, new)])


def _hotelling(rows: list[tuple[np.ndarray, np.ndarray]]) -> tuple[float, float]:
    """The same of samples in blocks: the mean of their differences, each block weighing the same, against the scatter
    within blocks. Metrics that follow from others are left out."""
    freedom = sum(len(side) - 1 for pair in rows for side in pair)
    inner = np.concatenate([side - side.mean(0) for pair in rows for side in pair])
    columns = _independent(inner.T @ inner, sum((side**2).sum(0) for pair in rows for side in pair))
    size = len(columns)
    if size == 0 or freedom - size + 1 < 1:
        return math.nan, math.nan
    difference = np.mean([new.mean(0) - old.mean(0) for old, new in rows], axis=0)[columns]
    inner = inner[:, columns]
    unit = np.sqrt((inner**2).sum(0) / freedom)  # metrics have units as they like
    pooled = (inner / unit).T @ (inner / unit) / freedom
    weight = len(rows) ** 2 / sum(1 / len(side) for pair in rows for side in pair)
    square = float(weight * (difference / unit) @ np.linalg.solve(pooled, difference / unit))
    return square, float(stats.f.sf(square * (freedom - size + 1) / (freedom * size), size, freedom - size + 1))


def _independent(matrix: np.ndarray, sizes: np.ndarray) -> list[int]:
    """Columns that scatter (`sizes`: squares of all that is in them), and of which none is nearly a combination of the
    others, first ones first (Gram and Schmidt)."""
    chosen: list[int] = []
    for column in range(len(matrix)):
        own = matrix[column, column]
        if own <= NOISE**2 * sizes[column]:
            continue
        if chosen:
            part = matrix[np.ix_(chosen, chosen)]
            unit = np.sqrt(np.diag(part))
            cross = matrix[chosen, column] / unit
            if own - cross @ np.linalg.solve(part / np.outer(unit, unit), cross) < 1e-6 * own:
                continue
        chosen.append(column)
    return chosen


def _rows(sample: Sample) -> dict[Key, list[int]]:
    found: dict[Key, list[int]] = {}
    for at, key in enumerate(sample.keys()):
        found.setdefault(key, []).append(at)
    return found


def same_bits(old: Sample, new: Sample) -> tuple[int, int]:
    """Points with the same levels and seed: how many, and how many of them have other simulated values."""
    here = {(key, int(seed)): at for at, (key, seed) in enumerate(zip(old.keys(), old.seeds))}
    metrics = sorted(old.simulated & new.simulated)
    common = differing = 0
    for at, (key, seed) in enumerate(zip(new.keys(), new.seeds)):
        other = here.get((key, int(seed)))
        if other is not None:
            common += 1
            differing += any(
                not (old.metrics[name][other] == new.metrics[name][at]
                     or (np.isnan(old.metrics[name][other]) and np.isnan(new.metrics[name][at])))
                for name in metrics
            )  # fmt: skip
    return common, differing


def steady(pairs: list[Pair], logarithms: bool) -> list[bool]:
    """In which rows the metric has no scatter, so that it is the same to the bit, or not."""
    repeated = [pair for pair in pairs if pair.repeated]
    if not repeated:
        # What scatters is hardly ever the same to the bit, nor changed by the same everywhere. Of one row there is
        # nothing else to say.
        changes = [float(np.log(pair.new[0] / pair.old[0]) if logarithms else pair.new[0] - pair.old[0])
                   for pair in pairs]  # fmt: skip
        alike = np.ptp(changes) <= NOISE * max(np.max(np.abs(changes)), 1.0 if logarithms else 0.0)
        return [bool(alike) or 2 * sum(pair.same for pair in pairs) >= len(pairs)] * len(pairs)
    scattering = [pair for pair in repeated if pair.scatters]
    if not scattering:
        return [True] * len(pairs)
    # A metric may scatter in some rows only. One that comes in steps (a count) is also the same by chance: where it
    # scatters it is now and then, too, and then no row counts as steady.
    if any(len(np.unique(side)) < len(side) for pair in scattering for side in (pair.old, pair.new)):
        return [False] * len(pairs)
    return [pair.repeated and not pair.scatters for pair in pairs]


class _Comparison:
    """Of all rows that both samples have."""

    def __init__(self, old: Sample, new: Sample, level: float, least: float) -> None:
        self.old, self.new, self.level, self.least = old, new, level, least
        self.before, self.after = _rows(old), _rows(new)
        self.common = [key for key in self.before if key in self.after]
        self.left_out: list[dict] = []
        self.sizes: dict[str, float] = {}  # of changes, of metrics with a test
        self.logarithms: dict[str, bool] = {}

    def metric(self, name: str) -> Finding | None:
        """None if there is nothing to compare, and then left_out says why."""
        pairs, points = self._pairs(name)
        if not pairs:
            has = [any(np.isfinite(sample.metrics[name][rows[key]]).any() for key in self.common)
                   if name in sample.metrics else False
                   for sample, rows in ((self.old, self.before), (self.new, self.after))]  # fmt: skip
            why = ("no row of both has it" if all(has) else "the new one does not have it" if has[0]
                   else "the baseline does not have it")  # fmt: skip
            self.left_out.append({"metric": name, "why": why, "changed": has[0]})
            return None
        logarithms = all((side > 0).all() for pair in pairs for side in (pair.old, pair.new))
        is_steady = steady(pairs, logarithms)
        exact = [pair for pair, yes in zip(pairs, is_steady) if yes]
        tested = [pair for pair, yes in zip(pairs, is_steady) if not yes]
        finding = Finding(name, len(pairs), len(self.common) - len(pairs), points, steady=len(exact))
        self._exact(finding, exact)
        with np.errstate(over="ignore"):
            shown, low, high, p = compare([pair.old for pair in tested or exact],
                                          [pair.new for pair in tested or exact], self.level, logarithms)  # fmt: skip
        if logarithms:
            finding.ratio = shown
        else:
            finding.difference = shown
        if tested:
            finding.low, finding.high = (one if math.isfinite(one) else None for one in (low, high))
            finding.p = p
            base = 1.0 if logarithms else float(np.mean([np.abs(pair.old).mean() for pair in tested]))
            size = abs(shown - 1 if logarithms else shown)
            self.sizes[name] = size / base if base else math.inf if size else 0.0
            self.logarithms[name] = logarithms
        return finding

    def _pairs(self, name: str) -> tuple[list[Pair], int]:
        """Rows in which both have the metric; also how many points of common rows have it not."""
        if name not in self.new.metrics or name not in self.old.metrics:
            return [], 0
        pairs, missing = [], 0
        for key in self.common:
            sides = [sample.metrics[name][rows[key]]
                     for sample, rows in ((self.old, self.before), (self.new, self.after))]  # fmt: skip
            good = [side[np.isfinite(side)] for side in sides]
            missing += sum(len(side) for side in sides) - sum(len(side) for side in good)
            if all(len(side) for side in good):
                pairs.append(Pair(key, *good))
        return pairs, missing

    def _exact(self, finding: Finding, pairs: list[Pair]) -> None:
        differing = [pair for pair in pairs if not pair.same]
        finding.differing = len(differing)
        if not differing:
            return
        most = max(differing, key=lambda pair: abs(pair.change))
        finding.largest = most.change if math.isfinite(most.change) else None
        finding.where = f"{', '.join(most.key)}: {float(most.old[0])!r} to {float(most.new[0])!r}"
        finding.changed = abs(most.change) >= self.least
        if not any(pair.repeated for pair in pairs) and finding.rows == 1:
            finding.note = "one point on each side: there is nothing to test"

    def together(self) -> tuple[float, float]:
        """Hotelling's test of metrics with a test, in rows that all of them have; those with less than half of the rows
        would only take rows from the others."""
        columns = {}
        for name, logarithms in self.logarithms.items():
            with np.errstate(divide="ignore", invalid="ignore"):
                sides = [np.log(sample.metrics[name]) if logarithms else sample.metrics[name]
                         for sample in (self.old, self.new)]  # fmt: skip
            has = sum(all(np.isfinite(side[rows[key]]).any() for side, rows in zip(sides, (self.before, self.after)))
                      for key in self.common)  # fmt: skip
            if 2 * has >= len(self.common):
                columns[name] = sides
        self.logarithms = {name: self.logarithms[name] for name in columns}
        if len(columns) < 2:
            return math.nan, math.nan
        matrices = [np.column_stack([sides[which] for sides in columns.values()]) for which in (0, 1)]
        pairs = []
        for key in self.common:
            pair = [matrix[rows[key]] for matrix, rows in zip(matrices, (self.before, self.after))]
            pair = [side[np.isfinite(side).all(1)] for side in pair]
            if all(len(side) for side in pair):
                pairs.append((pair[0], pair[1]))
        return _hotelling(pairs) if pairs else (math.nan, math.nan)

    def missing(self) -> dict:
        """What the baseline has and the new one not, and the other way round."""
        unfinished = Counter(self.new.unfinished)
        points = sum(max(0, min(len(self.before[key]) - len(self.after[key]), unfinished[key])) for key in self.common)
        rows = len(self.before) - len(self.common)
        return {"rows_of_baseline": len(self.before), "rows_missing": rows, "points_missing": points,
                "rows_only_new": len(self.after) - len(self.common)}  # fmt: skip


def examine(old: Sample, new: Sample, names: list[str], level: float, least: float) -> dict:
    comparison = _Comparison(old, new, level, least)
    if not comparison.common:
        raise SweepError("the two databases", "points with the same levels in both", "none",
                         "compare sweeps of the same design")  # fmt: skip
    findings = [found for name in names if (found := comparison.metric(name)) is not None]
    result: dict = {"rows": len(comparison.common), **comparison.missing(), "level": level, "least": least,
                    "left_out": comparison.left_out}  # fmt: skip
    lost = result["rows_missing"] or result["points_missing"] or any(one["changed"] for one in comparison.left_out)
    if not findings and not lost:
        raise SweepError("the two databases", "a metric that both have", "none", "--metric names one")
    tested = [finding for finding in findings if finding.p is not None]
    square, p = comparison.together()
    # One family: whatever is tested has a part in the share of false alarms.
    corrected = holm([*(finding.p for finding in tested if finding.p is not None), *([] if math.isnan(p) else [p])])
    for finding, value in zip(tested, corrected):
        finding.p_holm = value
        finding.changed |= value < level and comparison.sizes[finding.metric] >= least
    if not math.isnan(p):
        large = any(comparison.sizes[name] >= least for name in comparison.logarithms)
        result["hotelling"] = {"metrics": list(comparison.logarithms), "t_squared": square, "p": p,
                               "p_holm": corrected[-1], "changed": corrected[-1] < level and large}  # fmt: skip
    result["metrics"] = [asdict(finding) for finding in findings]
    result["changed"] = bool(lost or any(finding.changed for finding in findings)
                             or result.get("hotelling", {}).get("changed", False))  # fmt: skip
    return result


def check(
    baseline: pathlib.Path, new: pathlib.Path, names: list[str] | None, level: float, least: float, as_json: bool
) -> int:
    if not 0 < level < 1:
        raise SweepError("--level", "a share between 0 and 1", str(level))
    if not 0 <= least < math.inf:
        raise SweepError("--least", "a share, 0 or more", str(least))
    old_sample, new_sample = read(baseline), read(new)
    result = examine(old_sample, new_sample, old_sample.chosen(names), level, least)
    common, differing = same_bits(old_sample, new_sample)
    result["same_seed"] = {"points": common, "other_bits": differing}
    if as_json:
        print(json.dumps(result, indent=1, allow_nan=False))
    else:
        _tell(result)
    return CHANGED if result["changed"] else OK


def _tell(result: dict) -> None:
    same = result["same_seed"]
    print(f"{plural(result['rows'], 'row')} of the design in both")
    if result["rows_missing"]:
        print(f"{result['rows_missing']:,} of {plural(result['rows_of_baseline'], 'row')} are not in the new one: no "
              "point of them completed there  CHANGED")  # fmt: skip
    if result["points_missing"]:
        print(f"{plural(result['points_missing'], 'point')} of other rows did not complete in the new one  CHANGED")
    if result["rows_only_new"]:
        print(f"{plural(result['rows_only_new'], 'row')} only in the new one")
    if same["points"]:
        equal = "the same to the bit" if same["other_bits"] == 0 else f"different in {same['other_bits']:,}"
        print(f"simulated values of {plural(same['points'], 'point')} with the same seed: {equal}")
    interval = f"{100 * (1 - result['level']):g} % interval"
    print(f"{'metric':<28} {'change':>10}  {interval:>20}  {'p':>9}  {'Holm':>9}")
    for one in result["metrics"]:
        _tell_metric(one)
    if "hotelling" in result:
        one = result["hotelling"]
        print(f"{len(one['metrics'])} metrics together: T-squared {one['t_squared']:.4g}, p {one['p']:.3g}, "
              f"Holm {one['p_holm']:.3g}{'  CHANGED' if one['changed'] else ''}")  # fmt: skip
    for one in result["left_out"]:
        print(f"{one['metric']}: left out, for {one['why']}{'  CHANGED' if one['changed'] else ''}")


def _tell_metric(one: dict) -> None:
    def shown(value: float | None) -> str:
        if value is None:
            return "?"
        return f"{value:+.4g}" if one["ratio"] is None else f"{100 * (value - 1):+.2f}"

    change = shown(one["difference"]) if one["ratio"] is None else shown(one["ratio"]) + "%"
    text = f"{one['metric']:<28} {change:>10}"
    if one["p"] is not None:
        text += f"  {shown(one['low']) + ' to ' + shown(one['high']):>20}  {one['p']:9.3g}  {one['p_holm']:9.3g}"
    told = []
    if one["steady"] and one["differing"]:
        most = "from zero" if one["largest"] is None else f"{100 * one['largest']:+.3g} %"
        told.append(f"differs in {one['differing']:,} of {plural(one['steady'], 'row')} without scatter, "
                    f"at most {most} ({one['where']})")  # fmt: skip
    elif one["steady"]:
        told.append(f"the same to the bit in {plural(one['steady'], 'row')} without scatter")
    if one["note"]:
        told.append(one["note"])
    if one["points_left_out"]:
        told.append(f"left out, for lack of it: {plural(one['points_left_out'], 'point')}"
                    + (f", and so {plural(one['rows_left_out'], 'row')}" if one["rows_left_out"] else ""))  # fmt: skip
    print(text + ("  " + "; ".join(told) if told else "") + ("  CHANGED" if one["changed"] else ""))
