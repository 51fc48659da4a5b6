# SPDX-License-Identifier: LGPL-2.1-or-later
"""Designs: what they may say, and what is told of those that are wrong, before anything runs."""
import unittest

from support import DESIGN, Case

from sweep import points, sweeps
from sweep.design_file import load
from sweep.quantities import quantity, seconds, size


class Errors(Case):
    def wrong(self, text: str, pattern: str) -> None:
        self.fails(pattern, sweeps.examine, self.design(text), self.umwelt)

    def with_factor(self, line: str) -> str:
        return DESIGN + f"  {line}\n"

    def test_yaml_is_told_with_line_and_column(self):
        self.wrong("program: ./app\nfactors: [1, 2\n", r"design\.yaml:3:1: expected YAML, got")

    def test_unknown_key_names_the_nearest(self):
        self.wrong("programm: ./app\n", r"design\.yaml:1:1: key 'programm': expected a known key.*nearest.*'program'")

    def test_unknown_option_names_the_nearest(self):
        self.wrong(DESIGN.replace("cpu:", "cppu:"), r":3:32: options\.cppu: expected an option.*nearest.*'cpu'")

    def test_a_key_twice(self):
        self.wrong(DESIGN + "program: b\n", "key 'program': expected each key once")

    def test_no_program(self):
        self.wrong("factors: {a: [1]}\n", "expected 'program:', got none")

    def test_program_that_is_not_there(self):
        self.wrong(DESIGN.replace("./app", "./gone"), r":1:10: program: expected a program, in PATH or from where the")

    def test_factor_of_an_unknown_option(self):
        self.wrong(self.with_factor("x: {option: mcaa, levels: [1, 2]}"), r":7:15: factors\.x\.option: .*'mca'")

    def test_factor_of_an_option_that_a_sweep_decides(self):
        self.wrong(self.with_factor("x: {option: report, levels: [a, b]}"), "each point has a report of its own")

    def test_unknown_parameter_of_the_nic(self):
        self.wrong(self.with_factor("x: {nic: pci_latancy, levels: [1ns, 2ns]}"), "nearest known one is 'pci_latency'")

    def test_unknown_parameter_of_the_platform(self):
        self.wrong(self.with_factor("x: {platform: spine, levels: [1, 2]}"), "nearest known one is 'spines'")

    def test_unknown_fixed_parameter_of_the_nic(self):
        self.wrong(DESIGN.replace("cpu: none", "nic: {pci_latancy: 1ns}"),
                   r"(?s):3:45: options\.nic\.pci_latancy: .*nearest known one is 'pci_latency'")  # fmt: skip

    def test_places_of_what_is_wrong_behind_reading(self):
        self.wrong(DESIGN.replace("{size}", "{sise}"), r"design\.yaml:2:12: arguments: .*nearest known one is 'size'")
        self.wrong(DESIGN + 'constraints: ["1 / (ranks - 2) > 0"]\n', r"design\.yaml:7:15: constraints\[0\]")
        self.wrong(DESIGN + 'constraints: ["ranks > 99"]\n', r"design\.yaml:7:14: constraints: expected some points")

    def test_two_things_of_one_name(self):
        self.write("in", "")
        (self.directory / "d").mkdir()
        self.write("d/in", "")
        self.wrong(DESIGN + "inputs: [in, d/in]\n", r":7:14: inputs\[1\]: expected another name.*got 'in'")
        self.wrong(DESIGN + "inputs: [d/in]\ntemplates: {in: in}\n", r"inputs\[0\]: expected another name")
        self.wrong(DESIGN + "metrics: {simulated_s: '(.)'}\n", "Umwelt's own metric")
        self.wrong(DESIGN + "metrics: {ranks: '(.)'}\n", "'ranks', which is a factor")
        self.wrong(DESIGN + "metrics: {state: '(.)'}\n", "'state', which is a column of results")
        self.wrong(self.with_factor("host: [a, b]"), "expected a name of its own, got 'host'")

    def test_one_amount_in_two_units(self):
        self.wrong(self.with_factor("x: {nic: pci_latency, levels: [1us, 1000ns]}"), "got '1000ns', which is '1us'")

    def test_factor_that_goes_nowhere(self):
        self.wrong(self.with_factor("x: [1, 2]"), r":7:6: factors\.x: expected a factor that changes something")

    def test_factor_with_one_level(self):
        self.wrong(DESIGN.replace("[2, 4]", "[2]"), "factors.ranks: expected a factor that differs between points")

    def test_level_twice(self):
        self.wrong(DESIGN.replace("[2, 4]", "[2, 2]"), r"expected each level once, got '2' again")

    def test_factor_whose_levels_come_to_the_same(self):
        text = DESIGN.replace('"{size}"', "8").replace("size: [8, 16, 32]", 'y: {value: "x % 2"}\n  x: [1, 3]')
        self.wrong(text.replace("8\n", '"{y}"\n'), "expected a factor that")

    def test_unknown_name_in_braces(self):
        self.wrong(DESIGN.replace("{size}", "{sise}"), "expected the name of a factor in braces, got '{sise}'.*'size'")

    def test_one_option_from_two_places(self):
        self.wrong(self.with_factor("x: {option: n, levels: [1, 2]}"), "one value for option np, got options.np and")

    def test_more_than_a_million_points(self):
        many = ", ".join(str(value) for value in range(101))
        text = "program: ./app\narguments: '{a}{b}{c}'\nfactors: {" + ", ".join(f"{n}: [{many}]" for n in "abc") + "}\n"
        self.wrong(text, "expected at most 1,000,000 points, got 1,030,301")

    def test_constraint_with_an_unknown_factor(self):
        self.wrong(DESIGN + 'constraints: ["rank < 3"]\n', r"constraints\[0\]: .*unknown factor 'rank'.*'ranks'")

    def test_constraints_that_nothing_fulfils(self):
        self.wrong(DESIGN + 'constraints: ["ranks > 4"]\n', "points that fulfil them, got 0 of 6")

    def test_range_in_a_full_design(self):
        self.wrong(DESIGN.replace("[2, 4]", "{from: 2, to: 4}"), "expected levels, for the design is full")

    def test_fractional_with_three_levels(self):
        self.wrong(DESIGN + "design: {kind: fractional, resolution: 3}\n", "expected two levels.*got 3")

    def test_unknown_kind(self):
        self.wrong(DESIGN + "design: {kind: fractoinal}\n", "nearest known one is 'fractional'")

    def test_metric_without_a_group(self):
        self.wrong(DESIGN + "metrics: {x: abc}\n", "regular expression with one group")

    def test_template_outside(self):
        self.wrong(DESIGN + "templates: {../x: app}\n", "expected a path in the point's directory")

    def test_newer_format(self):
        self.wrong(DESIGN + "sweep: 2\n", "expected 1, the format this umwelt knows")


