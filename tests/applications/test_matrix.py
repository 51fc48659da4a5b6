#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of the matrix itself: it must not call different what is equal, and above all not the other way round."""
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from matrix import catalogue, measure, page, results, runner  # noqa: E402


def program(name, **keys):
    return catalogue.Program(
        **{"name": name, "title": "t", "packages": [], "command": ["b"], "results": "true", "file": name} | keys
    )


class Comparing(unittest.TestCase):
    def test_equal(self):
        self.assertEqual(results.compare("a 1\n", "a 1\n", 0), results.Verdict(True, "equal"))

    def test_nothing_is_not_equal(self):
        self.assertFalse(results.compare("", "", 0).good)
        self.assertFalse(results.compare(" \n", " \n", 0).good)

    def test_another_number(self):
        self.assertFalse(results.compare("energy 1.0\n", "energy 1.0000001\n", 0).good)
        self.assertFalse(results.compare("energy 1.0\n", "energy 1.0000001\n", 1e-9).good)

    def test_rounding_within_what_is_allowed(self):
        verdict = results.compare("energy -1.000000000\n", "energy -1.000000001\n", 1e-8)
        self.assertTrue(verdict.good)
        self.assertEqual(verdict.text, "equal to 1e-09")

    def test_another_word_is_no_rounding(self):
        self.assertFalse(results.compare("PASSED 1\n", "FAILED 1\n", 1).good)

    def test_a_line_too_few(self):
        verdict = results.compare("1\n2\n", "1\n", 1)
        self.assertFalse(verdict.good)
        self.assertIn("expected 2 lines of results, got 1", verdict.details)

    def test_exponents_of_fortran(self):
        self.assertTrue(results.compare("1.5D-03\n", "1.5D-03\n", 0).good)
        self.assertTrue(results.compare("1.50000000000D-03\n", "1.50000000001D-03\n", 1e-9).good)


class Descriptions(unittest.TestCase):
    def test_all_are_valid(self):
        programs = catalogue.read(HERE / "programs")
        here = [program for program in programs.values() if not program.from_environment]
        self.assertGreaterEqual(len(here), 40)
        self.assertGreaterEqual(sum(program.mpi == "MPICH" for program in here), 5)
        self.assertGreaterEqual(sum(program.threads > 1 for program in here), 5)
        self.assertGreaterEqual(sum(program.per_node == 4 for program in here), 5)

    def test_what_they_name_is_there(self):
        for described in catalogue.read(HERE / "programs").values():
            for text in (described.prepare, *described.command):
                for word in text.replace("'", " ").split():
                    if word.startswith("{here}/"):
                        self.assertTrue(
                            (HERE / "programs" / word[len("{here}/") :]).exists(), f"{described.name}: {word}"
                        )

    def refused(self, text):
        with tempfile.TemporaryDirectory() as directory:
            pathlib.Path(directory, "x.toml").write_text(text)
            with self.assertRaises(catalogue.Unusable) as refusal:
                catalogue.read(pathlib.Path(directory))
            return str(refusal.exception)

    def test_unknown_key(self):
        self.assertIn("command_", self.refused('title="t"\npackages=[]\ncommand_=["x"]\nresults="true"'))

    def test_tolerance_needs_a_reason(self):
        self.assertIn("why", self.refused('title="t"\npackages=[]\ncommand=["x"]\nresults="true"\ntolerance=1e-3'))

    def test_nearest_name(self):
        with self.assertRaises(catalogue.Unusable) as refusal:
            catalogue.choose({name: program(name) for name in ("lammps", "meep")}, ["lamps"])
        self.assertIn("nearest: lammps", str(refusal.exception))

    def test_one_description_of_several(self):
        made = list(catalogue.each("x", {"title": "{variant}", "variants": ["a", "b"], "ranks": [1, 2]}))
        self.assertEqual(
            [(keys["name"], keys["title"], keys["ranks"]) for keys in made],
            [("x_a_1", "a", 1), ("x_a_2", "a", 2), ("x_b_1", "b", 1), ("x_b_2", "b", 2)],
        )
        programs = {name: program(name, file="x") for name in ("x_a", "x_b")} | {"y": program("y")}
        self.assertEqual([each.name for each in catalogue.choose(programs, ["x"])], ["x_a", "x_b"])
        self.assertEqual([each.name for each in catalogue.choose(programs, ["x_b", "y"])], ["x_b", "y"])

    def test_two_of_a_name(self):
        with tempfile.TemporaryDirectory() as directory:
            for name, more in (("x", 'variants=["y"]'), ("x_y", "")):
                pathlib.Path(directory, f"{name}.toml").write_text(
                    f'title="t"\npackages=[]\ncommand=["x"]\nresults="true"\n{more}'
                )
            with self.assertRaises(catalogue.Unusable):
                catalogue.read(pathlib.Path(directory))

    def test_directory_needs_what_is_in_it(self):
        self.assertIn(
            "needs", self.refused('title="t"\npackages=[]\ncommand=["x"]\nresults="true"\nfrom_environment="V"')
        )


