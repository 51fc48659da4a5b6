# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line of `umwelt sweep`."""
from __future__ import annotations

import argparse
import os
import pathlib
import sys
from collections.abc import Callable

from . import errors
from .errors import SweepError
from .known import Umwelt
from .signals import Stopped, raise_signals
from .store import Store, lock

EXAMPLES = """examples:
  umwelt sweep design.yaml --dry-run       how many points, how long, how much memory
  umwelt sweep design.yaml --jobs 2        run them here; results go to design.sweep/results.db
  umwelt sweep design.yaml --slurm         run them by Slurm
  umwelt sweep --resume design.sweep       go on after any interruption: exactly what is missing
  umwelt sweep status design.sweep         how far it is (--follow: until it is done)
  umwelt sweep export design.sweep         a table (CSV)
  umwelt sweep plot design.sweep           figures, their data, a page
  umwelt sweep check old.db new.db         whether anything changed (exit code 1)
  umwelt sweep crate design.sweep          an RO-Crate: what one needs to repeat it

exit codes: 0 all is there; 1 check found changes; 3 points are missing or failed; 121 wrong use; 125 it failed itself
"""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> None:  # type: ignore[override]
        raise SweepError(self.prog, "its options (--help tells them)", message)


def _parser(name: str, summary: str) -> Parser:
    return Parser(
        prog=f"umwelt sweep {name}".strip(),
        description=summary,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def _sweep(umwelt: Umwelt, words: list[str]) -> int:
    parser = _parser("", "Runs `umwelt run` for every point of a design (YAML), none lost, and gathers what they tell.")
    parser.epilog = EXAMPLES
    parser.add_argument("design", nargs="?", help="design (YAML); with --resume also the directory")
    parser.add_argument("-o", "--output", metavar="DIR", help="directory of the sweep; default DESIGN.sweep")
    parser.add_argument(
        "-j", "--jobs", type=int, metavar="N", help="points at the same time; default: the design's, or 1"
    )
    parser.add_argument("--slurm", action="store_true", help="run the points by Slurm")
    parser.add_argument("--wait", action="store_true", help="with --slurm: until all of it is gathered")
    parser.add_argument("--resume", action="store_true", help="go on with what is missing")
    parser.add_argument("--again", action="store_true", help="with --resume: also those that were given up")
    parser.add_argument("--dry-run", action="store_true", help="tell what would run; only a first run of each kind is")
    parser.add_argument("--no-first-runs", action="store_true", help="with --dry-run: not even those")
    given = parser.parse_args(words)
    if given.design is None:
        raise SweepError("what to run", "a design", "nothing", "umwelt sweep --help has examples")
    if given.jobs is not None and given.jobs < 1:
        raise SweepError("--jobs", "a number of points at the same time, 1 or more", str(given.jobs))
    if given.again and not given.resume:
        raise SweepError("--again", "--resume with it", "none")
    if given.slurm and given.jobs is not None:
        raise SweepError(
            "--jobs",
            "it without --slurm",
            "both",
            "say in the design how many points a task runs at once (`run: {jobs: }`, `slurm: {cpus: }`), or how many "
            "tasks there are at once (`slurm: {at_once: }`)",
        )
    if given.wait and (given.dry_run or not given.slurm):
        raise SweepError("--wait", "--slurm with it, and no --dry-run", "another", "without --slurm it always waits")
    if given.no_first_runs and not given.dry_run:
        raise SweepError("--no-first-runs", "--dry-run with it", "none")
    from . import estimate, slurm, sweeps

    estimate.tidy()
    design = pathlib.Path(given.design)
    if given.dry_run and not given.resume:
        return estimate.dry_run(_a_design(design), umwelt, given.jobs, not given.no_first_runs, given.slurm)
    store = Store(
        pathlib.Path(given.output)
        if given.output
        else design
        if given.resume and design.is_dir()
        else sweeps.directory_of(design)
    )
    if given.resume and not store.plan.exists():
        raise SweepError(str(store.path), "the directory of a sweep", "no plan.db in it", "leave out --resume")
    if not given.resume and store.plan.exists() and design.is_file():
        raise store.taken()
    examined = None if given.resume else sweeps.examine(_a_design(design), umwelt)  # before there is any directory
    if given.resume and not design.exists():
        raise SweepError(given.design, "a design (YAML)", "no such file", f"umwelt sweep --resume {store.path}")
    settings = sweeps.settings(store, design) if given.resume and design.is_file() else None
    if given.dry_run:
        if settings:
            store.settle(settings, keep=False)
        return estimate.dry_resume(store, umwelt, given.jobs, not given.no_first_runs, given.slurm, given.again)
    with lock(store.path):
        if examined is not None:
            sweeps.begin(examined, store, umwelt)
        slurm.check_idle(store)
        if settings and store.settle(settings, keep=True):
            print(f"{store.path}: `run:` and `slurm:` are those of {design} from now on")
        if given.again:
            store.forgive()
        if given.slurm:
            code = slurm.start(store, umwelt)
        else:
            return sweeps.run_here(store, umwelt, given.jobs)
    return slurm.wait(store) if given.wait and code == errors.OK else code


def _a_design(path: pathlib.Path) -> pathlib.Path:
    if not path.is_file():
        raise SweepError(
            str(path),
            "a design (YAML)",
            "no such file" if not path.exists() else "a directory",
            f"umwelt sweep --resume {path}" if (path / "plan.db").exists() else "",
        )
    return path


def _status(umwelt: Umwelt, words: list[str]) -> int:
    parser = _parser("status", "Tells how far a sweep is.")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--follow", action="store_true", help="until it is done")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(words)
    from .status import show

    return show(Store(given.directory), given.follow, given.json)


def _gather(umwelt: Umwelt, words: list[str]) -> int:
    parser = _parser("gather", "Writes results.db from what is there of the points, also while they run.")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="FILE")
    given = parser.parse_args(words)
    from .gather import gather
    from .sweeps import outcome, tell

    store = Store(given.directory)
    states = gather(store, given.output)
    tell(store, states)
    return outcome(states)