class Commands(Case):
    def commands(self, text: str) -> list[list[str]]:
        design, made, commands = sweeps.examine(self.design(text), self.umwelt)
        return [commands.of(point).arguments for point in sorted(made, key=lambda point: point.number)]

    def test_levels_go_into_options_and_arguments_as_written(self):
        first = self.commands(DESIGN.replace("8, 16", "1e-6, 0x10"))[0]
        self.assertEqual(first, ["-np", "2", "--cpu", "none", "--seed", "0", f"{self.directory}/app", "1e-6"])

    def test_targets(self):
        text = """\
program: ./app
options: {mca: {pml: cm}, oversubscribe: true}
environment: {A: "{e}"}
factors:
  p: {platform: leaf, levels: [4, 8]}
  n: {nic: issue, levels: [1ns, 2ns]}
  o: {option: mpi-calls, levels: [true, false]}
  e: {environment: B, levels: [x, "y"]}
"""
        first, *_, last = self.commands(text)
        common = ["--mca", "pml", "cm", "--oversubscribe"]
        self.assertEqual(first, [*common, "--mpi-calls", "--platform", "bxi:leaf=4", "--nic", "issue=1ns", "--seed",
                                 "0",
                                 "-x", "A=x", "-x", "B=x", f"{self.directory}/app"])  # fmt: skip
        self.assertEqual(last, [*common, "--platform", "bxi:leaf=8", "--nic", "issue=2ns", "--seed", "0",
                                "-x", "A=y", "-x", "B=y", f"{self.directory}/app"])  # fmt: skip

    def test_files_of_options_lie_beside_the_design(self):
        self.write("p.xml", "")
        self.write("n.conf", "")
        options = "np: \"{ranks}\", platform: p.xml, nic: '@n.conf'"
        design = load(self.design(DESIGN.replace('np: "{ranks}", cpu: none', options)), self.umwelt)
        arguments = points.Commands(design, self.umwelt).of(points.expand(design)[0]).arguments
        self.assertIn(str(self.directory / "p.xml"), arguments)
        self.assertIn(f"@{self.directory / 'n.conf'}", arguments)

    def test_values_that_follow(self):
        made = self.commands(DESIGN.replace('"{size}"', '"{size} {all}"') + '  all: {value: "ranks * size"}\n')
        self.assertEqual([words[-1] for words in made], ["16", "32", "64", "32", "64", "128"])

    def test_replicates_have_seeds_of_their_own(self):
        made = self.commands(DESIGN + "replicates: 2\nseed: 7\n")
        self.assertEqual([words[words.index("--seed") + 1] for words in made[:4]], ["7", "8", "7", "8"])

    def test_constraints(self):
        self.assertEqual(len(self.commands(DESIGN + 'constraints: ["ranks * size <= 64"]\n')), 5)

    def test_order_is_random_and_the_same_for_a_seed(self):
        def order(text):
            return [point.number for point in points.expand(load(self.design(text), self.umwelt))]

        text = DESIGN + "replicates: 5\n"
        self.assertEqual(order(text), order(text))
        self.assertNotEqual(order(text), sorted(order(text)))
        self.assertNotEqual(order(text), order(text + "seed: 1\n"))
        self.assertEqual(order(text + "order: given\n"), list(range(30)))


class Quantities(unittest.TestCase):
    def test_units(self):
        for text, value in (("100ns", 1e-7), ("64KiB", 65536), ("12.5GB/s", 1.25e10), ("8", 8), ("1e-6", 1e-6)):
            self.assertAlmostEqual(quantity(text), value, delta=1e-9 * value)
        self.assertIsNone(quantity("fat"))
        self.assertEqual(seconds("1:30:00"), 5400)
        self.assertEqual(seconds("5min"), 300)
        self.assertEqual(size("2GiB"), 2 << 30)


if __name__ == "__main__":
    unittest.main()
