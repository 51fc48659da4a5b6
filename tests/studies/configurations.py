#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Which of HPL's parameters matter on Dahu: configurations of HPL.dat as a sweep, its analysis of variance beside that
of the real machine's runs. CONFIGURATIONS.md is the page."""

import csv
import io
import math
import statistics
import sys

import studies

sys.path.insert(0, str(studies.ROOT / "runtime"))

RANKS_PER_NODE = 32
REAL_GRID = (32, 32)
# Columns of hpl_factorial.csv, and what HPL.dat calls their values
FACTORS = {
    "block_size": None,
    "bcast": ["1rg", "1rM", "2rg", "2rM", "Lng", "LnM"],
    "depth": None,
    "swap": ["bin-exch", "long", "mix"],
}


def measured(path):
    """{configuration: Gflop/s of its runs}"""
    if not path.is_file():
        raise studies.Failure(f"{path}: expected measurements, got no file. DATA is the directory of hpl_factorial.csv")
    found = {}
    with path.open() as lines:
        reader = csv.DictReader(lines)
        for name in (*FACTORS, "gflops"):
            if name not in (reader.fieldnames or []):
                raise studies.Failure(f"{path}: expected a column {name}, got {reader.fieldnames}")
        for row in reader:
            found.setdefault(tuple(int(row[name]) for name in FACTORS), []).append(float(row["gflops"]))
    return {configuration: found[configuration] for configuration in sorted(found)}


def main():
    study = studies.Study("configurations", __doc__, {
        "XHPL": "HPL 2.x, not stripped", "DATA": "directory of hpl_factorial.csv: real runs (tests/accuracy/dahu)",
    })  # fmt: skip
    words = study.parser.add_argument
    words("--n", type=int, default=30000, help="order of the matrix; default %(default)s")
    words("--grid", type=studies.grid, default=(8, 16), help="P x Q; default 8x16")
    words("--slurm", action="store_true", help="by Slurm")
    options = study.begin()

    try:
        from sweep import analysis, sample
    except ImportError as error:
        raise studies.Failure(f"{sys.executable}: expected what umwelt sweep needs for its statistics, got: {error}. "
                              "Packages python3-numpy, python3-scipy; /usr/bin/python3 sees them") from None
    real = measured(options.data / "hpl_factorial.csv")
    p, q = options.grid
    names = {name: f"{{{name}}}" for name in FACTORS}
    design, files = study.hpl_design(
        [studies.HPL_KERNELS, studies.DAHU / "kernels.yaml"], options.n, p, q, names
    )
    points = io.StringIO()
    csv.writer(points, lineterminator="\n").writerows([list(FACTORS), *real])
    files["points.csv"] = points.getvalue()
    design["options"] |= studies.ON_DAHU | {
        "np": p * q, "map-by": f"ppr:{RANKS_PER_NODE}:node",
        "mca": {"btl": "portals4,self", "btl_portals4_needs_ack": 0, "btl_portals4_recv_md_size": 262144},
    }  # fmt: skip
    design |= {
        "factors": {name: levels(real, at) for at, name in enumerate(FACTORS)},
        "design": {"kind": "list", "file": "points.csv"}, "seed": 1,
    }  # fmt: skip
    rates = {tuple(int(row[name]) for name in FACTORS): float(row["gflops"])
             for row in study.sweep(design, files)}

    def terms(logs):
        axes = []
        for at, name in enumerate(FACTORS):
            there = levels(real, at)
            axes.append(sample.Axis(name, [str(level) for level in there], None,
                                    analysis.np.array([there.index(one[at]) for one in real])))
        axes = [axis for axis in axes if len(axis.levels) > 1]
        found = analysis.variance(axes, analysis.np.array(logs), interactions=False)
        return {term.name: term for term in found.terms} if found else {}

    logs_real = [math.log(statistics.median(runs)) for runs in real.values()]
    logs_here = [math.log(rates[one]) for one in real]
    write(study, real, rates, terms(logs_real), terms(logs_here))


def levels(real, at):
    """Of the factor in that column."""
    return sorted({one[at] for one in real})


def ranking(terms):
    return sorted((name for name in terms if name != "rest"), key=lambda name: -terms[name].share)


def meaning(name, level):
    return FACTORS[name][level] if FACTORS[name] else level


def write(study, real, rates, of_real, of_here):
    p, q = study.options.grid
    rows = [{**dict(zip(FACTORS, one)), "real_gflops": f"{statistics.median(runs):.6g}", "real_runs": len(runs),
             "here_gflops": f"{rates[one]:.6g}"} for one, runs in real.items()]
    mean_real = statistics.geometric_mean([statistics.median(runs) for runs in real.values()])
    mean_here = statistics.geometric_mean([rates[one] for one in real])
    shares = []
    for name in [*ranking(of_real), "rest"]:
        both = [terms.get(name) for terms in (of_real, of_here)]
        shares.append([name, *("" if term is None else f"{100 * term.share:.1f} %" for term in both),
                       *("" if term is None or term.p is None else f"{term.p:.2g}" for term in both)])
    effects = []
    for at, name in enumerate(FACTORS):
        for level in levels(real, at):
            mine = [one for one in real if one[at] == level]
            effects.append([name, meaning(name, level), len(mine), *(
                f"{100 * (statistics.geometric_mean([of(one) for one in mine]) / mean - 1):+.1f} %"
                for of, mean in ((lambda one: statistics.median(real[one]), mean_real), (rates.get, mean_here)))])
    pairs = sorted((statistics.median(runs) / mean_real, rates[one] / mean_here) for one, runs in real.items())
    same = ranking(of_real) == ranking(of_here)
    order = (f"Ranking of factors, real: {', '.join(ranking(of_real))}; here: {', '.join(ranking(of_here))}: "
             f"{'' if same else 'not '}the same.")
    by_real = "x".join(map(str, REAL_GRID))
    head = [f"real, {by_real}", f"here, {p}x{q}"]
    panel = studies.Panel(
        f"{len(real)} configurations, each against the mean of all", "real machine", "here", {"configurations": pairs},
        style="points pt 7 ps 0.6")
    study.write(rows, studies.plot([panel], width=560), "\n\n".join([
        order, f"Correlation of the two (Pearson's): {statistics.correlation(*zip(*pairs)):.2f}.",
        "Share of the variance of log(Gflop/s) (type II, no interactions), and its p:",
        studies.table(["factor", *(f"share, {one}" for one in head), *(f"p, {one}" for one in head)], shares),
        "Mean of the configurations with a level, against that of all:",
        studies.table(["factor", "level", "configurations", *head], effects),
    ]))


if __name__ == "__main__":
    studies.main(main)
