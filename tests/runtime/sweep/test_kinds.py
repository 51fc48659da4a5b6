# SPDX-License-Identifier: LGPL-2.1-or-later
"""Kinds of designs, and expressions."""
import itertools
import time
import unittest

from support import Case

from sweep import fractions, points
from sweep.design_file import load
from sweep.expressions import ExpressionError, parse


class Kinds(Case):
    def rows(self, factors: str, design: str) -> list[dict[str, str]]:
        names = [part.split(":")[0].strip() for part in factors.split(";")]
        text = "program: ./app\narguments: '" + " ".join(f"{{{name}}}" for name in names) + "'\nfactors:\n"
        text += "".join(f"  {part.strip()}\n" for part in factors.split(";")) + f"design: {design}\norder: given\n"
        made = points.expand(load(self.design(text), self.umwelt))
        return [{name: level.text for name, level in point.levels.items()} for point in made]

    def test_full(self):
        rows = self.rows("a: [1, 2]; b: [x, y, z]", "{kind: full}")
        self.assertEqual(len({tuple(row.values()) for row in rows}), 6)

    def test_one_at_a_time(self):
        rows = self.rows("a: [1, 2, 3]; b: [x, y]", "{kind: one_at_a_time, base: {a: 2}}")
        self.assertEqual([row["a"] + row["b"] for row in rows], ["2x", "1x", "3x", "2y"])

    def test_latin_hypercube_has_each_slice_once(self):
        rows = self.rows("a: {from: 0, to: 10}; b: {from: 1, to: 1024, scale: log}",
                         "{kind: latin_hypercube, points: 10}")  # fmt: skip
        self.assertEqual(sorted(int(float(row["a"])) for row in rows), list(range(10)))
        self.assertEqual(len(rows), 10)

    def test_random_fills_up_behind_constraints(self):
        rows = self.rows("a: {from: 1, to: 9, whole: true}; b: [x, y]", "{kind: random, points: 40}")
        self.assertEqual(len(rows), 40)
        self.assertEqual({row["a"] for row in rows}, {str(value) for value in range(1, 10)})

    def test_list(self):
        self.write("points.csv", "b,a\nx,1\ny,2\n")
        for factors in ("a: {}; b: {}", "a: {from: 0, to: 2}; b: [x, y, z]"):
            self.assertEqual(self.rows(factors, "{kind: list, file: points.csv}"),
                             [{"a": "1", "b": "x"}, {"a": "2", "b": "y"}])  # fmt: skip

    def test_list_as_spreadsheets_write_it(self):
        self.write("points.csv", "\ufeffb, a\r\nx, 1e-7\r\ny, 2\r\n")
        self.assertEqual([row["a"] for row in self.rows("a: {}; b: {}", "{kind: list, file: points.csv}")],
                         ["1e-7", "2"])  # fmt: skip

    def test_list_with_values_that_are_none_of_the_factors(self):
        design = "{kind: list, file: points.csv}"
        self.write("points.csv", "b,a\nx,1\nw,3\n")
        self.fails(r"points\.csv:3: b: expected a level of the factor: x, y, got 'w'", self.rows,
                   "a: {}; b: [x, y]", design)  # fmt: skip
        self.fails(r"points\.csv:3: a: expected a number from 0 to 2", self.rows, "a: {from: 0, to: 2}; b: {}", design)
        self.write("points.csv", "b,a\nx,\n")
        self.fails(r"points\.csv:2: a: expected a value, got none", self.rows, "a: {}; b: {}", design)

    def test_list_with_an_unknown_column(self):
        self.write("points.csv", "b,aa\nx,1\n")
        self.fails("column 'aa': expected a factor", self.rows, "a: [0]; b: [z]", "{kind: list, file: points.csv}")

    def test_generators(self):
        rows = self.rows("a: [0, 1]; b: [0, 1]; c: [0, 1]; d: [0, 1]", "{kind: fractional, generators: ['d = a*b*c']}")
        self.assertEqual(len(rows), 8)
        for row in rows:
            self.assertEqual(sum(int(value) for value in row.values()) % 2, 0)

    def test_fraction_is_balanced(self):
        for factors, resolution, points_ in ((4, 4, 8), (7, 3, 8), (8, 4, 16), (5, 5, 16), (11, 5, 128), (15, 3, 16)):
            made = fractions.by_resolution(factors, resolution)
            rows = made.rows()
            self.assertEqual((len(rows), made.resolution), (points_, resolution))
            for one, other in itertools.combinations(range(factors), 2):
                self.assertEqual(sum(row[one] * row[other] for row in rows), 0)
            if resolution >= 4:  # main effects are clear of interactions of two
                for one, other, third in itertools.combinations(range(min(factors, 7)), 3):
                    self.assertEqual(sum(row[one] * row[other] * row[third] for row in rows), 0)

    def test_wrong_generator(self):
        self.fails("names of factors in generators", self.rows, "a: [0, 1]; b: [0, 1]; c: [0, 1]",
                   "{kind: fractional, generators: ['c = a*x']}")  # fmt: skip


class Expressions(unittest.TestCase):
    def test_values(self):
        for text, value in (("a * b <= 8", True), ("a ** 2 + 1", 5), ("a in [1, 2]", True), ("min(a, b)", 2),
                            ("'x' if a > b else 'y'", "y"), ("1 < a < b", True), ("log2(b) == 2", True)):  # fmt: skip
            self.assertEqual(parse(text, {"a": 0, "b": 0}).value({"a": 2, "b": 4}), value)

    def test_nothing_but_computing(self):
        for text in ("__import__('os')", "a.__class__", "open('x')", "[x for x in [1]]", "lambda: 1", "a[0]",
                     "(a := 1)",
                     "f'{a}'", "b''", "eval('1')", "min(*[1])", "int(a, base=3)", "{'a': 1}", "...", "a if", "None",
                     "exec", "a @ a", "a << 9"):  # fmt: skip
            with self.assertRaises(ExpressionError, msg=text):
                parse(text, {"a": 0})

    def test_ends_soon(self):
        began = time.process_time()
        for text in ("9 ** 9 ** 9", "10 ** 300 * 10 ** 10", "'a' * 99999999", "'%99999999d' % 1", "a ** a ** a ** a"):
            with self.assertRaises(ExpressionError, msg=text):
                parse(text, {"a": 0}).value({"a": 99})
        with self.assertRaises(ExpressionError):
            parse("(" * 500 + "1" + ")" * 499, {})
        with self.assertRaises(ExpressionError):
            parse("1 +" * 600 + "1", {})
        self.assertLess(time.process_time() - began, 1)

    def test_division_by_zero_is_told(self):
        with self.assertRaisesRegex(ExpressionError, "division by zero"):
            parse("1 / a", {"a": 0}).value({"a": 0})


if __name__ == "__main__":
    unittest.main()
