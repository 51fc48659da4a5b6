# SPDX-License-Identifier: LGPL-2.1-or-later
"""`umwelt sweep check`: on seeded synthetic data, where the truth is known."""
import json
import math
import sqlite3
import unittest
from contextlib import closing

import numpy as np
from support import DESIGN, Case

from sweep import check
from sweep.sample import Axis, Sample

LEVEL = 0.05


def sample(
    drawer: np.random.Generator, rows: int, repetitions: int, drift: float = 1.0, scatter: float = 0.01
) -> Sample:
    """Two metrics that depend on each other, and a third that does not."""
    index = np.repeat(np.arange(rows), repetitions)
    count = len(index)
    common = drawer.normal(size=count)
    metrics = {
        "a": (1 + index) * drift * np.exp(scatter * common),
        "b": (9 + index) * drift * np.exp(scatter * (0.8 * common + 0.6 * drawer.normal(size=count))),
        "c": 5 * np.exp(scatter * drawer.normal(size=count)),
    }
    axis = Axis("row", [str(row) for row in range(rows)], [float(row) for row in range(rows)], index)
    numbers = np.arange(count)
    return Sample("s", [axis], numbers, numbers, numbers.astype(float), ["h"] * count, metrics, set(metrics),
                  list(metrics), None, [axis], index, np.tile(np.arange(repetitions), rows))  # fmt: skip


def changed(result: dict) -> bool:
    return any(one["changed"] for one in result["metrics"]) or result.get("hotelling", {}).get("changed", False)


class Tests(unittest.TestCase):
    def share(self, times: int, drift: float, least: float, rows: int = 3, repetitions: int = 8) -> float:
        drawer = np.random.default_rng(5)
        found = 0
        for _ in range(times):
            old, new = sample(drawer, rows, repetitions), sample(drawer, rows, repetitions, drift)
            found += changed(check.examine(old, new, ["a", "b", "c"], LEVEL, least))
        return found / times

    def test_false_alarms_are_at_most_as_said(self):
        times = 300
        margin = 3 * math.sqrt(LEVEL * (1 - LEVEL) / times)
        share = self.share(times, 1.0, 0.0)
        self.assertLess(share, LEVEL + margin)
        self.assertGreater(share, LEVEL / 3, "and it is no test that never says anything")

    def test_single_tests_keep_their_level(self):
        drawer = np.random.default_rng(7)
        single, together, times = 0, 0, 600
        for _ in range(times):
            old, new = (drawer.normal(size=(10, 3)) for _ in range(2))
            together += check.hotelling(old, new)[1] < LEVEL
            single += check.compare([np.exp(old[:, 0])], [np.exp(new[:, 0])], LEVEL)[3] < LEVEL
        margin = 3 * math.sqrt(LEVEL * (1 - LEVEL) / times)
        self.assertAlmostEqual(single / times, LEVEL, delta=margin)
        self.assertAlmostEqual(together / times, LEVEL, delta=margin)

    def test_drift_of_three_percent_is_found_with_eight_repetitions(self):
        self.assertGreater(self.share(60, 1.03, 0.01, rows=1), 0.99)

    def test_significant_and_small_is_no_change(self):
        self.assertLess(self.share(20, 1.005, 0.01, rows=1, repetitions=80), 0.06)
        self.assertGreater(self.share(20, 1.005, 0.0, rows=1, repetitions=80), 0.5)

    def test_hotelling_in_one_dimension_is_the_t_test(self):
        drawer = np.random.default_rng(3)
        old, new = drawer.normal(size=(9, 1)), drawer.normal(size=(7, 1)) + 1
        from scipy import stats

        t, p = stats.ttest_ind(old[:, 0], new[:, 0])
        square, probability = check.hotelling(old, new)
        self.assertAlmostEqual(square, t * t, places=10)
        self.assertAlmostEqual(probability, p, places=10)

    def test_hotelling_leaves_out_what_follows(self):
        drawer = np.random.default_rng(3)
        old, new = drawer.normal(size=(9, 2)), drawer.normal(size=(9, 2))
        more = [np.column_stack([one, one[:, 0] + one[:, 1], np.ones(9)]) for one in (old, new)]
        self.assertAlmostEqual(check.hotelling(*more)[0], check.hotelling(old, new)[0], places=6)

    def test_holm(self):
        self.assertEqual(check.holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])

    def test_welch_agrees_with_scipy(self):
        from scipy import stats

        drawer = np.random.default_rng(2)
        old, new = np.exp(drawer.normal(size=6)), np.exp(2 * drawer.normal(size=11))
        p = stats.ttest_ind(np.log(old), np.log(new), equal_var=False).pvalue
        self.assertAlmostEqual(check.compare([old], [new], LEVEL)[3], p, places=12)


class Command(Case):
    def setUp(self) -> None:
        super().setUp()
        self.design(DESIGN + "replicates: 3\n")
        self.sweep("design.yaml", "-o", "old")
        self.sweep("gather", "old", "-o", "new.db")

    def test_the_same_to_the_bit(self):
        done = self.sweep("check", "old", "new.db")
        self.assertIn("of 18 points with the same seed: the same to the bit", done.stdout)

    def test_a_change_has_an_exit_code(self):
        with closing(sqlite3.connect(self.directory / "new.db")) as database, database:
            database.execute("UPDATE measurements SET value = value * 1.5 WHERE metric = "
                             "(SELECT id FROM metrics WHERE name = 'simulated_s')")  # fmt: skip
        done = self.sweep("check", "old/results.db", "new.db", "--json", code=1)
        told = json.loads(done.stdout)
        self.assertAlmostEqual(told["metrics"][0]["ratio"], 1.5)
        self.assertEqual(told["same_seed"], {"points": 18, "other_bits": 18})

    def test_unknown_metric(self):
        done = self.sweep("check", "old", "new.db", "--metric", "simulated", code=121)
        self.assertIn("nearest known one is 'simulated_", done.stderr)


if __name__ == "__main__":
    unittest.main()