class FromOutside(unittest.TestCase):
    def setUp(self):
        self.program = program(
            "b", from_environment="UMWELT_TEST_OF_MATRIX", needs="b.x", home="home", command=["{directory}/b.x"]
        )

    def in_directory(self, directory):
        with unittest.mock.patch.dict("os.environ", {"UMWELT_TEST_OF_MATRIX": directory}):
            return catalogue.located(self.program, "here")

    def test_without_the_variable(self):
        with self.assertRaises(catalogue.NotBuilt) as reason:
            self.in_directory("")
        self.assertIn(
            "UMWELT_TEST_OF_MATRIX: expected a directory that has b.x, got nothing. Next step: ", str(reason.exception)
        )

    def test_with_a_directory(self):
        with tempfile.TemporaryDirectory() as directory:
            with self.assertRaises(catalogue.Unusable):
                self.in_directory(directory)
            pathlib.Path(directory, "b.x").touch()
            self.assertEqual(self.in_directory(directory).command, [f"{directory}/b.x"])


class Running(unittest.TestCase):
    def test_time_limit(self):
        with tempfile.TemporaryDirectory() as directory:
            run = measure.run(["sleep", "600"], directory, {"PATH": "/usr/bin:/bin"}, "stdout", 0)
            self.assertTrue(run.timed_out)

    def test_output_and_code(self):
        with tempfile.TemporaryDirectory() as directory:
            run = measure.run(
                ["sh", "-c", "echo out; echo err >&2; exit 3"], directory, {"PATH": "/usr/bin:/bin"}, "o", 60
            )
            self.assertEqual((run.code, run.timed_out), (3, False))
            self.assertEqual(pathlib.Path(directory, "o.txt").read_text(), "out\n")
            self.assertEqual(pathlib.Path(directory, "o.err").read_text(), "err\n")

    def test_no_umwelt(self):
        with self.assertRaises(runner.Unusable):
            runner.Runner("/nowhere/umwelt", [], False, None)


class Page(unittest.TestCase):
    def test_rows_of_others_stay(self):
        row = page.row(runner.Outcome(program("b"), True, "equal"))
        with tempfile.TemporaryDirectory() as directory:
            path = f"{directory}/page.md"
            page.write(path, {"a": "| a | x | **differs** |", "b": row})
            rows = page.read(path)
            self.assertEqual(set(rows), {"a", "b"})
            self.assertEqual(rows["b"], row)
            self.assertIn("1 of 2 compute", pathlib.Path(path).read_text())

    def test_skipped(self):
        outcome = runner.Outcome(program("b"), False, "skipped without `B`", skipped=True)
        rows = {}
        page.put(rows, outcome)
        with tempfile.TemporaryDirectory() as directory:
            page.write(f"{directory}/page.md", {"a": "| a | x | equal |"} | rows)
            self.assertIn("1 of 1 compute", pathlib.Path(directory, "page.md").read_text())
        rows = {"b": "| b | of the run before |"}
        page.put(rows, outcome)
        self.assertEqual(rows, {"b": "| b | of the run before |"})

    def test_another_file_is_left_alone(self):
        with tempfile.NamedTemporaryFile("w", suffix=".md") as other:
            other.write("# Notes\n")
            other.flush()
            with self.assertRaises(page.Unusable):
                page.read(other.name)


if __name__ == "__main__":
    unittest.main()
