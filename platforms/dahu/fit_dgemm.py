#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""dgemm.csv of a calibration: fit_dgemm.py CALIBRATION.csv [--days] > dgemm.csv

One row for each node and socket, the mean over the jobs of the calibration. With --days two rows, the mean plus and
minus half of sqrt(2) standard deviations, so that their mean and variance are those of the jobs: for `draw: normal`.
"""

import argparse
import collections
import csv
import math
import pathlib
import statistics
import sys

# In the calibration, here
COLUMNS = {
    "intercept_s": "alpha [us]",
    "mnk_s": "beta [ps]",
    "residual_intercept_s": "alpha_sd [us]",
    "residual_mnk_s": "beta_sd [ps]",
}


def read(path):
    """{(node, socket): {column: values}}; nodes count from 0."""
    places = collections.defaultdict(lambda: collections.defaultdict(list))
    with path.open() as lines:
        reader = csv.DictReader(lines)
        missing = {"node", "cpu", *COLUMNS} - set(reader.fieldnames or [])
        if missing:
            sys.exit(f"{path}: expected columns node, cpu, {', '.join(COLUMNS)}, got none of {', '.join(missing)}")
        for row in reader:
            for column in COLUMNS:
                places[int(row["node"]) - 1, int(row["cpu"])][column].append(float(row[column]))
    return places


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("calibration", metavar="CALIBRATION.csv", type=pathlib.Path)
    parser.add_argument("--days", action="store_true", help="rows that vary as the calibration's jobs do")
    options = parser.parse_args()
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["node", "socket", *COLUMNS.values()])
    for (node, socket), columns in sorted(read(options.calibration).items()):
        for sign in (-1, 1) if options.days else (0,):
            row = []
            for column, name in COLUMNS.items():
                value = statistics.mean(columns[column])
                value += sign * statistics.stdev(columns[column]) / math.sqrt(2)
                row.append(f"{value * (1e12 if '[ps]' in name else 1e6):.5g}")
            out.writerow([node, socket, *row])


if __name__ == "__main__":
    main()