def _export(umwelt: Umwelt, words: list[str]) -> int:
    parser = _parser("export", "Writes results as CSV: a row for each point, or a table of the database.")
    parser.add_argument("results", type=pathlib.Path, help="results.db or the directory of a sweep")
    parser.add_argument(
        "--table", default="results", help="results (default), functions, pairs, links, failures, points"
    )
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="FILE", help="default: standard output")
    given = parser.parse_args(words)
    from .export import export

    return export(given.results, given.table, given.output)


def _plot(umwelt: Umwelt, words: list[str]) -> int:
    parser = _parser("plot", "Figures (SVG), the data behind them (CSV), and a page with all of them.")
    parser.add_argument("results", type=pathlib.Path, help="results.db or the directory of a sweep")
    parser.add_argument(
        "--metric", action="append", metavar="NAME", help="default: simulated_s and those of the design"
    )
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="DIR", help="default: plots, beside the results")
    parser.add_argument("--confidence", type=float, default=0.95)
    parser.add_argument("--png", action="store_true", help="PNG instead of SVG")
    given = parser.parse_args(words)
    if not 0 < given.confidence < 1:
        raise SweepError("--confidence", "a share between 0 and 1", str(given.confidence))
    _small_matrices()
    from .page import write

    return write(given.results, given.metric, given.output, given.confidence, "png" if given.png else "svg")


def _small_matrices() -> None:
    """NumPy's threads would only spin. Not where runs are started, whose programs have this environment, too."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _check(umwelt: Umwelt, words: list[str]) -> int:
    parser = _parser("check", "Tells whether results changed, and by how much; exit code 1 if they did.")
    parser.add_argument("baseline", type=pathlib.Path)
    parser.add_argument("new", type=pathlib.Path)
    parser.add_argument(
        "--metric", action="append", metavar="NAME", help="default: simulated_s and those of the design"
    )
    parser.add_argument("--level", type=float, default=0.05, help="share of false alarms; default 0.05")
    parser.add_argument(
        "--least", type=float, default=0.01, metavar="SHARE", help="changes smaller than this are none; default 0.01"
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args(words)
    _small_matrices()
    from .check import check

    return check(given.baseline, given.new, given.metric, given.level, given.least, given.json)


def _crate(umwelt: Umwelt, words: list[str]) -> int:
    parser = _parser("crate", "Writes an RO-Crate (profile Process Run Crate): what one needs to repeat the sweep.")
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="DIR", help="default: crate, in the sweep's")
    given = parser.parse_args(words)
    from .crate import write

    return write(Store(given.directory), given.output)


def _schema(umwelt: Umwelt, words: list[str]) -> int:
    _parser("schema", "Shows the tables of results.db.").parse_args(words)
    from .schema import TABLES, VERSION

    print(f"-- version {VERSION} (PRAGMA user_version){TABLES}", end="")
    return errors.OK


def _task(umwelt: Umwelt, words: list[str]) -> int:
    from .slurm import task

    return task(Store(pathlib.Path(words[0])), umwelt, words[1])


def _collect(umwelt: Umwelt, words: list[str]) -> int:
    from .slurm import collect

    return collect(Store(pathlib.Path(words[0])), umwelt, words[1])


COMMANDS: dict[str, Callable[[Umwelt, list[str]], int]] = {
    "status": _status,
    "gather": _gather,
    "export": _export,
    "plot": _plot,
    "check": _check,
    "crate": _crate,
    "schema": _schema,
    "_task": _task,
    "_collect": _collect,
}


def main(arguments: list[str]) -> int:
    """`arguments`: the path of the command umwelt, then what follows `umwelt sweep`."""
    if not arguments:
        print("umwelt-sweep: expected to be started by `umwelt sweep`", file=sys.stderr)
        return errors.USAGE
    raise_signals()
    umwelt, words = Umwelt(arguments[0]), arguments[1:]
    command = COMMANDS.get(words[0]) if words else None
    try:
        code = command(umwelt, words[1:]) if command else _sweep(umwelt, words)
        sys.stdout.flush()
        return code
    except SweepError as error:
        print(f"umwelt sweep: {error}", file=sys.stderr)
        return error.code
    except ModuleNotFoundError as error:
        package = {"yaml": "python3-yaml"}.get(error.name or "", f"python3-{(error.name or '').split('.')[0]}")
        print(
            f"umwelt sweep: expected the Python module {error.name}, got none. Next step: apt-get install {package}",
            file=sys.stderr,
        )
        return errors.USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + 13
    except OSError as error:
        what = f"{error.filename}: " if error.filename else ""
        print(
            f"umwelt sweep: {what}{error.strerror or error}. Next step: umwelt sweep --resume goes on where it was",
            file=sys.stderr,
        )
        return errors.FAILURE
    except Stopped as stopped:
        print(f"umwelt sweep: stopped by {stopped}", file=sys.stderr)
        return 128 + stopped.number
