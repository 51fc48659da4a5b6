# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long gathering takes: results of as many points as said are made up, then gathered.

usage: bench_gather.py [POINTS]    default 100000
"""
import json
import os
import pathlib
import shutil
import sys
import tempfile
import time

from support import UMWELT

from sweep import sweeps
from sweep.gather import gather
from sweep.store import Store

RANKS = ("communication_ps", "compute_ps", "waiting_ps", "messages_sent", "bytes_sent", "crossings", "events")


def result(number: int) -> dict:
    """As large as that of a ring of four ranks with --mpi-calls."""
    metrics = {f"ranks.{name}.{how}": number * 7 + place for place, name in enumerate(RANKS) for how in ("sum", "max")}
    metrics |= {f"totals.{name}": number for name in ("messages", "bytes", "crossings", "polls_answered", "events")}
    metrics |= {"simulated_ps": 10**9 + number, "simulated_s": (10**9 + number) / 1e12, "timeline_events": number}
    return {
        "point": number, "began": 1.0, "ended": 2.0, "context": "c", "host": "h", "who": {"host": "n"}, "exit_code": 0,
        "metrics": metrics, "host_metrics": {"wall_s": 0.1 + number, "cpu_s": 0.1, "memory": 10**8, "host.load": 1.0},
        "functions": [[name, 4, 8, number, 1, 0] for name in ("MPI_Init", "MPI_Sendrecv", "MPI_Finalize")],
        "pairs": [[rank, (rank + 1) % 4, 1, 8] for rank in range(4)], "links": [],
    }  # fmt: skip


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    directory = pathlib.Path(tempfile.mkdtemp(prefix="umwelt-sweep-bench-"))
    try:
        (directory / "app").write_text("#!/bin/sh\n", encoding="utf-8")
        design = directory / "design.yaml"
        design.write_text("program: ./app\narguments: '{a} {b}'\nfactors:\n"
                          f"  a: {list(range(100))}\n  b: {list(range(count // 100))}\n", encoding="utf-8")  # fmt: skip
        store = Store(directory / "sweep")
        began = time.monotonic()
        sweeps.begin(sweeps.examine(design, UMWELT), store, UMWELT)
        print(f"{count:,} points: planned in {time.monotonic() - began:.1f} s")
        for number in range(count):
            path = store.result_path(number)
            if number % 1000 == 0:
                path.parent.mkdir(parents=True)
            path.write_text(json.dumps(result(number)), encoding="utf-8")
        began, cpu = time.monotonic(), time.process_time()
        states = gather(store)
        print(f"gathered in {time.monotonic() - began:.1f} s ({time.process_time() - cpu:.1f} s of CPU time), "
              f"{os.path.getsize(store.path / 'results.db') / 1e6:.0f} MB: {dict(states)}")  # fmt: skip
        return 0
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
