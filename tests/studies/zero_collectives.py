#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What better collectives could bring NAS benchmarks at most: the same runs with collectives that cost nothing, and
with those of a model of trees. ZERO_COLLECTIVES.md is the page."""

import statistics

import studies

MODELS = ("real", "zero", "tree")


def program(directory, name, letter, ranks):
    """ft.S.16 of NPB 3.3, ft.S.x of 3.4."""
    for ending in (str(ranks), "x"):
        path = directory / f"{name}.{letter}.{ending}"
        if path.exists():
            return path
    raise studies.Failure(f"{directory}: expected {name}.{letter}.{ranks} or {name}.{letter}.x, got neither. Build it")


def inner_seconds(run):
    """Between the beginning and the end of MPI, mean of all ranks: what these two take is Open MPI's, not the
    program's."""
    calls = {one["name"]: one["time_ps"] for one in run.report["mpi_calls"]["functions"]}
    outside = calls["MPI_Init"] + calls["MPI_Finalize"]
    ranks = run.report["ranks"]
    return (sum(rank["finished_ps"] for rank in ranks) - outside) / len(ranks) * 1e-12


def busiest(run):
    """The collectives with most time, as the program calls them."""
    waited = run.report["mpi_calls"]
    names = {one["name"] for one in waited["communicators"]}
    found = [one for one in waited["functions"] if one["name"] in names and one["time_ps"] > 0]
    return ", ".join(f"{one['name'][4:]} {one['calls'] // len(run.report['ranks'])}" for one in found[:2]) or "none"


def measure(study, path, model, cpu):
    words = ["--mpi-calls", "--collectives", model, "-np", study.options.ranks]
    return study.run(words, path, cpu=cpu)


def figure(rows):
    series = {model: [(i, row[f"{model}_us"] / row["real_us"]) for i, row in enumerate(rows)] for model in MODELS[1:]}
    ticks = ", ".join(f"\"{row['benchmark'].upper()}\" {i}" for i, row in enumerate(rows))
    settings = f"set xtics ({ticks})\nset xrange [-0.5:{len(rows) - 0.5}]\nset yrange [0:1.2]"
    title = f"class {rows[0]['class']}, {rows[0]['ranks']} nodes, --cpu none"
    panel = studies.Panel(title, "", "time / that of real ones", series, settings, "points pt 7 ps 1")
    return studies.plot([panel], width=520)


def main():
    study = studies.Study("zero_collectives", __doc__, {"NPB": "directory of the programs: ft.S.16 or ft.S.x"})
    words = study.parser.add_argument
    words("--ranks", type=int, default=16, help="one a node; default %(default)s")
    words("--class", dest="letter", default="S", help="of the benchmarks; default %(default)s")
    words("--only", type=lambda text: text.split(","), default=["ft", "is", "mg", "cg"], help="default ft,is,mg,cg")
    words("--measured", type=int, default=0, help="so many runs with --cpu measured, too: these differ; default none")
    options = study.begin()

    rows = []
    for name in options.only:
        path = program(options.npb, name, options.letter, options.ranks)
        row = {"benchmark": name, "class": options.letter, "ranks": options.ranks}
        for model in MODELS:
            run = measure(study, path, model, "none")
            row[f"{model}_us"] = round(1e6 * inner_seconds(run), 3)
            if model == "real":
                row["collectives"] = busiest(run)
        if options.measured:
            for model in ("real", "zero"):
                times = [1e6 * inner_seconds(measure(study, path, model, "measured")) for _ in range(options.measured)]
                row |= {f"measured_{model}_us": round(statistics.median(times)),
                        f"measured_{model}_spread_us": round(max(times) - min(times))}
        rows.append(row)

    head = ["", "collectives, calls a rank", "real, us", "zero, us", "tree, us", "bound: faster by at most"]
    cells = [[row["benchmark"].upper(), row["collectives"], *(f"{row[f'{model}_us']:,.0f}" for model in MODELS),
              f"{row['real_us'] / row['zero_us']:.2f} times"] for row in rows]
    if options.measured:
        head += ["`--cpu measured`: real, us (spread)", "zero, us (spread)", "bound"]
        for row, cell in zip(rows, cells):
            cell += [f"{row[f'measured_{model}_us']:,} ({row[f'measured_{model}_spread_us']:,})"
                     for model in ("real", "zero")]
            cell.append(f"{row['measured_real_us'] / row['measured_zero_us']:.2f} times")
    study.write(rows, figure(rows), studies.table(head, cells))


if __name__ == "__main__":
    studies.main(main)
