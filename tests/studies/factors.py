#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What HPL gains from a better network and from faster nodes: latency, bandwidth and speed of computing, each times
every factor, all else as it is. FACTORS.md is the page."""

import studies

FACTORS = {"latency": "--latency-factor", "bandwidth": "--bandwidth-factor", "computing": "--compute-factor"}


def main():
    study = studies.Study("factors", __doc__, {"XHPL": "HPL 2.x, not stripped"})
    words = study.parser.add_argument
    words("--n", type=int, default=4096, help="order of the matrix; default %(default)s")
    words("--grid", type=studies.grid, default=(4, 4), help="P x Q, a rank a node; default 4x4")
    words("--factors", type=studies.numbers, default=[0.1, 0.3, 3, 10], help="default 0.1,0.3,3,10")
    words("--faster", type=float, default=10.0, help="network once more on nodes so many times as fast; default 10")
    options = study.begin()

    rows, panels = [], []
    for speed in sorted({1, options.faster}):
        mine = measure(study, speed)
        series = {what: sorted((row["factor"], row["times"]) for row in mine if row["what"] in (what, "nothing"))
                  for what in FACTORS if speed == 1 or what != "computing"}
        p, q = options.grid
        title = f"HPL, N {options.n}, {p} x {q} nodes" + (f", {speed:g} times as fast" if speed != 1 else "")
        settings = "set logscale xy\nset xtics (0.1, 0.3, 1, 3, 10)\nset ytics (0.1, 0.2, 0.5, 1, 2, 5, 10)"
        panels.append(studies.Panel(title, "factor", "Gflop/s / those without", series,
                                    settings + "\nset yrange [0.1:10]"))
        rows += mine
    cells = [[row["nodes"], row["what"], f"{row['factor']:g}", f"{row['gflops']:.1f}", f"{row['times']:.3f}"]
             for row in rows]
    study.write(rows, studies.plot(panels),
                studies.table(["speed of nodes", "multiplied", "by", "Gflop/s", "times as fast"], cells))


def measure(study, speed):
    """Rows of all factors on nodes that are so many times as fast."""
    options = study.options
    nodes = ["--compute-factor", speed] if speed != 1 else []
    base = study.hpl(nodes, options.xhpl, options.n, options.grid).rate
    rows = [{"nodes": f"{speed:g}", "what": "nothing", "factor": 1, "gflops": base, "times": 1.0}]
    for what, option in FACTORS.items():
        for factor in options.factors if speed == 1 or what != "computing" else []:
            rate = study.hpl([*nodes, option, factor], options.xhpl, options.n, options.grid).rate
            rows.append({"nodes": f"{speed:g}", "what": what, "factor": factor, "gflops": rate,
                         "times": round(rate / base, 4)})
    return rows


if __name__ == "__main__":
    studies.main(main)
