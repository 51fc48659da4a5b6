# SPDX-License-Identifier: LGPL-2.1-or-later
"""Descriptions of programs: programs/NAME.toml, keys as in Program.

With a list as `ranks`, or with `variants`, whose words stand for {variant} in the other keys, one description makes
several programs:
NAME_WORD and NAME_RANKS.
"""
import dataclasses
import difflib
import itertools
import os
import pathlib
import tomllib
from collections.abc import Iterator


class Unusable(Exception):
    pass


class NotBuilt(Exception):
    """The program is none of the distribution's, and this machine has none of its own."""


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    title: str  # what it computes, on what input
    packages: list[str]  # of the distribution
    command: list[str]  # what mpirun and umwelt run start; {here}: directory of the descriptions
    results: str  # shell: prints what the program computed; its output is in stdout.txt
    file: str = ""  # name of the description
    mpi: str = "Open MPI"  # or MPICH, or "sockets": a program that finds its peers by itself
    ranks: int = 4
    per_node: int = 1  # ranks on a simulated node (-N)
    threads: int = 1  # of a rank: OMP_NUM_THREADS, --cpus-per-rank
    prepare: str = ""  # shell, once: inputs, small programs built on a library of the distribution
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    options: list[str] = dataclasses.field(default_factory=list)  # for umwelt run
    tolerance: float = 0.0  # relative difference of numbers that counts as rounding, for the reason in `why`
    why: str = ""
    seconds: int = 300  # a run that takes longer has failed
    from_environment: str = ""  # variable with the directory of a program from outside of the distribution: {directory}
    needs: str = ""  # what must be in that directory
    home: str = ""  # where the program is from


MPI = ("Open MPI", "MPICH", "sockets")


def read(directory: pathlib.Path) -> dict[str, Program]:
    programs = {}
    for path in sorted(directory.glob("*.toml")):
        try:
            for keys in each(path.stem, tomllib.loads(path.read_text())):
                program = Program(**keys)
                check(path, program)
                if program.name in programs:
                    raise Unusable(
                        f"{path}: expected a name of its own, got {program.name}, which "
                        f"{programs[program.name].file}.toml makes, too"
                    )
                programs[program.name] = program
        except (tomllib.TOMLDecodeError, TypeError) as error:
            raise Unusable(f"{path}: {error}") from None
    return dict(sorted(programs.items()))


def each(name: str, keys: dict) -> Iterator[dict]:
    """The keys of every program that a description makes."""
    variants, ranks = keys.pop("variants", [""]), keys.pop("ranks", Program.ranks)
    several = isinstance(ranks, list)
    for variant, count in itertools.product(variants, ranks if several else [ranks]):
        words = [name, *([variant] if variant else []), *([str(count)] if several else [])]
        yield {"name": "_".join(words), "file": name, "ranks": count, **filled(keys, "{variant}", variant)}


def filled(value, name: str, by: str):
    """The value with the name replaced in all texts of it."""
    if isinstance(value, str):
        return value.replace(name, by)
    if isinstance(value, list):
        return [filled(part, name, by) for part in value]
    if isinstance(value, dict):
        return {key: filled(part, name, by) for key, part in value.items()}
    return value


def check(path: pathlib.Path, program: Program) -> None:
    if program.mpi not in MPI:
        raise Unusable(f"{path}: mpi: expected one of {', '.join(MPI)}, got {program.mpi!r}")
    if not isinstance(program.command, list) or not program.command:
        raise Unusable(f"{path}: command: expected a list of words, got {program.command!r}")
    if min(program.ranks, program.per_node, program.threads, program.seconds) < 1:
        raise Unusable(f"{path}: expected ranks, per_node, threads and seconds to be positive")
    if program.tolerance and not program.why:
        raise Unusable(f"{path}: expected `why` to say where the rounding comes from that `tolerance` allows")
    if not bool(program.from_environment) == bool(program.needs) == bool(program.home):
        raise Unusable(f"{path}: expected `needs` and `home` with `from_environment`, and only with it")


def located(program: Program, here: str) -> Program:
    """The program with its directories filled in."""
    directory = ""
    if program.from_environment:
        directory = os.path.abspath(os.environ.get(program.from_environment, ""))
        if not os.environ.get(program.from_environment):
            raise NotBuilt(
                f"{program.from_environment}: expected a directory that has {program.needs}, got nothing. Next step: "
                f"build it ({program.home}) and set {program.from_environment}"
            )
        if not os.path.exists(os.path.join(directory, program.needs)):
            raise Unusable(
                f"{program.from_environment}: expected a directory that has {program.needs}, got {directory}. "
                f"Next step: build it there ({program.home})"
            )
    keys = dataclasses.asdict(program)
    return Program(**filled(filled(keys, "{directory}", directory), "{here}", here))


def choose(programs: dict[str, Program], names: list[str]) -> list[Program]:
    chosen = {}
    files = {program.file for program in programs.values()}
    for name in names:
        if name not in programs and name not in files:
            near = difflib.get_close_matches(name, {*programs, *files}, 1)
            raise Unusable(
                f"expected the name of a program, got {name!r}"
                + (f"; nearest: {near[0]}" if near else "")
                + ". Next step: run --list"
            )
        chosen.update({key: program for key, program in programs.items() if name in (key, program.file)})
    return list((chosen if names else programs).values())
