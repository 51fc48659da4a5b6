# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether results changed: `umwelt sweep check baseline.db new.db`.

Points of the same levels are compared. Each row of the design is a block: what differs between rows is taken out by
working with logarithms and with deviations from the row's mean, so that a drift by a share shows as the same difference
everywhere. Three kinds of answers:

- values that have no scatter at all (--cpu none): they are the same to the bit, or not;
- per metric, Welch's t-test of the mean ratio, over all rows;
- all metrics at once, Hotelling's T-squared for two samples, which also sees a change that is small in each of them and
  unusual together.

P-values of all of these are corrected for their number by Holm's method, which keeps the share of false alarms of all
of them together at `level`.

A change counts if it is significant and its size at least `least`: with many repetitions everything is significant."""
from __future__ import annotations

import json
import pathlib
from dataclasses import asdict, dataclass

import numpy as np
from scipy import stats

from .errors import CHANGED, OK, SweepError, plural
from .sample import Sample, read


@dataclass
class Finding:
    metric: str
    ratio: float  # new / baseline
    low: float  # of its confidence interval
    high: float
    p: float
    p_holm: float = 1.0
    changed: bool = False


def holm(values: list[float]) -> list[float]:
    """Corrected p-values: the smallest times their number, the next times one less ..., never falling."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    corrected = [1.0] * len(values)
    worst = 0.0
    for rank, index in enumerate(order):
        worst = max(worst, min(1.0, (len(values) - rank) * values[index]))
        corrected[index] = worst
    return corrected


def compare(old: list[np.ndarray], new: list[np.ndarray], level: float) -> tuple[float, float, float, float]:
    """Of one metric, for every row its values: mean ratio, its interval and the p-value. The variance is that within
    rows, of each side by itself; degrees of freedom as Welch and Satterthwaite have them. Every row weighs the same."""
    differences: list[float] = []
    parts: list[tuple[float, int]] = []
    variance = 0.0
    spread = [_pooled([np.log(row) for row in side]) for side in (old, new)]
    for before, after in zip(old, new):
        differences.append(float(np.mean(np.log(after)) - np.mean(np.log(before))))
    count = len(differences)
    for (square, freedom), side in zip(spread, (old, new)):
        part = square * sum(1 / len(row) for row in side) / count**2
        variance += part
        parts.append((part, freedom))
    mean = float(np.mean(differences))
    ratio = float(np.exp(mean))
    if all(freedom == 0 for _, freedom in spread):  # no repetitions: what differs from row to row is the scatter
        if count < 2:
            return ratio, float("nan"), float("nan"), 1.0 if mean == 0 else float("nan")
        variance = float(np.var(differences, ddof=1)) / count
        parts = [(variance, count - 1)]
    if variance < 1e-30:  # no scatter at all
        return ratio, ratio, ratio, 1.0 if abs(mean) < 1e-15 else 0.0
    effective = variance**2 / sum(part**2 / free for part, free in parts if free > 0 and part > 0)
    error = variance**0.5
    p = float(2 * stats.t.sf(abs(mean) / error, effective))
    width = float(stats.t.ppf(1 - level / 2, effective)) * error
    return float(np.exp(mean)), float(np.exp(mean - width)), float(np.exp(mean + width)), p


def _pooled(rows: list[np.ndarray]) -> tuple[float, int]:
    freedom = sum(len(row) - 1 for row in rows)
    if freedom == 0:
        return 0.0, 0
    return sum(float(np.sum((row - row.mean()) ** 2)) for row in rows) / freedom, freedom


def hotelling(old: np.ndarray, new: np.ndarray, rows: int = 1) -> tuple[float, float]:
    """T-squared of two samples (a row for each observation, a column for each metric), and its p-value; `rows`: means
    that were taken out of each sample beforehand. Metrics that follow from others are left out."""
    freedom = len(old) + len(new) - 2 * rows
    pooled = (old - old.mean(0)).T @ (old - old.mean(0)) + (new - new.mean(0)).T @ (new - new.mean(0))
    columns = _independent(pooled)
    size = len(columns)
    if size == 0 or freedom - size + 1 < 1:
        return float("nan"), float("nan")
    difference = (new.mean(0) - old.mean(0))[columns]
    pooled = pooled[np.ix_(columns, columns)] / freedom
    scale = len(old) * len(new) / (len(old) + len(new))
    square = float(scale * difference @ np.linalg.solve(pooled, difference))
    return square, float(stats.f.sf(square * (freedom - size + 1) / (freedom * size), size, freedom - size + 1))


def _independent(matrix: np.ndarray) -> list[int]:
    """Columns of which none is nearly a combination of the others, first ones first (Gram and Schmidt)."""
    chosen: list[int] = []
    for column in range(len(matrix)):
        own = matrix[column, column]
        if own <= 0:
            continue
        if chosen:
            part = matrix[np.ix_(chosen, chosen)]
            cross = matrix[chosen, column]
            if own - cross @ np.linalg.solve(part, cross) < 1e-6 * own:
                continue
        chosen.append(column)
    return chosen


def _keys(sample: Sample) -> list[tuple[str, ...]]:
    return [tuple(f"{axis.name}={axis.levels[axis.index[at]]}" for axis in sample.factors)
            for at in range(len(sample.points))]  # fmt: skip


def _rows(sample: Sample) -> dict[tuple[str, ...], list[int]]:
    found: dict[tuple[str, ...], list[int]] = {}
    for at, key in enumerate(_keys(sample)):
        found.setdefault(key, []).append(at)
    return found


