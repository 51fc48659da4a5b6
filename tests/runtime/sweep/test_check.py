# SPDX-License-Identifier: LGPL-2.1-or-later
"""`umwelt sweep check`: on seeded synthetic data, where the truth is known."""
import json
import math
import sqlite3
import unittest
from contextlib import closing
from dataclasses import replace

import numpy as np
from support import DESIGN, Case, SweepError

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


def of_values(values: list[list[float]], name: str = "a") -> Sample:
    """Of one metric, for every row its values."""
    index = np.repeat(np.arange(len(values)), [len(row) for row in values])
    made = sample(np.random.default_rng(0), 1, len(index))
    axis = replace(made.all_factors[0], levels=[str(row) for row in range(len(values))], numbers=None, index=index)
    return replace(made, factors=[axis], all_factors=[axis], rows=index, metrics={name: np.concatenate(values)})


def without(given: Sample, points: list[int], unfinished: bool = False) -> Sample:
    """As if these points had not completed."""
    keep = np.setdiff1d(np.arange(len(given.points)), points)
    axis = replace(given.all_factors[0], index=given.all_factors[0].index[keep])
    keys = given.keys()
    return replace(given, factors=[axis], all_factors=[axis], points=given.points[keep], seeds=given.seeds[keep],
                   metrics={name: column[keep] for name, column in given.metrics.items()},
                   unfinished=tuple(keys[at] for at in points) if unfinished else ())  # fmt: skip


def lacking(given: Sample, name: str, points: object) -> Sample:
    column = given.metrics[name].copy()
    column[points] = np.nan
    return replace(given, metrics={**given.metrics, name: column})


def examine(old: Sample, new: Sample, *names: str, least: float = 0.01) -> dict:
    result = check.examine(old, new, list(names or old.metrics), LEVEL, least)
    json.dumps(result, allow_nan=False)
    return result


class Tests(unittest.TestCase):
    def share(self, times: int, drift: float, least: float, rows: int = 3, repetitions: int = 8) -> float:
        drawer = np.random.default_rng(5)
        found = 0
        for _ in range(times):
            old, new = sample(drawer, rows, repetitions), sample(drawer, rows, repetitions, drift)
            found += examine(old, new, "a", "b", "c", least=least)["changed"]
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


    def test_level_is_kept_with_other_numbers_of_repetitions(self):
        drawer, times, rows = np.random.default_rng(11), 1000, 3
        margin = 3 * math.sqrt(LEVEL * (1 - LEVEL) / times)
        for before, after in ((1, 8), (8, 1), (1, 3), (8, 8), (1, 1), (2, 8)):
            for logarithms in (True, False):
                old, new = (1 + 0.01 * drawer.normal(size=(times, rows, count)) for count in (before, after))
                found = sum(check.compare([*one], [*other], LEVEL, logarithms)[3] < LEVEL
                            for one, other in zip(old, new))  # fmt: skip
                with self.subTest(before=before, after=after, logarithms=logarithms):
                    self.assertAlmostEqual(found / times, LEVEL, delta=margin)

    def test_drift_is_found_where_one_side_has_no_repetitions(self):
        drawer = np.random.default_rng(12)
        found = [examine(sample(drawer, 3, 1), sample(drawer, 3, 8, 1 + drift))["changed"]
                 for drift in (0.04, 0.0) for _ in range(60)]  # fmt: skip
        self.assertGreater(sum(found[:60]), 57)
        self.assertLess(sum(found[60:]), 8)


