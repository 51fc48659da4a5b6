# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures, the data behind them, and the statistics in them."""
import csv
import importlib.util
import itertools
import re
import unittest
import warnings
from types import SimpleNamespace

import numpy as np
from support import DESIGN, Case

from sweep import analysis
from sweep.fractions import by_resolution
from sweep.sample import Axis


def axis(name: str, levels: list[float], index: np.ndarray) -> Axis:
    return Axis(name, [f"{level:g}" for level in levels], levels, index)


class Statistics(unittest.TestCase):
    def setUp(self) -> None:
        grid = np.array([(a, b, r) for a in range(2) for b in range(3) for r in range(4)])
        self.a, self.b = axis("a", [1, 2], grid[:, 0]), axis("b", [1, 2, 4], grid[:, 1])
        self.noise = np.random.default_rng(1).normal(size=len(grid)) * 0.1
        self.values = 10 + 3 * grid[:, 0] + np.array([0, 1, 5])[grid[:, 1]] + self.noise

    def test_variance_adds_up_in_a_balanced_design(self):
        found = analysis.variance([self.a, self.b], self.values)
        terms, explained = found.terms, found.explained
        by_name = {term.name: term for term in terms}
        self.assertAlmostEqual(sum(term.share for term in terms), 1, places=9)
        self.assertEqual([by_name[name].freedom for name in ("a", "b", "a x b", "rest")], [1, 2, 2, 18])
        self.assertLess(by_name["a"].p, 1e-9)
        self.assertGreater(by_name["a x b"].p, 0.01)
        # One factor by hand: n times the squares of the means' distances.
        means = [self.values[self.a.index == level].mean() for level in (0, 1)]
        self.assertAlmostEqual(by_name["a"].squares, 12 * sum((m - self.values.mean()) ** 2 for m in means), places=8)
        self.assertGreater(explained, 0.99)
        self.assertEqual(found.notes, [])

    def test_confidence_interval_of_a_mean(self):
        low = analysis.means(self.a, self.noise, 0.95)[0]
        part = self.noise[self.a.index == 0]
        self.assertAlmostEqual(low.half, 2.200985 * part.std(ddof=1) / 12**0.5, places=6)
        first = analysis.interaction(self.a, self.b, self.noise, 0.95)[0]
        part = self.noise[(self.a.index == 0) & (self.b.index == 0)]
        self.assertEqual(first[:4], ("1", "1", 4, part.mean()))
        self.assertAlmostEqual(first[4], 3.182446 * part.std(ddof=1) / 2, places=6)

    def test_surface_finds_a_polynomial(self):
        index = np.array([(a, b) for a in range(3) for b in range(4)])
        x, y = axis("x", [1.0, 2.0, 3.0], index[:, 0]), axis("y", [1.0, 10.0, 100.0, 1000.0], index[:, 1])
        u, v = x.values, np.log10(y.values)
        made = analysis.surface(x, y, 2 + u - 3 * v + 0.5 * u * v + v * v)
        self.assertAlmostEqual(made.explained, 1, places=9)
        self.assertAlmostEqual(float(made.at(np.array([2.5]), np.array([31.6227766]))[0]), 2 + 2.5 - 4.5 + 1.875 + 2.25,
                               places=6)  # fmt: skip

    def test_pareto(self):
        front = analysis.pareto(np.array([1.0, 2, 3, 3, 2]), np.array([9.0, 5, 4, 6, 5]))
        self.assertEqual(front.tolist()[:4], [True, True, True, False])

    def test_pareto_of_three(self):
        front = analysis.pareto(np.array([1.0, 2, 3, 3]), np.array([2.0, 2, 2, 3]), np.array([3.0, 2, 3, 1]))
        self.assertEqual(front.tolist(), [True, True, False, True])

    def test_pareto_without_points_that_lack_a_criterion(self):
        front = analysis.pareto(np.array([1.0, np.nan, 3, 0.5]), np.array([1.0, 0, 0, np.nan]))
        self.assertEqual(front.tolist(), [True, False, True, False])


def columns(rows: list, times: int = 1) -> list[Axis]:
    matrix = np.repeat(np.array(rows), times, axis=0)
    return [Axis(name, [str(level) for level in range(column.max() + 1)], None, column)
            for name, column in zip("abcdefgh", matrix.T)]  # fmt: skip


