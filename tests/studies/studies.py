# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the studies share: runs of umwelt, and that their figures go into a CSV file, a plot and the part of a page
between two marks, with the command that made them. The same command makes the same bytes."""

import argparse
import csv
import dataclasses
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "bench"))
import common  # noqa: E402
import hpl_files  # noqa: E402
from common import Failure  # noqa: E402

HPL_KERNELS = ROOT / "runtime" / "kernels" / "files" / "hpl.yaml"
DAHU = ROOT / "platforms" / "dahu"
ON_DAHU = {"platform": str(DAHU / "dahu.xml"), "nic": f"@{DAHU / 'nic.conf'}", "node": f"@{DAHU / 'node.conf'}"}
BEGIN, END = "<!-- figures: from here to the other mark by the command below -->", "<!-- end of figures -->"
COLOURS = ("#0060ad", "#dd7711", "#559933", "#aa3377", "#888888", "#000000")


@dataclasses.dataclass
class Run:
    output: str
    report: dict
    cpu_seconds: float
    rate: float = None  # Gflop/s, of HPL

    @property
    def simulated(self):
        """Seconds, beginning and end of MPI included."""
        return self.report["simulated_ps"] * 1e-12


class Study:
    """The command line of a study, its runs, and where its figures go."""

    def __init__(self, name, description, programs):
        self.name = name
        self.parser = argparse.ArgumentParser(description=description)
        self.parser.add_argument("umwelt", metavar="UMWELT", type=pathlib.Path, help="build/release/bin/umwelt")
        for metavar, meaning in programs.items():
            self.parser.add_argument(metavar.lower(), metavar=metavar, type=pathlib.Path, help=meaning)
        self.programs = [metavar.lower() for metavar in programs]
        self.parser.add_argument(
            "--to", metavar="DIR", type=pathlib.Path, default=HERE, help="page and results go there; default: this tree"
        )
        self.parser.add_argument("--keep", metavar="FILE", type=pathlib.Path,
                                 help="finished runs are kept there, and taken from there if the study is begun again")

    def begin(self):
        self.options = self.parser.parse_args()
        common.need_gnuplot()
        for name in ("umwelt", *self.programs):
            path = getattr(self.options, name).resolve()
            if not path.exists():
                raise Failure(f"{path}: expected a program or its directory, got nothing. --help says what is needed")
            setattr(self.options, name, path)
        return self.options

    def command(self):
        """As it is to be given again: only what is not as by default, and foreign programs by what they are."""
        words = [f"tests/studies/{self.name}.py", "build/release/bin/umwelt"]
        for action in self.parser._actions:
            value = getattr(self.options, action.dest, None)
            if action.option_strings and action.dest not in ("help", "to", "keep") and value != action.default:
                words += [action.option_strings[0]] if value is True else [action.option_strings[0], text_of(value)]
            elif not action.option_strings and action.dest != "umwelt":
                words.append(action.metavar)
        return " ".join(words)

    def run(self, options, program, *arguments, prepare=None, cpu="none"):
        """One run in a directory of its own, where `prepare` may write files before."""
        words = ["run", "-q", "--cpu", cpu, *map(str, options), "--report", "report.json"]
        key = " ".join([*words[3:-2], pathlib.Path(program).name, *map(str, arguments)])
        file = self.options.keep if cpu == "none" else None  # others are meant to be made again
        kept = json.loads(file.read_text()) if file and file.exists() else {}
        if key not in kept:
            print(f"{self.name}: {key}", file=sys.stderr, flush=True)
            kept[key] = dataclasses.asdict(self.finished(words, program, arguments, prepare))
            if file:
                file.write_text(json.dumps(kept))
        run = Run(**kept[key])
        self.version = run.report["umwelt"]
        return run

    def finished(self, words, program, arguments, prepare):
        with tempfile.TemporaryDirectory(prefix="umwelt-study-") as name:
            directory = pathlib.Path(name)
            if prepare:
                prepare(directory)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run(
                [self.options.umwelt, *words, program, *map(str, arguments)],
                cwd=directory, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode != 0:
                raise Failure(f"umwelt {' '.join(words)} {program}: expected exit code 0, got {done.returncode}: "
                              + done.stderr[-2000:])
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            run = Run(done.stdout, json.loads((directory / "report.json").read_text()), cpu)
            if prepare:
                run.rate = hpl_files.rate(directory, done.stdout)
        return run

    def hpl(self, options, program, n, grid):
        """HPL with modelled kernels, and a matrix that takes no memory here."""
        p, q = grid
        kernels = ["--kernels", HPL_KERNELS, "--fold", "function=HPL_pdtest", "--workers", 0]
        run = self.run([*kernels, *options, "-np", p * q], program,
                       prepare=lambda directory: hpl_files.write(directory, hpl_files.text(n, p, q)))
        if run.rate is None:
            raise Failure(f"{program}: expected a line of HPL with its result, got: {run.output[-500:]}")
        return run

    def sweep(self, design, files):
        """Points of `umwelt sweep` as they are exported. `design`: what its file says, but for the program and what
        HPL needs; `files`: texts by name, beside it. --keep is a directory then."""
        with tempfile.TemporaryDirectory(prefix="umwelt-study-") as name:
            directory = pathlib.Path(self.options.keep or name).resolve()
            directory.mkdir(parents=True, exist_ok=True)
            for file, text in files.items():
                (directory / file).write_text(text)
            (directory / "design.yaml").write_text(yaml.safe_dump(design, sort_keys=False, width=200))
            begun = (directory / "design.sweep").exists()
            self.sweep_command(directory, *(["--resume", "design.sweep"] if begun else ["design.yaml"]))
            exported = self.sweep_command(directory, "export", "design.sweep")
        self.version = self.version_of()
        return list(csv.DictReader(exported.splitlines()))

    def sweep_command(self, directory, *words):
        where = []
        if words[0] != "export":
            by_slurm = getattr(self.options, "slurm", False)
            where = ["--slurm", "--wait"] if by_slurm else ["--jobs", str(os.cpu_count())]
        done = subprocess.run([self.options.umwelt, "sweep", *words, *where], cwd=directory, capture_output=True,
                              text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "1"})
        if done.returncode != 0:
            raise Failure(f"umwelt sweep {' '.join(words)}: expected exit code 0, got {done.returncode}: "
                          + (done.stdout + done.stderr)[-2000:])
        return done.stdout

    def version_of(self):
        done = subprocess.run([self.options.umwelt, "--version"], capture_output=True, text=True, check=True)
        return done.stdout.split(maxsplit=1)[1].splitlines()[0]

    def hpl_design(self, kernels, n, p, q, algorithm=None):
        """Of HPL with modelled kernels and a matrix that takes no memory: braces name factors."""
        text = hpl_files.text(n, p, q, algorithm)
        design = {
            "program": str(self.options.xhpl),
            "options": {"cpu": "none", "kernels": [str(file) for file in kernels], "fold": "function=HPL_pdtest",
                        "workers": 0, "np": "{ranks}"},
            "templates": {"HPL.dat": "HPL.dat.in", "hpccinf.txt": "HPL.dat.in"},
            "metrics": {"gflops": hpl_files.RATE},
            "order": "random",
        }
        return design, {"HPL.dat.in": text}

    def write(self, rows, script, tables):
        """`rows`: dictionaries, for the CSV file. `script`: gnuplot's, without its terminal. `tables`: Markdown."""
        results = self.options.to / "results"
        results.mkdir(parents=True, exist_ok=True)
        with (results / f"{self.name}.csv").open("w") as out:
            writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        (results / f"{self.name}.svg").write_text(common.svg(script, self.name))
        page = f"{self.name.upper()}.md"
        text = (HERE / page).read_text()
        if text.count(BEGIN) != 1 or text.count(END) != 1:
            raise Failure(f"{HERE / page}: expected the two marks once each, got others. They are in studies.py")
        before, rest = text.split(BEGIN)
        figures = f"""
    {self.command()}

Umwelt {self.version}, `--cpu none`: the same in every run.
All figures as [CSV](results/{self.name}.csv).

![the figures below](results/{self.name}.svg)

{tables}
"""
        (self.options.to / page).write_text(f"{before}{BEGIN}\n{figures.strip(chr(10))}\n\n{END}{rest.split(END)[1]}")


