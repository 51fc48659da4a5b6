#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How much of a fat tree's top HPL needs: two levels with 1 to 16 switches above, ranks on nodes one after the other
and in random order. HPL itself, and its messages alone (panels.c). PRUNED_TREE.md is the page."""

import studies

PLACEMENTS = {"sequential": [], "random": ["--placement", "random:1"]}


def tree(shape, spines):
    leaf, leaves = shape
    return ["--platform", f"fat_tree:(2;{leaf},{leaves};1,{spines};1,1)"]


def curves(title, rows):
    best = min(row["us"] for row in rows)
    series = {placement: [(row["spines"], row["us"] / best) for row in rows if row["placement"] == placement]
              for placement in PLACEMENTS}
    return studies.Panel(title, "N, switches above", "time / best", series, "set logscale x 2\nset yrange [0.9:*]")


def cells_of(rows):
    best = min(row["us"] for row in rows)
    cells = []
    for count in sorted({row["spines"] for row in rows}):
        times = [row["us"] for placement in PLACEMENTS for row in rows
                 if (row["spines"], row["placement"]) == (count, placement)]
        cells.append([count, *(f"{time:,.0f}" for time in times), *(f"{time / best:.2f}" for time in times)])
    return studies.table(["N", "sequential, us", "random, us", "sequential / best", "random / best"], cells)


def main():
    study = studies.Study("pruned_tree", __doc__, {"PANELS": "build/release/tests/studies/panels",
                                                   "XHPL": "HPL 2.x, not stripped"})
    words = study.parser.add_argument
    words("--tree", type=studies.grid, default=(16, 32), help="nodes per leaf x leaves, of panels; default 16x32")
    words("--grid", type=studies.grid, default=(16, 32), help="P x Q there; default 16x32")
    words("--spines", type=studies.numbers, default=list(range(1, 17)), help="N there; default 1,2,...,16")
    words("--small-tree", type=studies.grid, default=(16, 4), help="as --tree, for every N; default 16x4")
    words("--small-grid", type=studies.grid, default=(8, 8), help="P x Q there; default 8x8")
    words("--small-spines", type=studies.numbers, default=list(range(1, 17)), help="N there; default 1,2,...,16")
    words("--order", type=int, default=4096, help="of the matrix of panels; default %(default)s")
    words("--rate", type=float, default=500.0, help="of a node of panels, Gflop/s; default 500")
    words("--hpl-tree", type=studies.grid, default=(16, 32), help="as --tree, for HPL; default 16x32")
    words("--hpl-grid", type=studies.grid, default=(16, 32), help="P x Q of HPL; default 16x32")
    words("--hpl-spines", type=studies.numbers, default=[1, 2, 3, 4, 5, 6, 8, 12, 16],
          help="default 1,2,3,4,5,6,8,12,16")
    words("--n", type=int, default=4096, help="order of HPL's matrix; default %(default)s")
    words("--faster", type=int, default=10, help="--compute-factor of HPL; default %(default)s")
    options = study.begin()

    def panels(shape, grid, spines, placement):
        p, q = grid
        run = study.run([*tree(shape, spines), *PLACEMENTS[placement], "--workers", 0, "-np", p * q],
                        options.panels, p, q, options.order, 256, f"{options.rate:g}")
        return max(map(float, run.output.split())) * 1e-6

    def hpl(shape, grid, spines, placement):
        machine = [*tree(shape, spines), *PLACEMENTS[placement], "--compute-factor", options.faster]
        rate = study.hpl(machine, options.xhpl, options.n, grid).rate
        return (2 / 3 * options.n**3 + 3 / 2 * options.n**2) / rate * 1e-9  # HPL's own count

    rows, drawn, tables = [], [], []
    for program, measure, shape, grid, spines in (
        ("HPL", hpl, options.hpl_tree, options.hpl_grid, options.hpl_spines),
        ("panels", panels, options.small_tree, options.small_grid, options.small_spines),
        ("panels", panels, options.tree, options.grid, options.spines),
    ):
        mine = [{"program": program, "nodes": shape[0] * shape[1], "spines": count, "placement": placement,
                 "us": round(1e6 * measure(shape, grid, count, placement), 1)}
                for count in spines for placement in PLACEMENTS]
        rows += mine
        name = f"(2; {shape[0]},{shape[1]}; 1,N; 1,1)"
        drawn.append(curves(f"{program} on {name}", mine))
        tables.append(f"{program} on {name}, {grid[0]} x {grid[1]} ranks:\n\n{cells_of(mine)}\n")
    study.write(rows, studies.plot(drawn), "\n".join(tables).rstrip())


if __name__ == "__main__":
    studies.main(main)
