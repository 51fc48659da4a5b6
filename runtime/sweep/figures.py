# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures of a sweep, by Matplotlib. Each has the numbers that it shows beside it, as CSV."""
from __future__ import annotations

import itertools
import pathlib
from collections.abc import Iterable
from dataclasses import dataclass

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402

from . import analysis  # noqa: E402
from .errors import SweepError  # noqa: E402
from .export import write  # noqa: E402
from .expressions import ExpressionError, parse  # noqa: E402
from .sample import Axis, Sample  # noqa: E402

# Fixed names within an SVG: the same results are the same file.
matplotlib.rcParams.update({"svg.hashsalt": "umwelt", "font.size": 9, "axes.spines.top": False,
                            "axes.spines.right": False, "axes.formatter.useoffset": False})  # fmt: skip
MOST_PAIRS = 12
COLORS = plt.get_cmap("tab10").colors


@dataclass(frozen=True)
class Figure:
    title: str
    text: str
    picture: str  # name of the file
    data: str


class Drawer:
    def __init__(self, sample: Sample, directory: pathlib.Path, confidence: float, ending: str) -> None:
        self._sample = sample
        self._directory = directory
        self._confidence = confidence
        self._ending = ending
        directory.mkdir(parents=True, exist_ok=True)

    def _finish(self, figure, name: str, title: str, text: str, header: list[str], rows: Iterable) -> Figure:
        picture, data = f"{name}.{self._ending}", f"{name}.csv"
        metadata = {"Date": None} if self._ending == "svg" else {}
        figure.savefig(self._directory / picture, metadata=metadata, bbox_inches="tight", dpi=150)
        plt.close(figure)
        with open(self._directory / data, "w", encoding="utf-8") as file:
            write(file, header, ([_told(value) for value in row] for row in rows))
        return Figure(title, text, picture, data)

    def of_metric(self, name: str) -> list[Figure]:
        sample, values, stem = self._values(name)
        if not len(values):
            return []
        found = []
        if sample.factors:
            found.append(self._effects(sample, name, values, stem))
        if len(sample.factors) > 1:
            found.append(self._interactions(sample, name, values, stem))
        found += [one for one in (self._variance(sample, name, values, stem),
                                  self._surfaces(sample, name, values, stem),
                                  self._outliers(sample, name, values, stem)) if one]  # fmt: skip
        return found

    def outliers(self, name: str) -> list[Figure]:
        sample, values, stem = self._values(name)
        figure = self._outliers(sample, name, values, stem) if len(values) else None
        return [figure] if figure else []

    def _values(self, name: str) -> tuple[Sample, np.ndarray, str]:
        """Points that have this metric, what it is, and how its files are called."""
        values = self._sample.metrics[name]
        good = np.isfinite(values)
        stem = "".join(letter if letter.isalnum() or letter in "-_" else "_" for letter in name)
        return self._sample if good.all() else _part(self._sample, good), values[good], stem

    def _effects(self, sample: Sample, name: str, values: np.ndarray, stem: str) -> Figure:
        axes = sample.factors
        figure, plots = _grid(len(axes), sharey=True)
        rows = []
        for plot, axis in zip(plots, axes):
            found = analysis.means(axis, values, self._confidence)
            x = _positions(plot, axis, [(one.level, one.number) for one in found])
            half = [0 if np.isnan(one.half) else one.half for one in found]
            plot.errorbar(x, [one.mean for one in found], yerr=half, marker="o", capsize=3, linewidth=1)
            plot.axhline(float(values.mean()), color="grey", linewidth=0.6, linestyle=":")
            plot.set_xlabel(axis.name)
            rows += [(axis.name, one.level, one.count, one.mean, one.mean - one.half, one.mean + one.half)
                     for one in found]  # fmt: skip
        plots[0].set_ylabel(name)
        share = f"{100 * self._confidence:g} %"
        return self._finish(
            figure, f"{stem}-effects", f"Main effects on {name}",
            f"Mean over all points at a level, with its {share} confidence interval (Student's t, over all these "
            "points: it also has what the other factors do in it). Dotted: mean of all.",
            ["factor", "level", "points", "mean", "low", "high"], rows)  # fmt: skip

    def _interactions(self, sample: Sample, name: str, values: np.ndarray, stem: str) -> Figure:
        pairs = list(itertools.combinations([_few(axis) for axis in sample.factors], 2))[:MOST_PAIRS]
        figure, plots = _grid(len(pairs))
        rows = []
        for plot, (one, other) in zip(plots, pairs):
            found = analysis.interaction(one, other, values, self._confidence)
            for at, level in enumerate(other.levels[:10]):
                line = [(a, mean, 0 if np.isnan(half) else half) for a, b, _, mean, half in found if b == level]
                number = dict(zip(one.levels, one.numbers)) if one.numbers else {}
                x = _positions(plot, one, [(a, number.get(a)) for a, _, _ in line])
                plot.errorbar(x, [mean for _, mean, _ in line], yerr=[half for _, _, half in line], marker=".",
                              linewidth=1, capsize=2, elinewidth=0.6, color=COLORS[at], label=level)  # fmt: skip
            plot.set_xlabel(one.name)
            plot.set_ylabel(name)
            plot.legend(title=other.name, fontsize=7, title_fontsize=7, frameon=False)
            rows += [(one.name, other.name, a, b, count, mean, mean - half, mean + half)
                     for a, b, count, mean, half in found]  # fmt: skip
        share = f"{100 * self._confidence:g} %"
        return self._finish(
            figure, f"{stem}-interactions", f"Interactions on {name}",
            f"Mean at each pair of levels, with its {share} confidence interval (Student's t, over the points there; "
            "none of one point). Parallel lines: the two factors do not depend on each other.",
            ["factor", "other", "level", "other_level", "points", "mean", "low", "high"], rows)  # fmt: skip

    def _variance(self, sample: Sample, name: str, values: np.ndarray, stem: str) -> Figure | None:
        found = analysis.variance(sample.factors, values)
        if found is None:
            return None
        shown = sorted(found.terms, key=lambda term: term.share)[-15:]
        figure, plot = plt.subplots(figsize=(6, 0.6 + 0.28 * len(shown)))
        level = 1 - self._confidence
        plot.barh([term.name for term in shown], [100 * term.share for term in shown],
                  color=["grey" if term.name == "rest" else COLORS[0] if term.p is None or term.p < level
                         else "lightgrey" for term in shown])  # fmt: skip
        plot.set_xlabel("share of the squares (%)")
        text = "Which factors explain what differs between points (type II); "
        text += f"{100 * found.explained:.1f} % is explained. "
        if any(term.p is not None for term in found.terms):
            text += f"Light bars are not significant at {100 * level:g} %; 'rest' is what no factor explains. "
        if any("=" in term.name for term in found.terms):
            text += "'=': terms that these rows do not tell from each other. "
        return self._finish(
            figure, f"{stem}-variance", f"Analysis of variance of {name}", (text + " ".join(found.notes)).strip(),
            ["term", "squares", "freedom", "f", "p", "share"],
            [(t.name, t.squares, t.freedom, t.f, t.p, t.share) for t in found.terms])  # fmt: skip

    def _surfaces(self, sample: Sample, name: str, values: np.ndarray, stem: str) -> Figure | None:
        numeric = [axis for axis in sample.factors if axis.numbers is not None and len(axis.levels) > 2]
        found = [one for a, b in itertools.combinations(numeric, 2) if (one := analysis.surface(a, b, values))][:6]
        if not found:
            return None
        figure, plots = _grid(len(found), size=3.4)
        rows = []
        for plot, one in zip(plots, found):
            x, y = (_span(axis, log) for axis, log in zip((one.one, one.other), one.logarithmic))
            mesh = np.meshgrid(x, y)
            z = one.at(*mesh)
            drawn = plot.contourf(*mesh, z, levels=12, cmap="viridis")
            figure.colorbar(drawn, ax=plot)
            plot.plot(one.one.values, one.other.values, "w.", markersize=2)
            for axis, log, which in ((one.one, one.logarithmic[0], "x"), (one.other, one.logarithmic[1], "y")):
                getattr(plot, f"set_{which}label")(axis.name)
                if log:
                    getattr(plot, f"set_{which}scale")("log")
            plot.set_title(f"R² {one.explained:.3f}", fontsize=8)
            rows += [(one.one.name, one.other.name, *entry, one.explained)
                     for entry in zip(mesh[0].flat, mesh[1].flat, z.flat)]  # fmt: skip
        return self._finish(
            figure, f"{stem}-surface", f"Response surfaces of {name}",
            "A polynomial of second degree in two factors with numbers, fitted to all points (white), whatever the "
            "other factors are; R² is the share it explains.",
            ["factor", "other", "x", "y", "value", "explained"], rows)  # fmt: skip

    def _outliers(self, sample: Sample, name: str, values: np.ndarray, stem: str) -> Figure | None:
        off, deviations = analysis.residuals(sample, values)
        if not np.isfinite(off).any():
            return None
        hosts = sorted(set(sample.hosts))
        order = np.argsort(sample.began)
        rank = np.empty(len(order), dtype=int)
        rank[order] = np.arange(len(order))
        figure, plots = _grid(2, size=3.6)
        wild = np.abs(deviations) > analysis.OUTLIER
        place = np.array([hosts.index(host) for host in sample.hosts])
        for at in range(len(hosts)):
            part = place == at
            plots[0].plot(rank[part], 100 * off[part], ".", color=COLORS[at % 10], markersize=3)
        plots[0].plot(rank[wild], 100 * off[wild], "o", color="red", fillstyle="none")
        plots[0].set_xlabel("order in which they ran")
        plots[0].set_ylabel(f"{name}, off its row (%)")
        plots[1].boxplot([100 * off[(place == at) & np.isfinite(off)] for at in range(len(hosts))])
        plots[1].set_xticks(range(1, len(hosts) + 1), hosts, rotation=0 if len(hosts) < 5 else 90)
        return self._finish(
            figure, f"{stem}-outliers", f"Outliers of {name}",
            f"How far points are from others of the same levels (or from what their levels let expect), against the "
            f"order in which they ran and the host. {int(wild.sum())} are off by more than {analysis.OUTLIER} robust "
            "standard deviations (red). A slope says that the machine changed meanwhile.",
            ["point", "order", "host", "value", "off", "deviations"],
            zip(sample.points, rank, sample.hosts, values, off, deviations))  # fmt: skip

    def pareto(self) -> list[Figure]:
        """Time against what was asked for by `cost:`, and against energy and money where the points have them. The
        front is of all of these together."""
        sample = self._sample
        if "simulated_s" not in sample.metrics:
            return []
        time = sample.metrics["simulated_s"]
        others = {f"cost: {sample.cost}": _cost(sample)} if sample.cost else {}
        for name, label in (("energy_joules", "energy (J)"), ("money", "money")):
            if name in sample.metrics and not np.isnan(sample.metrics[name]).any() and sample.cost != name:
                others[label] = sample.metrics[name]
        if not others:
            return []
        front = analysis.pareto(time, *others.values())
        if not front.any():
            return []
        return [self._pareto(label, other, front, len(others)) for label, other in others.items()]

    def _pareto(self, label: str, other: np.ndarray, front: np.ndarray, criteria: int) -> Figure:
        sample, time = self._sample, self._sample.metrics["simulated_s"]
        figure, plot = plt.subplots(figsize=(5, 3.6))
        plot.plot(time, other, ".", color="lightgrey")
        plot.plot(time[front], other[front], "o", markersize=4)
        both = analysis.pareto(time, other)
        order = np.argsort(time[both])
        plot.plot(time[both][order], other[both][order], "-", linewidth=1)
        plot.set_xlabel("simulated time (s)")
        plot.set_ylabel(label)
        kind = label.split(" ")[0].rstrip(":")
        header = ["point", "time", kind, "front", *(axis.name for axis in sample.factors)]
        text = "Points that no other one beats in both are joined."
        good = np.isfinite(time) & np.isfinite(other)
        if not good.all():
            text += f" {int((~good).sum())} that lack one of them are left out."
        if criteria > 1:
            text += " Dots are points that no other one beats in all of time, cost, energy and money that there are."
        return self._finish(
            figure, "pareto" if kind == "cost" else f"pareto-{kind}", f"Time and {kind}", text, header,
            ((sample.points[at], time[at], other[at], int(front[at]),
              *(axis.levels[axis.index[at]] for axis in sample.factors)) for at in np.flatnonzero(good)))  # fmt: skip


