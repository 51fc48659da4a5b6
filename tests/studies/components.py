#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What matters on 512 nodes: speed of nodes, bandwidth and latency, each times and divided by ten, for two sizes of
HPL, as a sweep over all combinations. COMPONENTS.md is the page."""

import math

import studies

OPTIONS = {"computing": "compute-factor", "bandwidth": "bandwidth-factor", "latency": "latency-factor"}


def main():
    study = studies.Study("components", __doc__, {"XHPL": "HPL 2.x, not stripped"})
    words = study.parser.add_argument
    words("--n", type=studies.numbers, default=[1024, 4096], help="orders of the matrix; default 1024,4096")
    words("--grid", type=studies.grid, default=(16, 32), help="P x Q, a rank a node; default 16x32")
    words("--platform", default="fat_tree:(2;16,32;1,8;1,1)", help="default %(default)s")
    words("--factors", type=studies.numbers, default=[0.1, 1, 10], help="default 0.1,1,10")
    words("--slurm", action="store_true", help="by Slurm")
    options = study.begin()

    p, q = options.grid
    several = len(options.n) > 1
    order = "{n}" if several else options.n[0]
    design, files = study.hpl_design([studies.HPL_KERNELS], order, p, q)
    design["options"] |= {"np": p * q, "platform": options.platform}
    design |= {
        "factors": {name: {"option": option, "levels": options.factors} for name, option in OPTIONS.items()},
        "design": {"kind": "full"}, "seed": 1,
    }  # fmt: skip
    if several:
        design["factors"]["n"] = options.n
    found = study.sweep(design, files)
    rows = [{"n": int(row.get("n", options.n[0])), **{name: float(row[name]) for name in (*OPTIONS, "gflops")}}
            for row in found]
    rows.sort(key=lambda row: tuple(row[name] for name in ("n", *OPTIONS)))
    panels, cells = [], []
    for n in options.n:
        mine = [row for row in rows if row["n"] == n]
        base = next(row["gflops"] for row in mine if all(row[name] == 1 for name in OPTIONS))
        series = {name: [(factor, times(mine, base, **{name: factor})) for factor in options.factors]
                  for name in OPTIONS}
        panels.append(studies.Panel(f"HPL, N {n}, {p} x {q} nodes", "factor", "Gflop/s / those without", series,
                                    "set logscale xy\nset xtics (0.1, 1, 10)"))
        shares = variance(mine)
        for name in OPTIONS:
            single = [f"{times(mine, base, **{name: factor}):.3f}" for factor in options.factors]
            cells.append([n, f"{base:,.0f}", name, *single, f"{100 * shares[name]:.1f} %"])
    head = ["N", "Gflop/s", "multiplied", *(f"by {factor:g}" for factor in options.factors),
            "of the variance, over all combinations"]
    study.write(rows, studies.plot(panels), studies.table(head, cells))


def times(rows, base, **changed):
    """As fast as without, where only that is changed."""
    return next(row["gflops"] for row in rows
                if all(row[name] == changed.get(name, 1) for name in OPTIONS)) / base  # fmt: skip


def variance(rows):
    """What share of the variance of the logarithm each main effect has, over the full factorial."""
    logs = [math.log(row["gflops"]) for row in rows]
    mean = sum(logs) / len(logs)
    whole = sum((one - mean) ** 2 for one in logs) or 1.0
    shares = {}
    for name in OPTIONS:
        levels = {}
        for row, one in zip(rows, logs):
            levels.setdefault(row[name], []).append(one)
        shares[name] = sum(len(of) * (sum(of) / len(of) - mean) ** 2 for of in levels.values()) / whole
    return shares


if __name__ == "__main__":
    studies.main(main)
