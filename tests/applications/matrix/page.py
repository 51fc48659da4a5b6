# SPDX-License-Identifier: LGPL-2.1-or-later
"""The table of the matrix, one row a program; a page is brought up to date row by row."""
import os
import pathlib

TITLE = """# Programs of others, natively and simulated

Made by `tests/applications/run --page tests/applications/RESULTS.md` ([what it does](README.md)). CPU, wall-clock and
memory: native -> simulated,
of one run each on two shared cores, so they are orders of magnitude; memory is the largest sum of Pss of all
processes, looked at
at least once a second. Simulated: the time the run would take on the simulated cluster.

"""
HEAD = (
    "| program | what | MPI | ranks | computed | CPU s | wall s | simulated s | memory MiB |\n"
    "|---|---|---|---|---|---|---|---|---|"
)
SKIPPED = "| skipped "
END = "\n`**` marks what is not as natively; [limitations](../../runtime/LIMITATIONS.md) say why.\n"


class Unusable(Exception):
    pass


def both(outcome, show) -> str:
    runs = (outcome.native, outcome.simulated)
    return " -> ".join(show(run) if run else "-" for run in runs)


def layout(program) -> str:
    text = str(program.ranks)
    if program.per_node > 1:
        text += f" (-N {program.per_node})"
    if program.threads > 1:
        text += f" x {program.threads} threads"
    return text


def row(outcome) -> str:
    program = outcome.program
    simulated = "-" if outcome.simulated_seconds is None else f"{outcome.simulated_seconds:.3g}"
    return (
        " | ".join(
            (
                f"| {program.name}",
                program.title,
                program.mpi,
                layout(program),
                outcome.verdict,
                both(outcome, lambda run: f"{run.cpu:.1f}"),
                both(outcome, lambda run: f"{run.wall:.1f}"),
                simulated,
                both(outcome, lambda run: f"{run.memory / 2**20:.0f}"),
            )
        )
        + " |"
    )


def put(rows: dict[str, str], outcome) -> None:
    """A program that was skipped keeps the row of the run before."""
    if not outcome.skipped or outcome.program.name not in rows:
        rows[outcome.program.name] = row(outcome)


def read(path: str) -> dict[str, str]:
    """Rows by name; none if there is no such page."""
    if not os.path.exists(path):
        return {}
    rows = {}
    for line in pathlib.Path(path).read_text().splitlines():
        name = line.split("|")[1].strip() if line.startswith("| ") else ""
        if name and name != "program":
            rows[name] = line
    if not rows:
        raise Unusable(f"--page {path}: expected a page that this command has made, got another file")
    return rows


def write(path: str, rows: dict[str, str]) -> None:
    ran = [line for line in rows.values() if SKIPPED not in line]
    good = sum("**" not in line for line in ran)
    text = TITLE + f"{good} of {len(ran)} compute what they compute natively.\n\n"
    text += "\n".join([HEAD, *(rows[name] for name in sorted(rows))]) + "\n" + END
    unfinished = f"{path}.{os.getpid()}"
    pathlib.Path(unfinished).write_text(text)
    os.replace(unfinished, path)
