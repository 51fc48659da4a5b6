# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures, the data behind them, and the statistics in them."""
import csv
import re
import unittest

import numpy as np
from support import DESIGN, Case

from sweep import analysis
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
        terms, explained = analysis.variance([self.a, self.b], self.values)
        by_name = {term.name: term for term in terms}
        self.assertAlmostEqual(sum(term.share for term in terms), 1, places=9)
        self.assertEqual([by_name[name].freedom for name in ("a", "b", "a x b", "rest")], [1, 2, 2, 18])
        self.assertLess(by_name["a"].p, 1e-9)
        self.assertGreater(by_name["a x b"].p, 0.01)
        # One factor by hand: n times the squares of the means' distances.
        means = [self.values[self.a.index == level].mean() for level in (0, 1)]
        self.assertAlmostEqual(by_name["a"].squares, 12 * sum((m - self.values.mean()) ** 2 for m in means), places=8)
        self.assertGreater(explained, 0.99)

    def test_confidence_interval_of_a_mean(self):
        low = analysis.means(self.a, self.noise, 0.95)[0]
        part = self.noise[self.a.index == 0]
        self.assertAlmostEqual(low.half, 2.200985 * part.std(ddof=1) / 12**0.5, places=6)

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


class Page(Case):
    def test_each_figure_has_its_data(self):
        self.design(DESIGN.replace("2, 4", "2, 4, 8") + "replicates: 2\ncost: ranks * simulated_s\n"
                    "metrics: {units: 'result: ([0-9.]+)'}\n")  # fmt: skip
        self.sweep("design.yaml")
        self.sweep("plot", "design.sweep")
        plots = self.directory / "design.sweep" / "plots"
        page = (plots / "index.html").read_text()
        pictures = re.findall(r'<img src="([^"]+)"', page)
        data = re.findall(r'<a href="([^"]+)">Data', page)
        self.assertEqual(len(pictures), len(data))
        self.assertEqual({name.rsplit("-", 1)[-1].removesuffix(".svg") for name in pictures},
                         {"effects", "interactions", "variance", "surface", "outliers", "pareto"})  # fmt: skip
        for name in (*pictures, *data):
            self.assertGreater((plots / name).stat().st_size, 100, name)
        with open(plots / "simulated_s-effects.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["factor"], row["level"], row["points"]) for row in rows],
                         [("ranks", "2", "6"), ("ranks", "4", "6"), ("ranks", "8", "6"),
                          ("size", "8", "6"), ("size", "16", "6"), ("size", "32", "6")])  # fmt: skip

    def test_unknown_factor_in_cost(self):
        self.design(DESIGN + "cost: rank * simulated_s\n")
        self.assertIn("unknown factor 'rank' (nearest: 'ranks')", self.sweep("design.yaml", code=121).stderr)


if __name__ == "__main__":
    unittest.main()
