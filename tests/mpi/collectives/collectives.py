#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""collectives.py CASE UMWELT [MPIRUN] NP -- PROGRAM [ARGUMENT...]: a program with --collectives.

equal      what each rank writes is what it writes natively (with MPIRUN), however the ranks are spread
times      what times.c writes is what the model of each function says
misfit     misfit.c ends with exit code 122 and a message
count      the MPI library's own error is that, with and without
counts     --mpi-calls counts the same calls as without; the summary tells of functions that were modelled
refused    what the option cannot mean ends before the start
identical  two runs have the same report, in one process and in two
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def execute(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=190, stdin=subprocess.DEVNULL, check=False)


def run(umwelt, np, options, command, code=0):
    done = execute([umwelt, "run", "--cpu", "none", "-np", np, *options, *command])
    if done.returncode != code:
        sys.exit(f"{' '.join(options)}: expected exit code {code}, got {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


def report_of(umwelt, np, options, command):
    with tempfile.TemporaryDirectory() as work:
        report = pathlib.Path(work, "report.json")
        done = run(umwelt, np, [*options, "--report", str(report)], command)
        return json.loads(report.read_text()), done


def by_rank(text):
    """Lines of ranks; between ranks there is no order."""
    lines = [line for line in text.splitlines() if re.match(r"\[\d+\] ", line)]
    return sorted(lines, key=lambda line: int(line[1:line.index("]")]))


def expect_lines(what, expected, got):
    if expected != got:
        lost = [line for line in expected if line not in got]
        more = [line for line in got if line not in expected]
        sys.exit(f"{what}: expected {lost[:10]}, got {more[:10]} ({len(lost)} and {len(more)} lines)")


def expect_text(what, pattern, text):
    if not re.search(pattern, text):
        sys.exit(f"{what}: expected '{pattern}', got:\n{text}")


def equal(umwelt, mpirun, np, command):
    with tempfile.TemporaryDirectory() as work: # a rank's lines whole
        if "openmpi" in mpirun: # as in compare.sh
            native_options, files = ["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"], []
            if "(OpenRTE) 4." in execute([mpirun, "--version"]).stdout:
                native_options += ["--mca", "btl", "self,vader", "--mca", "btl_vader_single_copy_mechanism", "none",
                                   "--output-filename", work]
            else:
                native_options += ["--mca", "btl", "self,sm"]
                files = [str(pathlib.Path(__file__).parent.parent / "rank_files.sh"), work]
            native = execute([mpirun, *native_options, "-np", np, *files, *command])
            text = "".join(path.read_text() for path in sorted(pathlib.Path(work).rglob("stdout")))
        else:
            native = execute([mpirun, "-np", np, *command])
            text = native.stdout
    expected = by_rank(text)
    if native.returncode != 0 or not expected or any("FAILED" in line for line in expected):
        sys.exit(f"expected a native run that finds nothing wrong, got {native.returncode}:\n{text}{native.stderr}")
    for options in (["--workers", "0"], ["--workers", "2"], ["-N", np], ["-N", "2", "--workers", "2"]):
        for model in "zero", "tree":
            done = run(umwelt, np, ["-q", *options, "--collectives", model], command)
            expect_lines(f"{' '.join(options)} --collectives {model}", expected, by_rank(done.stdout))


# By function, what each of four ranks waits after it has come: rank r comes r ms after the first, root is rank 1, and a
# collective takes 100 us.
TIMES = {
    "barrier": [3100, 2100, 1100, 100],
    "bcast": [1100, 0, 0, 0],
    "scatter": [1100, 0, 0, 0],
    "reduce": [0, 2100, 0, 0],
    "gather": [0, 2100, 0, 0],
    "allreduce": [3100, 2100, 1100, 100],
    "alltoall": [3100, 2100, 1100, 100],
    "scan": [0, 100, 100, 100],
    "exscan": [0, 100, 100, 100],
}


def times(umwelt, np, command):
    for options in (["--workers", "0"], ["--workers", "2"]):
        lines = by_rank(run(umwelt, np, ["-q", *options, "--collectives", "100us"], command).stdout)
        for name, waits in TIMES.items():
            for rank, wait in enumerate(waits):
                line = next(line for line in lines if line.startswith(f"[{rank}] {name}:"))
                got = float(re.search(r": ([\d.]+) us", line)[1])
                if not wait <= got < wait + 3: # and looks at the clock
                    sys.exit(f"{' '.join(options)}: expected {wait} us, got '{line}'")
        for rank in range(4):
            begun = next(line for line in lines if line.startswith(f"[{rank}] iallreduce begun:"))
            waited = next(line for line in lines if line.startswith(f"[{rank}] iallreduce waited"))
            if float(re.search(r": ([\d.]+) us", begun)[1]) > 3 or float(re.search(r": ([\d.]+) us", waited)[1]) > 3:
                sys.exit(f"expected computation and collective at the same time, got '{begun}', '{waited}'")
    longer = by_rank(run(umwelt, np, ["-q", "--collectives", "100us", "--collectives", "barrier=P*1us + 7us"],
                         command).stdout)
    got = float(re.search(r": ([\d.]+) us", next(line for line in longer if line.startswith("[3] barrier:")))[1])
    if not 11 <= got < 14:
        sys.exit(f"barrier=P*1us + 7us: expected 11 us, got {got}")


MISFITS = {
    "function": r"calls MPI_(Bcast|Allreduce).* has called MPI_(Bcast|Allreduce)",
    "root": r"calls MPI_Reduce with root \d.* has called MPI_Reduce with root \d.*the same function and root",
    "length": r"MPI_Allreduce of (28|32) B.* MPI_Allreduce of (28|32) B .*vectors of the same size",
    "room": r"MPI_Bcast: rank 0 \(bxi0\) sends 16 B to rank 2 \(bxi2\), which has room for 12 B",
    "absent": r"MPI_Allreduce, on MPI_COMM_WORLD, since(.|\n)*rank 2 \(bxi2\)(.|\n)*MPI_Recv from 0(.|\n)*cycle:",
}


def misfit(umwelt, np, command):
    for options in (["--workers", "0"], ["--workers", "2"]):
        for how, message in MISFITS.items():
            done = run(umwelt, np, [*options, "--collectives", "zero"], [*command, how], code=122)
            expect_text(how, message, done.stderr)


def count(umwelt, np, command):
    for options in ([], ["--collectives", "zero"]):
        run(umwelt, np, ["-q", *options], [*command, "count"])


def counts(umwelt, np, command):
    without, _ = report_of(umwelt, np, ["--mpi-calls"], command)
    report, done = report_of(umwelt, np, ["--mpi-calls", "--collectives", "5us"], command)

    def calls(one):
        return {function["name"]: (function["calls"], function["bytes"]) for function in one["mpi_calls"]["functions"]
                if function["name"] != "MPI_Test"} # as often as it takes
    if calls(without) != calls(report):
        sys.exit(f"expected {calls(without)}, got {calls(report)}")
    modelled = {one["name"]: one["calls"] for one in report["collectives"]}
    expected = {"MPI_" + name[5:].capitalize(): number for name, (number, _) in calls(report).items()
                if name.startswith("MPI_I") and name not in ("MPI_Init", "MPI_Initialized")}
    if modelled != expected:
        sys.exit(f"collectives: expected {expected}, got {modelled}")
    expect_text("summary", r"collective +model +calls +time\n +MPI_Allgather +5us", done.stderr)
    expect_text("summary", "times of this run are not those of the real algorithms", done.stderr)
    if "collectives" in without:
        sys.exit("expected nothing of collectives without the option")


def refused(umwelt, np, command):
    for text, message in (("fast", "--collectives: expected a model, got 'fast'"),
                          ("allredcue=zero", "Did you mean 'allreduce'"),
                          ("bcast=2us + bytes/10e9", "--collectives bcast: expected a time"),
                          ("alltoall=1us*size", "expected a variable"),
                          ("bcast=1us*(P", "expected an expression"),
                          ("", "expected a model, got nothing")):
        done = run(umwelt, np, ["--collectives", text], command, code=121)
        expect_text(text, re.escape(message), done.stderr)
        if done.stdout:
            sys.exit(f"{text}: expected to end before the start, got output:\n{done.stdout}")


def identical(umwelt, np, command):
    for model in "zero", "tree":
        options = ["-q", "--mpi-calls", "--collectives", model]
        first, output = report_of(umwelt, np, [*options, "--workers", "0"], command)
        for more in (["--workers", "0"], ["--workers", "2"], ["--workers", "3"]):
            report, text = report_of(umwelt, np, [*options, *more], command)
            if report != first:
                differ = [key for key in first if first[key] != report.get(key)]
                sys.exit(f"{' '.join(more)} --collectives {model}: expected the same report, got other {differ}")
            if by_rank(text.stdout) != by_rank(output.stdout):
                sys.exit(f"{' '.join(more)}: expected the same output")
        if first["simulated_ps"] == 0 or not first["collectives"]:
            sys.exit("expected simulated time, and collectives that were modelled")


if __name__ == "__main__":
    own = sys.argv[1:sys.argv.index("--")]
    globals()[own[0]](*own[1:], sys.argv[sys.argv.index("--") + 1:])
