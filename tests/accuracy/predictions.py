# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Umwelt predicts: the same programs under `umwelt run`, at the sizes that were measured."""

import os
import re
import subprocess
import tempfile
import pathlib

import measurements
from measurements import Failure

# Repetitions, and those before them. With --cpu none each takes as long as the one before it; with measured, OSU's own
# numbers would take hours.
TIMES = {"none": (10, 3), "measured": (200, 20)}


class Umwelt:
    """The command and what it runs."""

    def __init__(self, umwelt, loops, lulesh, options):
        self.umwelt = umwelt
        self.loops = loops
        self.lulesh = lulesh
        self.options = options

    def output(self, mode, ranks, program):
        command = [self.umwelt, "run", "-q", "--cpu", mode, "-np", str(ranks), *self.options, *map(str, program)]
        environment = {**os.environ, "OMP_NUM_THREADS": "1"}
        with tempfile.TemporaryDirectory() as directory:  # programs may write files
            try:
                run = subprocess.run(
                    command, capture_output=True, text=True, cwd=directory, env=environment, check=False
                )
            except OSError as failed:
                raise Failure(f"{self.umwelt}: expected the command umwelt, got: {failed.strerror}. Build it") from None
        if run.returncode != 0:
            said = "\n".join(run.stderr.strip().splitlines()[-5:])
            raise Failure(
                f"{' '.join(map(str, command))}: expected exit code 0, got {run.returncode}. It said:\n{said}"
            )
        return run.stdout

    def predict(self, benchmark, mode, repetitions, warm_up):
        """{size: value} of one run."""
        predict = {"portals": self.portals, "lulesh": self.lulesh_ratios}.get(benchmark.group, self.mpi)
        found = predict(benchmark, mode, repetitions, warm_up)
        missing = sorted(set(benchmark.real) - set(found))
        if missing:
            raise Failure(
                f"{benchmark.name}: expected a value for {missing[0]} B, got {sorted(found)}. Run it by hand to see why"
            )
        return found

    def portals(self, benchmark, mode, _repetitions, _warm_up):
        # As many requests as on the cluster, fewer of long messages, which are all alike; enough time for the windows.
        sizes = ",".join(map(str, benchmark.real))
        program = ["ptlbench", benchmark.name, "--sizes", sizes]
        program += ["--count", 10000, "--volume", "256MB", "--duration", "10ms"]
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / f"{benchmark.name}.csv"
            path.write_text(self.output(mode, benchmark.ranks, program))
            return measurements.portals_series(path)

    def mpi(self, benchmark, mode, repetitions, warm_up):
        sizes = ",".join(map(str, benchmark.real))
        program = [self.loops, benchmark.name, "--sizes", sizes, "--repetitions", repetitions, "--warm-up", warm_up]
        lines = self.output(mode, benchmark.ranks, program).splitlines()
        return {int(size): float(value) for _, _, size, value, _ in (line.split(",") for line in lines[1:])}

    def lulesh_ratios(self, benchmark, mode, _repetitions, _warm_up):
        return {
            size: self.lulesh_time(mode, benchmark.ranks, size) / self.lulesh_time(mode, 1, size)
            for size in benchmark.real
        }

    def lulesh_time(self, mode, ranks, size):
        output = self.output(mode, ranks, [self.lulesh, "-s", size])
        elapsed = re.search(r"Elapsed time\s*=\s*([0-9.]+)", output)
        if not elapsed:
            raise Failure(f"{self.lulesh}: expected 'Elapsed time = SECONDS', got other output. Is it LULESH 2.0?")
        return float(elapsed[1])