def fraction(factors: int, resolution: int, times: int) -> list[Axis]:
    return columns((np.array(by_resolution(factors, resolution).rows()) + 1) // 2, times)


def left(values: np.ndarray, factors: list[Axis], names: list[str]) -> tuple[float, int]:
    """Squares that a model leaves, and its rank: least squares with a column for each level."""
    dummies = {axis.name: np.eye(len(axis.levels))[axis.index] for axis in factors}
    blocks = [np.ones((len(values), 1))]
    for name in names:
        block = np.ones((len(values), 1))
        for part in name.split(" x "):
            block = (block[:, :, None] * dummies[part][:, None, :]).reshape(len(values), -1)
        blocks.append(block)
    matrix = np.hstack(blocks)
    fitted = np.linalg.lstsq(matrix, values, rcond=None)[0]
    return float(np.sum((values - matrix @ fitted) ** 2)), int(np.linalg.matrix_rank(matrix))


class Models(unittest.TestCase):
    """Which terms there are in designs that do not tell all of them apart, and their numbers."""

    def check(self, factors: list[Axis], expected: list[str], keep: slice | np.ndarray = slice(None)):
        factors = [Axis(axis.name, axis.levels, None, axis.index[keep]) for axis in factors]
        drawer = np.random.default_rng(3)
        values = 5 + 2 * factors[0].index + factors[0].index * factors[1].index
        values = values + 0.3 * drawer.normal(size=len(values))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = analysis.variance(factors, values)
        self.assertEqual([term.name for term in found.terms[:-1]], expected)
        total = float(np.sum((values - values.mean()) ** 2))
        names = [term.name.split(" = ") for term in found.terms[:-1]]
        rest, rank = left(values, factors, sum(names, []))
        self.assertEqual(found.terms[-1].freedom, len(values) - rank)
        self.assertAlmostEqual(found.terms[-1].squares / total, rest / total, places=10)
        self.assertAlmostEqual(found.explained, 1 - rest / total, places=10)
        for own, term in zip(names, found.terms):
            parts = {part for name in own for part in name.split(" x ")}
            others = [other for other in names if other != own
                      and not (len(own[0]) == 1 and len(other[0]) > 1 and parts & set("".join(other)))]  # fmt: skip
            (before, low), (after, high) = left(values, factors, sum(others, [])), left(values, factors,
                                                                                        sum(others, own))  # fmt: skip
            self.assertEqual(term.freedom, high - low, term.name)
            self.assertAlmostEqual(term.squares / total, (before - after) / total, places=10, msg=term.name)
            self.assertTrue(0 <= term.share <= 1)
            if rest and len(values) > rank:
                self.assertAlmostEqual(term.f / (term.squares / term.freedom / (rest / (len(values) - rank))), 1)
        return found

    def unbalanced(self, factors: list[Axis]) -> np.ndarray:
        return np.random.default_rng(5).random(len(factors[0].index)) < 0.75

    def test_full(self):
        factors = columns(list(itertools.product(range(2), range(3), range(2))), 4)
        terms = ["a", "b", "c", "a x c", "a x b", "b x c"]
        self.check(factors, terms)
        self.check(factors, terms, self.unbalanced(factors))

    @unittest.skipUnless(importlib.util.find_spec("statsmodels"), "without statsmodels")
    def test_as_statsmodels_has_it(self):
        import pandas
        from statsmodels.formula.api import ols
        from statsmodels.stats.anova import anova_lm

        factors = columns(list(itertools.product(range(2), range(3))), 5)
        keep = self.unbalanced(factors)
        values = factors[0].index + 0.2 * np.random.default_rng(1).normal(size=30)
        frame = pandas.DataFrame({axis.name: axis.index[keep] for axis in factors} | {"y": values[keep]})
        rows = anova_lm(ols("y ~ C(a) * C(b)", frame).fit(), typ=2)
        found = analysis.variance([Axis(axis.name, axis.levels, None, axis.index[keep]) for axis in factors],
                                  values[keep])  # fmt: skip
        for term, (_, row) in zip(found.terms, rows.iterrows()):
            self.assertAlmostEqual(term.squares, row["sum_sq"])
            self.assertEqual(term.freedom, row["df"])
            if term.p is not None:
                self.assertAlmostEqual(term.p, row["PR(>F)"])

    def test_resolution_four_joins_interactions(self):
        factors = fraction(4, 4, 5)
        terms = ["a", "b", "c", "d", "a x b = c x d", "a x c = b x d", "a x d = b x c"]
        found = self.check(factors, terms)
        self.assertLess(found.terms[4].p, 0.001)
        self.assertGreater(min(term.p for term in found.terms[5:7]), 0.01)
        self.check(factors, terms, self.unbalanced(factors))

    def test_resolution_three_and_one_at_a_time_have_main_effects(self):
        rows = [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [0, 0, 1]]
        for factors in (fraction(3, 3, 5), columns(rows, 6)):
            for keep in (slice(None), self.unbalanced(factors)):
                found = self.check(factors, ["a", "b", "c"], keep)
                self.assertRegex(found.notes[0], "main effects: .*a x b")

    def test_missing_combination(self):
        found = self.check(columns([(a, b) for a in range(3) for b in range(3) if a * b < 4], 3), ["a", "b"])
        self.assertEqual(found.notes, ["Left out, for combinations of their levels are missing: a x b."])

    def test_factors_that_follow_from_others(self):
        self.check(columns([(a, b, 1 - a) for a in range(2) for b in range(2)], 4),
                   ["a = c", "b", "a x b = b x c"])  # fmt: skip
        found = self.check(columns([(int(c == 2), b, c) for c in range(3) for b in range(2)], 4), ["b", "c", "b x c"])
        self.assertEqual(found.notes, ["Left out, for these rows do not tell them from other factors: a."])

    def test_nothing_left_for_an_error(self):
        found = self.check(fraction(7, 3, 1), list("abcdefg"))
        self.assertEqual({(term.f, term.p) for term in found.terms}, {(None, None)})
        self.assertIn("nothing is left to estimate an error by", found.notes[-1])

    def test_nothing_unexplained(self):
        a, b = columns(list(itertools.product(range(2), range(2))), 3)
        found = analysis.variance([a, b], 0.1 + 0.7 * a.index)
        self.assertEqual([(term.name, term.f, round(term.share, 9)) for term in found.terms],
                         [("a", None, 1), ("b", None, 0), ("a x b", None, 0), ("rest", None, 0)])  # fmt: skip
        self.assertIn("exact", found.notes[-1])
        self.assertIsNone(analysis.variance([a, b], 0.0 * a.index + 0.1))

    def test_few_points_of_numbers_are_lines(self):
        drawer = np.random.default_rng(2)
        x, y = (Axis(name, list("0123456789"), [float(level) for level in range(10)], drawer.permutation(10))
                for name in "uv")  # fmt: skip
        found = analysis.variance([x, y], x.values + 0.1 * drawer.normal(size=10))
        self.assertEqual([(term.name, term.freedom) for term in found.terms],
                         [("u", 1), ("v", 1), ("u x v", 1), ("rest", 6)])  # fmt: skip


class Outliers(unittest.TestCase):
    def test_clean_points_and_one_that_is_not(self):
        drawer, rows, times = np.random.default_rng(4), 12, 60
        for repetitions in (2, 3, 4, 5, 8):
            sample = SimpleNamespace(rows=np.repeat(np.arange(rows), repetitions), factors=[])
            clean = found = 0.0
            for _ in range(times):
                values = np.repeat(np.arange(1.0, rows + 1), repetitions)
                values *= np.exp(0.01 * drawer.normal(size=len(values)))
                clean += np.mean(np.abs(analysis.residuals(sample, values)[1]) > analysis.OUTLIER)
                values[0] *= 1.5
                off, deviations = analysis.residuals(sample, values)
                found += abs(deviations[0]) > analysis.OUTLIER
                others = np.abs(deviations[repetitions:]) > analysis.OUTLIER
                self.assertLess(others.mean(), 0.1)
            with self.subTest(repetitions=repetitions):
                self.assertLessEqual(clean / times, 0.005)
                self.assertEqual(found, times)
        self.assertAlmostEqual(off[0], 0.5, delta=0.05, msg="a share")

    def test_middle_distances(self):
        for count, expected in analysis._MIDDLE.items():
            drawn = np.random.default_rng(count).normal(size=(40000, count))
            distances = np.sort(np.abs(drawn - np.median(drawn, axis=1, keepdims=True)))[:, count % 2 :]
            self.assertAlmostEqual(np.median(distances), expected, delta=0.01)

    def test_values_without_scatter_or_logarithms(self):
        sample = SimpleNamespace(rows=np.repeat(np.arange(4), 3), factors=[])
        values = np.repeat([0.0, 1.1, 2.2, 3.3], 3)
        off, deviations = analysis.residuals(sample, values)
        self.assertTrue(np.isnan(off[:3]).all() and (off[3:] == 0).all() and (deviations[3:] == 0).all())
        values[11] *= 2
        off, deviations = analysis.residuals(sample, values)
        self.assertEqual(np.flatnonzero(np.abs(deviations) > analysis.OUTLIER).tolist(), [11])
        self.assertAlmostEqual(off[11], 1)


class Page(Case):
    def test_a_factor_that_changed_nothing_is_named(self):
        self.design(DESIGN + "  idle: {environment: NOBODY_READS_IT, levels: [1, 2]}\n")
        self.sweep("design.yaml")
        self.sweep("plot", "design.sweep")
        page = (self.directory / "design.sweep" / "plots" / "index.html").read_text()
        self.assertEqual(re.findall(r"(\w+) has changed nothing that is simulated", page), ["idle"])

    def test_each_figure_has_its_data(self):
        self.design(DESIGN.replace("2, 4", "2, 4, 8") + "replicates: 2\ncost: ranks * simulated_s\n"
                    "metrics: {units: 'result: ([0-9.]+)'}\n")  # fmt: skip
        self.sweep("design.yaml")
        self.sweep("plot", "design.sweep")
        plots = self.directory / "design.sweep" / "plots"
        page = (plots / "index.html").read_text()
        self.assertFalse(re.search(r"(src|href)=\"(https?:|//)", page), "one file")
        data = re.findall(r'<a href="([^"]+)">Data', page)
        pictures = [name.replace(".csv", ".svg") for name in data]
        self.assertEqual(page.count("<svg"), len(data))
        self.assertEqual(page.count("<details"), len(data), "a table behind each")
        names = re.findall(r'\bid="([^"]+)"', page)
        self.assertEqual(len(names), len(set(names)), "each name once")
        self.assertFalse("has changed nothing" in page)
        self.assertEqual({name.rsplit("-", 1)[-1].removesuffix(".svg") for name in pictures},
                         {"effects", "interactions", "variance", "surface", "outliers", "pareto"})  # fmt: skip
        for name in (*pictures, *data):
            self.assertGreater((plots / name).stat().st_size, 100, name)
        with open(plots / "simulated_s-effects.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["factor"], row["level"], row["points"]) for row in rows],
                         [("ranks", "2", "6"), ("ranks", "4", "6"), ("ranks", "8", "6"),
                          ("size", "8", "6"), ("size", "16", "6"), ("size", "32", "6")])  # fmt: skip

    def test_one_at_a_time(self):
        self.design(DESIGN.replace("2, 4", "2, 4, 8") + "replicates: 2\ndesign: {kind: one_at_a_time}\n")
        self.sweep("design.yaml")
        self.assertEqual(self.sweep("plot", "design.sweep").stderr, "")
        plots = self.directory / "design.sweep" / "plots"
        with open(plots / "simulated_s-variance.csv", encoding="utf-8") as file:
            self.assertEqual([row["term"] for row in csv.DictReader(file)], ["ranks", "size", "rest"])
        self.assertIn("do not tell them from main effects: ranks x size", (plots / "index.html").read_text())
        with open(plots / "simulated_s-interactions.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 5)
        for row in rows:
            self.assertLess(float(row["low"]), float(row["mean"]))
            self.assertLess(float(row["mean"]), float(row["high"]))

    def test_without_repetitions_there_are_no_intervals(self):
        self.design()
        self.sweep("design.yaml")
        self.assertEqual(self.sweep("plot", "design.sweep").stderr, "")
        plots = self.directory / "design.sweep" / "plots"
        for path in plots.glob("*.csv"):
            self.assertNotRegex(path.read_text(), r"(?m)(^|,)-?(nan|inf)(,|$)", path.name)
        with open(plots / "simulated_s-interactions.csv", encoding="utf-8") as file:
            self.assertEqual({(row["low"], row["high"]) for row in csv.DictReader(file)}, {("", "")})

    def test_unknown_factor_in_cost(self):
        self.design(DESIGN + "cost: rank * simulated_s\n")
        self.assertIn("unknown factor 'rank' (nearest: 'ranks')", self.sweep("design.yaml", code=121).stderr)


if __name__ == "__main__":
    unittest.main()