class WithoutScatter(unittest.TestCase):
    """Values that are the same to the bit, or not."""

    def setUp(self) -> None:
        self.values = [[1.0 + row / 7] * 3 for row in range(12)]

    def test_the_same_is_no_change(self):
        for values in (self.values, self.values[:1], [row[:1] for row in self.values], [[0.0]] * 3, [[-0.1] * 3] * 2):
            result = examine(of_values(values), of_values(values), least=0)
            self.assertFalse(result["changed"])
            self.assertEqual([result["metrics"][0][key] for key in ("differing", "p")], [0, None])

    def test_one_row_of_twelve(self):
        for count in (3, 1):
            old = [row[:count] for row in self.values]
            new = [[value * (1.1 if at == 4 else 1) for value in row] for at, row in enumerate(old)]
            found = examine(of_values(old), of_values(new))["metrics"][0]
            self.assertTrue(found["changed"])
            self.assertEqual(found["differing"], 1)
            self.assertAlmostEqual(found["largest"], 0.1)
            self.assertTrue(found["where"].startswith("row=4: "), found["where"])

    def test_two_rows_that_cancel_out(self):
        new = [[value * {3: 1.5, 4: 1 / 1.5}.get(at, 1) for value in row] for at, row in enumerate(self.values)]
        found = examine(of_values(self.values), of_values(new))["metrics"][0]
        self.assertAlmostEqual(found["ratio"], 1)
        self.assertTrue(found["changed"])
        self.assertEqual(found["differing"], 2)

    def test_smaller_than_least_is_told_only(self):
        new = [[value * 1.005 for value in row] for row in self.values]
        found = examine(of_values(self.values), of_values(new))["metrics"][0]
        self.assertEqual((found["differing"], found["changed"]), (12, False))
        self.assertTrue(examine(of_values(self.values), of_values(new), least=0.004)["changed"])

    def test_one_point_on_each_side(self):
        for factor, expected in ((1.5, True), (1.001, False)):
            found = examine(of_values([[2.0]]), of_values([[2.0 * factor]]))["metrics"][0]
            self.assertEqual((found["changed"], found["p"], found["low"]), (expected, None, None))
            self.assertIn("nothing to test", found["note"])

    def test_rows_without_scatter_among_others(self):
        noise = 1 + 0.01 * np.random.default_rng(4).normal(size=(2, 6, 3))
        old, new = ([*self.values[:6], *noise[side].tolist()] for side in (0, 1))
        self.assertFalse(examine(of_values(old), of_values(new))["changed"])
        new = [[value * 1.02 for value in row] if at == 2 else row for at, row in enumerate(new)]
        found = examine(of_values(old), of_values(new))["metrics"][0]
        self.assertEqual((found["steady"], found["differing"], found["changed"]), (6, 1, True))

    def test_counts_that_are_alike_by_chance_scatter(self):
        drawer = np.random.default_rng(6)
        found = [examine(*(of_values(drawer.poisson(1, (12, 3)).astype(float).tolist()) for _ in range(2)))["changed"]
                 for _ in range(100)]  # fmt: skip
        self.assertLess(sum(found), 12)

    def test_rounding_is_no_scatter(self):
        drawer = np.random.default_rng(8)
        made = {name: 3.7 * (1 + 1e-16 * drawer.integers(-3, 4, size=36)) for name in "abcd"}
        old = replace(of_values(self.values), metrics=made)
        new = replace(old, metrics={name: column[::-1] for name, column in made.items()})
        for other in (old, new):
            result = examine(old, other)
            self.assertNotIn("hotelling", result)
            self.assertFalse(result["changed"])

    def test_hotelling_does_without_rounding(self):
        drawer = np.random.default_rng(9)
        old, new = drawer.normal(size=(2, 9, 2))
        rounded = [np.column_stack([one, 5 + 1e-15 * drawer.normal(size=9)]) for one in (old, new)]
        self.assertAlmostEqual(check.hotelling(*rounded)[0], check.hotelling(old, new)[0], places=9)


class Differences(unittest.TestCase):
    """Metrics that have no logarithms."""

    def test_from_zero_is_a_change(self):
        found = examine(of_values([[0.0] * 3] * 4), of_values([[0.0] * 3] * 3 + [[2.0] * 3]))["metrics"][0]
        self.assertTrue(found["changed"])
        self.assertEqual((found["ratio"], found["difference"], found["largest"]), (None, 0.5, None))
        self.assertEqual(found["where"], "row=3: 0.0 to 2.0")

    def test_to_zero_is_a_change(self):
        result = examine(of_values([[1.0, 1.01, 0.99]] * 4), of_values([[0.0] * 3] * 4))
        self.assertTrue(result["changed"])
        self.assertLess(result["metrics"][0]["p"], 1e-6)

    def test_of_what_scatters(self):
        drawer = np.random.default_rng(10)
        shares = []
        for shift in (0.0, 3.0):
            pairs = [drawer.normal(size=(2, 3, 8)) * 0.5 - [[[10]], [[10 - shift]]] for _ in range(100)]
            shares.append(sum(examine(of_values(old), of_values(new))["changed"] for old, new in pairs) / 100)
        self.assertLess(shares[0], 0.12)
        self.assertEqual(shares[1], 1)

    def test_least_is_a_share_of_the_baseline(self):
        drawer = np.random.default_rng(13)
        old, new = (of_values((base + 0.01 * drawer.normal(size=(3, 40))).tolist()) for base in (-10, -10.05))
        self.assertFalse(examine(old, new)["changed"])
        self.assertTrue(examine(old, new, least=0.004)["changed"])


