# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of floors.py itself: that it can fail."""
import unittest

import floors

TABLE = {"low": [], "low/own": ["low"], "high": ["low"]}


def check(**files: str) -> list[str]:
    paths = {"low/a.h": "", "low/own/b.h": '#include "low/a.h"\n', "high/c.cpp": '#include "low/a.h"\n'}
    paths.update({name.replace("__", "/").replace("_h", ".h"): text for name, text in files.items()})
    return floors.check(paths, TABLE)


class Floors(unittest.TestCase):
    def test_downwards_is_right(self):
        self.assertEqual(check(), [])

    def test_upwards_is_wrong(self):
        self.assertEqual(
            check(low__x_h='#include "high/c.cpp"'), ["low/x.h: expected includes of nothing only, got high/c.cpp"]
        )

    def test_a_directory_with_a_row_is_not_part_of_the_one_around_it(self):
        self.assertIn(
            "low/x.h: expected includes of nothing only, got low/own/b.h", check(low__x_h='#include "low/own/b.h"')
        )

    def test_relative_names_count(self):
        self.assertEqual(len(check(low__x_h='# include "../high/c.cpp"')), 1)

    def test_a_directory_without_a_row_is_wrong(self):
        self.assertIn("expected a row", check(other__x_h="")[0])

    def test_a_row_that_allows_too_much_is_wrong(self):
        self.assertEqual(
            floors.check({"low/a.h": "", "high/c.h": ""}, {"low": [], "high": ["low"]}),
            ["table: high may include low, and does not"],
        )

    def test_circles_are_wrong(self):
        self.assertEqual(len(floors.circles({"a": ["b"], "b": ["c"], "c": ["a"]})), 1)

    def test_the_table_is_read(self):
        text = (
            "# x\n\n## Floors\n\n| directory | may include | |\n|---|---|---|\n| `low` | | all |\n"
            "| `high/own/` | `low`, `mid/own/` | x |\n\n## More\n"
        )
        self.assertEqual(floors.read_table(text), {"low": [], "high/own": ["low", "mid/own"]})


if __name__ == "__main__":
    unittest.main()
