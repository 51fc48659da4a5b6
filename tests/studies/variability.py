#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Does leaving out the slowest k of 32 nodes pay? HPL on Dahu's nodes, each with its own speed of dgemm, as a sweep
over k. VARIABILITY.md is the page."""

import csv
import io
import statistics

import studies

NODES = 32
MACHINES = ("healthy", "slow")
FACTORS = ["machine", "ranks", "p", "q", "hosts"]


def nodes_by_speed(text):
    """Numbers of nodes, the slowest first: mean of what a multiplication takes on their sockets."""
    betas = {}
    for row in csv.DictReader(text.splitlines()):
        betas.setdefault(int(row["node"]), []).append(float(row["beta [ps]"]))
    return sorted(betas, key=lambda node: (-statistics.mean(betas[node]), node)), betas


def slowed(text, nodes, factor):
    rows = list(csv.DictReader(text.splitlines()))
    for row in rows:
        if int(row["node"]) in nodes:
            row["beta [ps]"] = f"{float(row['beta [ps]']) * factor:.6g}"
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def grids(ranks):
    """P x Q, P <= Q, without a single row if there are others."""
    found = [(p, ranks // p) for p in range(int(ranks**0.5), 0, -1) if ranks % p == 0]
    return found[:-1] or found


def main():
    study = studies.Study("variability", __doc__, {"XHPL": "HPL 2.x, not stripped"})
    words = study.parser.add_argument
    words("--n", type=int, default=10000, help="order of the matrix; default %(default)s")
    words("--each", type=int, default=2, help="ranks of a node; default %(default)s")
    words("--removed", type=studies.numbers, default=[0, 1, 2, 3, 4, 8],
          help="nodes left out; default 0,1,2,3,4,8")
    words("--slow", type=float, default=1.25, help="what dgemm takes on four slow nodes, times; default %(default)s")
    words("--seeds", type=int, default=1, help="days of noise; default %(default)s")
    words("--slurm", action="store_true", help="by Slurm")
    options = study.begin()

    healthy = (studies.DAHU / "dgemm.csv").read_text()
    order, _ = nodes_by_speed(healthy)
    slow = slowed(healthy, order[len(order) // 2 :][:4], options.slow)  # not those that are slow already
    kernels = (studies.DAHU / "kernels.yaml").read_text()
    design, files = study.hpl_design([studies.HPL_KERNELS, "{machine}.yaml"], options.n, "{p}", "{q}")
    points = []
    for machine, table in zip(MACHINES, (healthy, slow)):
        files[f"{machine}.csv"] = table
        files[f"{machine}.yaml"] = kernels.replace("dgemm.csv", f"{machine}.csv")
        slowest, _ = nodes_by_speed(table)
        for removed in options.removed:
            kept = sorted(slowest[removed:])
            ranks = options.each * len(kept)
            hosts = ",".join(f"dahu-{node + 1}:{options.each}" for node in kept)
            points += [[machine, ranks, p, q, hosts] for p, q in grids(ranks)]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([FACTORS, *points])
    files["points.csv"] = out.getvalue()
    design["options"] |= {"host": "{hosts}", **studies.ON_DAHU}
    design |= {
        "inputs": [f"{machine}.{kind}" for machine in MACHINES for kind in ("csv", "yaml")],
        "factors": {name: sorted(set(column)) for name, column in zip(FACTORS, zip(*points))},
        "design": {"kind": "list", "file": "points.csv"}, "replicates": options.seeds, "seed": 1,
    }  # fmt: skip
    write(study, study.sweep(design, files))


def write(study, found):
    rates = {}
    for row in found:
        removed = NODES - int(row["ranks"]) // study.options.each
        rates.setdefault((row["machine"], removed, int(row["p"]), int(row["q"])), []).append(float(row["gflops"]))
    rows = [{"machine": machine, "removed": removed, "p": p, "q": q, "gflops": f"{statistics.mean(values):.6g}"}
            for (machine, removed, p, q), values in sorted(rates.items())]
    best = {}  # by machine and nodes left out: Gflop/s, P, Q
    for (machine, removed, p, q), values in rates.items():
        best[machine, removed] = max(best.get((machine, removed), (0,)), (statistics.mean(values), p, q))
    series, cells = {}, []
    for (machine, removed), (rate, p, q) in sorted(best.items()):
        base = best[machine, min(study.options.removed)][0]
        series.setdefault(machine, []).append((removed, rate / base))
        others = sorted(row["gflops"] for row in rows if (row["machine"], row["removed"]) == (machine, removed))
        cells.append([machine, removed, f"{p} x {q}", f"{rate:,.0f}", len(others), f"{min(map(float, others)):,.0f}",
                      f"{rate / base:.3f}"])
    panel = studies.Panel(f"HPL, N {study.options.n}, {study.options.each} ranks a node", "nodes left out",
                          "Gflop/s / with all nodes", series)
    study.write(rows, studies.plot([panel], width=560), studies.table(
        ["nodes", "left out", "best P x Q", "Gflop/s", "grids", "of the worst", "with / without them"], cells))


if __name__ == "__main__":
    studies.main(main)
