#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What it costs in accuracy, and saves in work, to run the first part of a benchmark or of an application with a cheap
model: all nodes change to `bxi` when they come back from the n-th call of a function. SWITCHING.md is the page."""

import re

import studies

# mpi_loops: ranks, bytes, the function that ends a repetition, and how often that is called before the first.
BENCHMARKS = {
    "latency": (2, 8, "MPI_Recv", 0),
    "bw": (2, 65536, "MPI_Waitall", 0),
    "allreduce": (8, 8, "MPI_Barrier", 2),
    "alltoall": (8, 4096, "MPI_Barrier", 2),
}
LULESH = "LULESH"
EDGE = 8  # of a rank's cube, in elements


def loops(study, name, options, repetitions, warm_up=0):
    """us of a repetition (of `bw`: of a message), and the run."""
    ranks, size, _, _ = BENCHMARKS[name]
    run = study.run([*options, "-np", ranks], study.options.mpi_loops, name, "--sizes", size,
                    "--repetitions", repetitions, "--warm-up", warm_up)
    value, unit = run.output.splitlines()[1].split(",")[3:]
    return size / float(value) if unit == "MB/s" else float(value), run


def lulesh(study, options, steps):
    """us per time step, from the grind time: the elapsed time is rounded to four digits."""
    run = study.run([*options, "-np", 8], study.options.lulesh, "-s", EDGE, "-i", steps)
    grind = re.search(r"Grind time \(us/z/c\)\s*=\s*([0-9.]+)", run.output)
    if not grind:
        raise studies.Failure(f"{study.options.lulesh}: expected a grind time, got: {run.output[-300:]}")
    return float(grind[1]) * EDGE**3, run


def switched(cheap, function, call):
    return ["--model", cheap, "--model-region", f"{function}#{call}=bxi"]


def measure(study, name, cheap, percent):
    """(value, run) with the first `percent` of the repetitions or time steps under the cheap model."""
    options = study.options
    if name == LULESH:
        call = options.steps * percent // 100  # one MPI_Allreduce each, for the length of the next
        words = switched(cheap, "MPI_Allreduce", call) if 0 < percent < 100 else ["--model", cheap]
        return lulesh(study, words if percent else [], options.steps)
    _, _, function, before = BENCHMARKS[name]
    call = before + options.repetitions * percent // 100
    words = switched(cheap, function, call) if 0 < percent < 100 else ["--model", cheap]
    return loops(study, name, words if percent else [], options.repetitions)


def after_the_switch(study, name, cheap):
    """What is measured behind the change: the first half is warm-up, which does not count."""
    _, _, function, before = BENCHMARKS[name]
    half = study.options.repetitions // 2
    value, _ = loops(study, name, switched(cheap, function, before + half), half, half)
    return value


def row_of(options, name, cheap, percent, exact, value, run):
    row = {"program": name, "cheap": cheap, "percent": percent, "us": round(value, 6),
           "off_percent": round(100 * (value / exact - 1), 2), "events": run.report["timeline_events"]}
    return row | ({"cpu_seconds": round(run.cpu_seconds, 2)} if options.cpu_time else {})


def main():
    study = studies.Study("switching", __doc__, {"MPI_LOOPS": "build/release/tests/accuracy/mpi_loops",
                                                 "LULESH": "LULESH 2.0, with MPI"})
    words = study.parser.add_argument
    words("--repetitions", type=int, default=200, help="of each benchmark; default %(default)s")
    words("--steps", type=int, default=40, help="time steps of LULESH; default %(default)s")
    words("--percent", type=studies.numbers, default=[0, 25, 50, 75, 100], help="default 0,25,50,75,100")
    words("--cheap", type=lambda text: text.split(","), default=["loggp", "zero"], help="models; default loggp,zero")
    words("--only", type=lambda text: text.split(","), default=[*BENCHMARKS, LULESH], help="default: all")
    words("--cpu-time", action="store_true", help="tell CPU seconds, too: these differ from run to run")
    options = study.begin()

    rows, cells, series = [], [], {cheap: {} for cheap in options.cheap}
    for name in options.only:
        exact, run = measure(study, name, "bxi", 0)
        rows.append(first := row_of(options, name, "", 0, exact, exact, run))
        half = options.repetitions // 2
        exact_behind = loops(study, name, [], half, half)[0] if name in BENCHMARKS else None
        for cheap in options.cheap:
            mine = [first]
            for percent in options.percent:
                if percent > 0:
                    mine.append(row_of(options, name, cheap, percent, exact, *measure(study, name, cheap, percent)))
            rows += mine[1:]
            series[cheap][name] = [(row["percent"], row["off_percent"]) for row in mine]
            behind = 100 * (after_the_switch(study, name, cheap) / exact_behind - 1) if exact_behind else None
            cells.append([name, cheap, *(f"{row['off_percent']:+.1f} %" for row in mine),
                          "" if behind is None else f"{behind:+.2f} %",
                          *(f"{row['events'] / mine[0]['events']:.2f}" for row in mine[-1:])]
                         + ([" / ".join(f"{row['cpu_seconds']:.1f}" for row in mine)] if options.cpu_time else []))
    panels = [studies.Panel(f"first part with {cheap}", "% with the cheap model", "% off", series[cheap],
                            "set xzeroaxis lc rgb \"black\"") for cheap in options.cheap]
    head = ["", "cheap model", *(f"{percent} %" for percent in sorted({0, *options.percent})), "behind the change",
            "events at the end / at 0 %"] + (["CPU s"] if options.cpu_time else [])
    study.write(rows, studies.plot(panels), studies.table(head, cells))


if __name__ == "__main__":
    studies.main(main)