def text_of(value):
    """An option's value as it was given."""
    if isinstance(value, tuple):  # a grid
        return "x".join(map(text_of, value))
    if isinstance(value, list):
        return ",".join(map(text_of, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def numbers(text):
    return [float(word) if "." in word else int(word) for word in text.split(",")]


def grid(text):
    p, q = text.split("x")
    return int(p), int(q)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


@dataclasses.dataclass
class Panel:
    """Lines over each other; `settings` are gnuplot's own."""

    title: str
    x: str
    y: str
    series: dict  # name: [(x, y)]
    settings: str = ""
    style: str = "linespoints pt 7 ps 0.4 lw 1.5"


def plot(panels, width=420, height=360):
    """gnuplot's script of panels side by side."""
    blocks, plots = [], []
    for number, panel in enumerate(panels):
        lines = []
        for which, (name, points) in enumerate(panel.series.items()):
            block = f"$p{number}s{which}"
            blocks.append(f"{block} << EOD\n" + "".join(f"{x} {y:.6g}\n" for x, y in points) + "EOD\n")
            colour = COLOURS[which % len(COLOURS)]
            lines.append(f"{block} using 1:2 with {panel.style} lc rgb '{colour}' title '{name}'")
        plots.append(f"reset\nset grid lc rgb '#dddddd' lw 0.5\nset title '{panel.title}' noenhanced\n"
                     f"set xlabel '{panel.x}' noenhanced\nset ylabel '{panel.y}' noenhanced\nset key below noenhanced\n"
                     f"{panel.settings}\nplot {', '.join(lines)}\n")
    size = f"{width * len(panels)},{height}"
    return (f"{''.join(blocks)}set terminal svg size {size} font 'sans-serif,12' name 'figure' background 'white'\n"
            f"set encoding utf8\nset multiplot layout 1,{len(panels)}\n{''.join(plots)}unset multiplot\n")


def main(study):
    """Runs the function, and says in one line what was missing or wrong."""
    common.clean_up_on_sigterm()
    try:
        study()
    except (Failure, OSError) as failure:
        print(f"{pathlib.Path(sys.argv[0]).name}: {failure}", file=sys.stderr)
        sys.exit(2)