def same_bits(old: Sample, new: Sample) -> tuple[int, int]:
    """Points with the same levels and seed: how many, and how many of them have other simulated values."""
    here = {(key, int(seed)): at for at, (key, seed) in enumerate(zip(_keys(old), old.seeds))}
    metrics = sorted(old.simulated & new.simulated)
    common = differing = 0
    for at, (key, seed) in enumerate(zip(_keys(new), new.seeds)):
        other = here.get((key, int(seed)))
        if other is not None:
            common += 1
            differing += any(
                not (old.metrics[name][other] == new.metrics[name][at]
                     or (np.isnan(old.metrics[name][other]) and np.isnan(new.metrics[name][at])))
                for name in metrics
            )  # fmt: skip
    return common, differing


def examine(old: Sample, new: Sample, names: list[str], level: float, least: float) -> dict:
    before, after = _rows(old), _rows(new)
    common = [key for key in before if key in after]
    if not common:
        raise SweepError("the two databases", "points with the same levels in both", "none",
                         "compare sweeps of the same design")  # fmt: skip
    findings: list[Finding] = []
    left_out: list[str] = []
    deviations: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name in names:
        sides = [[sample.metrics[name][rows[key]] for key in common]
                 for sample, rows in ((old, before), (new, after))]  # fmt: skip
        usable = [at for at in range(len(common))
                  if all(np.isfinite(side[at]).all() and (side[at] > 0).all() for side in sides)]  # fmt: skip
        if len(usable) < len(common):
            left_out.append(name)
            continue
        ratio, low, high, p = compare(sides[0], sides[1], level)
        findings.append(Finding(name, ratio, low, high, p))
        # Deviations from the baseline's mean of the row: of both sides from the same point.
        center = [np.mean(np.log(row)) for row in sides[0]]
        deviations[name] = tuple(
            np.concatenate([np.log(row) - mean for row, mean in zip(side, center)]) for side in sides
        )  # type: ignore[assignment]  # fmt: skip
    together = (float("nan"), float("nan"))
    if len(findings) > 1:
        together = _together(deviations, common, before, after)
    # One family: whatever is tested has a part in the share of false alarms.
    corrected = holm([_or_one(p) for p in (*(finding.p for finding in findings), *together[1:][: len(findings) > 1])])
    for finding, p in zip(findings, corrected):
        finding.p_holm = p
        finding.changed = p < level and abs(finding.ratio - 1) >= least
    result: dict = {"rows": len(common), "level": level, "least": least, "left_out": left_out}
    if len(findings) > 1 and not np.isnan(together[0]):
        large = any(abs(finding.ratio - 1) >= least for finding in findings)
        result["hotelling"] = {
            "t_squared": together[0], "p": together[1], "p_holm": corrected[-1],
            "changed": bool(corrected[-1] < level and large),
        }  # fmt: skip
    result["metrics"] = [asdict(finding) for finding in findings]
    return result


def _or_one(p: float) -> float:
    return 1.0 if np.isnan(p) else p


def _together(deviations, common, before, after) -> tuple[float, float]:
    old = np.column_stack([pair[0] for pair in deviations.values()])
    new = np.column_stack([pair[1] for pair in deviations.values()])
    # Means of rows are taken out of the new side, too, for the scatter within rows; the difference of means stays.
    shift = new.mean(0) - old.mean(0)
    inner = new.copy()
    at = 0
    for key in common:
        count = len(after[key])
        inner[at : at + count] -= inner[at : at + count].mean(0)
        at += count
    return hotelling(old, inner + shift, len(common))


def check(
    baseline: pathlib.Path, new: pathlib.Path, names: list[str] | None, level: float, least: float, as_json: bool
) -> int:
    if not 0 < level < 1:
        raise SweepError("--level", "a share between 0 and 1", str(level))
    old_sample, new_sample = read(baseline), read(new)
    chosen = [name for name in old_sample.chosen(names) if name in new_sample.metrics]
    result = examine(old_sample, new_sample, chosen, level, least)
    common, differing = same_bits(old_sample, new_sample)
    result["same_seed"] = {"points": common, "other_bits": differing}
    changed = any(one["changed"] for one in result["metrics"]) or result.get("hotelling", {}).get("changed", False)
    result["changed"] = changed
    if as_json:
        print(json.dumps(result, indent=1))
    else:
        _tell(result)
    return CHANGED if changed else OK


def _tell(result: dict) -> None:
    same = result["same_seed"]
    print(f"{plural(result['rows'], 'row')} of the design in both")
    if same["points"]:
        equal = "the same to the bit" if same["other_bits"] == 0 else f"different in {same['other_bits']:,}"
        print(f"simulated values of {plural(same['points'], 'point')} with the same seed: {equal}")
    interval = f"{100 * (1 - result['level']):g} % interval"
    print(f"{'metric':<28} {'change':>9}  {interval:>20}  {'p':>9}  {'Holm':>9}")
    for one in result["metrics"]:
        low, high = (f"{100 * (one[key] - 1):+.2f}" for key in ("low", "high"))
        print(f"{one['metric']:<28} {100 * (one['ratio'] - 1):+8.2f}%  {low + ' to ' + high:>20}  {one['p']:9.3g}  "
              f"{one['p_holm']:9.3g}{'  CHANGED' if one['changed'] else ''}")  # fmt: skip
    if "hotelling" in result:
        one = result["hotelling"]
        print(f"all together: T-squared {one['t_squared']:.4g}, p {one['p']:.3g}, Holm {one['p_holm']:.3g}"
              + ("  CHANGED" if one["changed"] else ""))  # fmt: skip
    for name in result["left_out"]:
        print(f"{name}: left out, for it is missing, zero or negative somewhere")