class Missing(unittest.TestCase):
    """What the new one does not have."""

    def setUp(self) -> None:
        self.old, self.new = (sample(np.random.default_rng(seed), 12, 3) for seed in (1, 2))

    def test_a_metric_that_one_point_lacks(self):
        new = lacking(self.new, "a", [7])
        new.metrics["a"][:] *= 1.5
        found = examine(self.old, new)["metrics"][0]
        self.assertEqual((found["rows"], found["points_left_out"], found["changed"]), (12, 1, True))
        self.assertAlmostEqual(found["ratio"], 1.5, delta=0.02)
        one, other = (of_values([[1.0], [2.0], [3.0]]), lacking(of_values([[1.0], [2.0], [3.0]]), "a", [1]))
        found = examine(one, other)["metrics"][0]
        self.assertEqual((found["rows"], found["rows_left_out"], found["changed"]), (2, 1, False))

    def test_together_in_rows_that_have_all(self):
        new = lacking(self.new, "a", [7])
        result = examine(self.old, new)
        self.assertEqual(result["hotelling"]["metrics"], ["a", "b", "c"])
        self.assertGreater(result["hotelling"]["p"], 0.01)
        new.metrics["c"][:] *= 1.1
        self.assertLess(examine(self.old, new)["hotelling"]["p"], 1e-9)

    def test_a_metric_that_is_gone(self):
        for new in (lacking(self.new, "a", slice(None)),
                    replace(self.new, metrics={name: self.new.metrics[name] for name in "bc"})):  # fmt: skip
            for names in ("ab", "a"):
                result = examine(self.old, new, *names)
                self.assertTrue(result["changed"])
                self.assertEqual(result["left_out"],
                                 [{"metric": "a", "why": "the new one does not have it", "changed": True}])  # fmt: skip

    def test_a_metric_that_was_not_there(self):
        old = lacking(self.old, "a", slice(None))
        result = examine(old, self.new, "a", "b")
        self.assertFalse(result["changed"])
        self.assertEqual(result["left_out"][0]["why"], "the baseline does not have it")
        with self.assertRaisesRegex(SweepError, "a metric that both have, got none"):
            examine(old, self.new, "a")

    def test_rows(self):
        fewer = without(self.new, list(range(12, 33)))
        result = examine(self.old, fewer)
        self.assertEqual([result[key] for key in ("rows", "rows_missing", "rows_of_baseline")], [5, 7, 12])
        self.assertTrue(result["changed"])
        result = examine(fewer, self.old)
        self.assertEqual([result[key] for key in ("rows", "rows_missing", "rows_only_new")], [5, 0, 7])
        self.assertFalse(result["changed"])

    def test_points_of_a_row(self):
        self.assertFalse(examine(self.old, without(self.new, [4]))["changed"], "fewer repetitions were asked for")
        result = examine(self.old, without(self.new, [4], unfinished=True))
        self.assertEqual((result["points_missing"], result["rows_missing"], result["changed"]), (1, 0, True))
        both = without(self.old, [3], unfinished=True)
        self.assertFalse(examine(both, without(self.new, [4], unfinished=True))["changed"], "it failed before, too")


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

    def test_a_level_of_which_all_points_failed(self):
        with closing(sqlite3.connect(self.directory / "new.db")) as database, database:
            database.execute("UPDATE points SET state = 'failed' WHERE point IN "
                             "(SELECT point FROM levels WHERE factor = 'ranks' AND level = '4')")  # fmt: skip
            database.execute("UPDATE points SET state = 'failed' WHERE point = 0")
        done = self.sweep("check", "old", "new.db", code=1)
        self.assertIn("3 of 6 rows are not in the new one: no point of them completed there  CHANGED", done.stdout)
        self.assertIn("\n1 point of other rows did not complete in the new one  CHANGED", done.stdout)
        self.assertIn("of 8 points with the same seed: the same to the bit", done.stdout)
        done = self.sweep("check", "new.db", "old")
        self.assertIn("3 rows only in the new one", done.stdout)

    def test_a_metric_that_is_gone(self):
        with closing(sqlite3.connect(self.directory / "new.db")) as database, database:
            database.execute("DELETE FROM metrics WHERE name = 'simulated_s'")
            database.execute("DELETE FROM measurements WHERE metric NOT IN (SELECT id FROM metrics)")
        done = self.sweep("check", "old", "new.db", code=1)
        self.assertIn("simulated_s: left out, for the new one does not have it  CHANGED", done.stdout)

    def test_least_is_a_share(self):
        for least in ("nan", "inf", "-0.1"):
            done = self.sweep("check", "old", "new.db", f"--least={least}", code=121)
            self.assertIn("--least: expected a share, 0 or more, got", done.stderr)

    def test_unknown_metric(self):
        done = self.sweep("check", "old", "new.db", "--metric", "simulated", code=121)
        self.assertIn("nearest known one is 'simulated_", done.stderr)


if __name__ == "__main__":
    unittest.main()
