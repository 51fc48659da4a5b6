# SPDX-License-Identifier: LGPL-2.1-or-later
"""Descriptions of programs: programs/NAME.toml, keys as in Program."""
import dataclasses
import difflib
import pathlib
import tomllib


class Unusable(Exception):
    pass


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    title: str                    # what it computes, on what input
    packages: list[str]           # of the distribution
    command: list[str]            # what mpirun and umwelt run start; {here}: directory of the descriptions
    results: str                  # shell: prints what the program computed; its output is in stdout.txt
    mpi: str = "Open MPI"         # or MPICH, or "sockets": a program that finds its peers by itself
    ranks: int = 4
    per_node: int = 1             # ranks on a simulated node (-N)
    threads: int = 1              # of a rank: OMP_NUM_THREADS, --cpus-per-rank
    prepare: str = ""             # shell, once: inputs, small programs built on a library of the distribution
    environment: dict[str, str] = dataclasses.field(default_factory=dict)
    options: list[str] = dataclasses.field(default_factory=list)  # for umwelt run
    tolerance: float = 0.0        # relative difference of numbers that counts as rounding, for the reason in `why`
    why: str = ""
    seconds: int = 300            # a run that takes longer has failed


MPI = ("Open MPI", "MPICH", "sockets")


def read(directory: pathlib.Path) -> dict[str, Program]:
    programs = {}
    for path in sorted(directory.glob("*.toml")):
        try:
            text = tomllib.loads(path.read_text())
            program = Program(name=path.stem, **text)
        except (tomllib.TOMLDecodeError, TypeError) as error:
            raise Unusable(f"{path}: {error}") from None
        check(path, program)
        programs[path.stem] = program
    return programs


def check(path: pathlib.Path, program: Program) -> None:
    if program.mpi not in MPI:
        raise Unusable(f"{path}: mpi: expected one of {', '.join(MPI)}, got {program.mpi!r}")
    if not isinstance(program.command, list) or not program.command:
        raise Unusable(f"{path}: command: expected a list of words, got {program.command!r}")
    if min(program.ranks, program.per_node, program.threads, program.seconds) < 1:
        raise Unusable(f"{path}: expected ranks, per_node, threads and seconds to be positive")
    if program.tolerance and not program.why:
        raise Unusable(f"{path}: expected `why` to say where the rounding comes from that `tolerance` allows")


def choose(programs: dict[str, Program], names: list[str]) -> list[Program]:
    for name in names:
        if name not in programs:
            near = difflib.get_close_matches(name, programs, 1)
            raise Unusable(f"expected the name of a program, got {name!r}" + (f"; nearest: {near[0]}" if near else "")
                           + ". Next step: run --list")
    return [programs[name] for name in names or programs]