def _told(value: object) -> object:
    """For CSV: what is no number is empty."""
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _cost(sample: Sample) -> np.ndarray:
    assert sample.cost is not None
    values = {name: column for name, column in sample.metrics.items() if name.isidentifier()}
    values |= {axis.name: axis.values for axis in sample.all_factors if axis.numbers is not None}
    try:
        expression = parse(sample.cost, set(values))
        return np.array([float(expression.value({name: float(column[at]) for name, column in values.items()}))
                         for at in range(len(sample.points))])  # fmt: skip
    except ExpressionError as error:
        raise SweepError(f"cost: {sample.cost}", "a number for every point", str(error)) from None


def _part(sample: Sample, good: np.ndarray) -> Sample:
    from dataclasses import replace

    return replace(
        sample, factors=[replace(axis, index=axis.index[good]) for axis in sample.factors],
        points=sample.points[good], position=sample.position[good], began=sample.began[good],
        hosts=[host for host, keep in zip(sample.hosts, good) if keep], rows=sample.rows[good],
        seeds=sample.seeds[good], metrics={name: column[good] for name, column in sample.metrics.items()},
    )  # fmt: skip


def _few(axis: Axis) -> Axis:
    """A continuous factor as low, middle and high."""
    if not analysis.is_continuous(axis):
        return axis
    edges = np.quantile(axis.values, [1 / 3, 2 / 3])
    index = np.searchsorted(edges, axis.values)
    numbers = [float(np.median(axis.values[index == part])) if (index == part).any() else 0.0 for part in range(3)]
    return Axis(axis.name, [f"{number:.4g}" for number in numbers], numbers, index)


def _grid(count: int, size: float = 2.6, sharey: bool = False):
    columns = min(count, 4 if size < 3 else 3)
    lines = -(-count // columns)
    figure, plots = plt.subplots(lines, columns, figsize=(size * columns, size * 0.85 * lines), squeeze=False,
                                 sharey=sharey, layout="constrained")  # fmt: skip
    for plot in plots.flat[count:]:
        plot.set_visible(False)
    return figure, list(plots.flat[:count])


def _positions(plot, axis: Axis, levels: list[tuple[str, float | None]]) -> list[float]:
    """Where levels go: at their numbers if they have such, far apart ones on a logarithmic axis."""
    if all(number is not None for _, number in levels):
        if analysis.is_logarithmic(axis):
            plot.set_xscale("log")
        return [float(number) for _, number in levels if number is not None]
    plot.set_xticks(range(len(axis.levels)), axis.levels, rotation=30 if len(axis.levels) > 3 else 0)
    return [float(axis.levels.index(level)) for level, _ in levels]


def _span(axis: Axis, logarithmic: bool) -> np.ndarray:
    assert axis.numbers is not None
    low, high = min(axis.numbers), max(axis.numbers)
    return np.geomspace(low, high, 30) if logarithmic else np.linspace(low, high, 30)
