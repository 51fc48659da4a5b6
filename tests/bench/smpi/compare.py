#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Umwelt beside SMPI: the same MPI source, the same platform, runs in turns; see README.md beside this file.

    compare.py BUILD [--rows NAME,...] [--ranks N,...] [--json FILE] [--markdown FILE] [--plot FILE.svg]
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import common  # noqa: E402
from common import MARK, Failure, job_processes  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
MIB = 1 << 20
NODES = 43 * 24
# Both read this file: the default platform of Umwelt, a fat tree of BXI switches, as SimGrid writes it.
# SimGrid 4.0 crashes on a fat tree that is in no zone.
PLATFORM = f"""<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <cluster id="cluster" prefix="node" suffix="" radical="0-{NODES - 1}" speed="1Gf" bw="12.5GBps" lat="100ns"
             topology="FAT_TREE" topo_parameters="2;24,43;1,24;1,1" sharing_policy="SPLITDUPLEX"/>
  </zone>
</platform>
"""


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    ranks: int
    size: int  # bytes
    messages: float = 1  # a call is divided by this; 1: the figure is per call
    unit: str = "call"
    goal: float | None = None  # for the ratio
    by: str = "cpu"  # what the ratio compares
    umwelt: tuple = ()  # options besides --cpu
    measured: bool = False  # computing takes simulated time, in both

    def title(self):
        return " ".join(
            [self.name, *([size_text(self.size)] if self.size else []), *(["measured"] if self.measured else []),
             *(["modelled"] if "--collectives" in self.umwelt else [])]
        )


@dataclasses.dataclass
class Run:
    cpu: float
    wall: float
    simulated_us: float = 0
    memory: int = 0


def size_text(size):
    for unit, name in ((MIB, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def all_rows():
    sizes = (8, 1 << 10, 64 << 10, MIB)
    small = lambda size: 0.8 if size < MIB else 0.7
    rows = [Row("start", ranks, 0, goal=None, unit="run") for ranks in (2, 128)]
    rows += [Row("pingpong", 2, size, 2, "message", small(size)) for size in sizes]
    for ranks in (2, 8, 64, 128):
        for size in sizes:
            goal = small(size) if ranks == 2 or size == MIB else 1.0 if (ranks, size) == (128, 8) else None
            # 64 messages and an answer from each of ranks / 2
            rows.append(Row("bandwidth", ranks, size, 65 * ranks / 2, "message", goal))
    for ranks in (8, 16, 64, 128):
        rows.append(Row("barrier", ranks, 0))
        for size in sizes:
            rows.append(Row("bcast", ranks, size))
            rows.append(Row("allreduce", ranks, size, goal=1.0 if (ranks, size) == (64, 8) else None))
            if size == 8:
                goal = 0.15 if ranks == 64 else None
                rows.append(Row("allreduce", ranks, size, goal=goal, umwelt=("--collectives", "zero")))
            if 2 * ranks * ranks * size <= 4 << 30:
                goal = {(64, 1 << 10): 0.05, (128, 64 << 10): 0.05}.get((ranks, size))
                rows.append(Row("alltoall", ranks, size, goal=goal))
    rows += [Row("stencil", ranks, 1024) for ranks in (8, 64)]
    rows += [Row(name, ranks, 8) for name in ("test", "iprobe") for ranks in (2, 64)]
    rows += [
        Row("compute", 8, 2048, goal=0.6, by="wall", umwelt=("-j", "2"), measured=measured)
        for measured in (False, True)
    ]
    rows.append(Row("bandwidth", 1024, 8, 65 * 512, "message"))  # last: it takes minutes
    return rows


class Tool:
    def __init__(self, name, directory, limit):
        self.name, self.directory, self.limit = name, directory, limit

    def run(self, row, calls, watch=None):
        """One run of the program."""
        with open(self.directory / "stderr", "w+b") as errors:
            command = [*self.command(row), str(self.program), row.name, str(calls), str(row.size)]
            begin = time.monotonic()
            # A group of its own: what a run leaves behind ends with it.
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self.directory,
                start_new_session=True,
                env={**os.environ, MARK: str(self.directory), "TMPDIR": str(self.directory)},
            )
            alarm = threading.Timer(self.limit, os.killpg, (process.pid, signal.SIGKILL))
            alarm.start()
            peak = watch(str(self.directory), process) if watch else 0
            output = process.stdout.read().decode()
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.monotonic() - begin
            alarm.cancel()
            process.stdout.close()
            process.returncode = os.waitstatus_to_exitcode(status)
            figures = re.findall(r"^\d+\.\d+$", output, re.MULTILINE)
            if process.returncode != 0 or len(figures) != 1:
                errors.seek(0)
                raise Failure(
                    f"{' '.join(command)}: expected exit code 0 and one figure, got {process.returncode} and "
                    f"{output[-200:]!r}\n{errors.read().decode(errors='replace')[-1500:]}"
                )
        return Run(usage.ru_utime + usage.ru_stime, wall, float(figures[0]), peak)


class Umwelt(Tool):
    def __init__(self, build, directory, limit):
        super().__init__("umwelt", directory, limit)
        self.umwelt = build / "bin" / "umwelt"
        self.program = directory / "rows.mpi"
        compile_with("mpicc.openmpi", self.program)

    def command(self, row):
        return [
            str(self.umwelt),
            "run",
            "-q",
            "-np",
            str(row.ranks),
            "--platform",
            "platform.xml",
            "--cpu",
            "measured" if row.measured else "none",
            *row.umwelt,
        ]


class Smpi(Tool):
    def __init__(self, directory, limit):
        super().__init__("smpi", directory, limit)
        self.program = directory / "rows.smpi"
        compile_with("smpicc", self.program)

    def command(self, row):
        return [
            "smpirun",
            "-np",
            str(row.ranks),
            "-platform",
            "platform.xml",
            "-hostfile",
            "hosts",
            f"--cfg=smpi/simulate-computation:{'yes' if row.measured else 'no'}",
            "--cfg=smpi/host-speed:1Gf",
            "--log=root.thres:critical",
        ]


def compile_with(compiler, program):
    if shutil.which(compiler) is None:
        raise Failure(f"{compiler}: expected the MPI compiler, got none. Install what ci/packages --list names")
    subprocess.run(
        [compiler, "-O2", "-o", str(program), str(HERE / "rows.c"), "-lm"], check=True, stdout=subprocess.DEVNULL
    )


def peak_memory(mark, process):
    """Bytes of Pss (pages shared by k processes count as 1/k in each) of all processes of the run together, looked at
    every 10 ms; less often
    where looking takes long (it stops a process of many mappings meanwhile)."""
    peak = 0
    while True:
        total = 0
        begin = time.monotonic()
        for entry in job_processes(mark):
            with contextlib.suppress(OSError):
                found = re.search(r"^Pss: *(\d+)", (entry / "smaps_rollup").read_text(), re.MULTILINE)
                total += int(found[1]) * 1024 if found else 0
        peak = max(peak, total)
        # Not reaped here: wait4 is to tell what it used.
        if os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            return peak
        time.sleep(max(0.01, 9 * (time.monotonic() - begin)))


# --- measuring --------------------------------------------------------------------------------------------------------


def enough_calls(tool, row, target):
    """As many calls as take about `target` seconds, or as long as the start; those too short to tell from the start
    are tried again with
    more."""
    start_up = tool.run(row, 1).cpu
    if start_up > 15 * max(target, 1):  # minutes, if looked at as closely as the others
        again = tool.run(row, 2).cpu
        if again > 1.3 * start_up:  # most of that was the call
            return 2
        start_up = min(start_up, again)
        more = tool.run(row, 32).cpu - start_up
        return max(2, int(31 * start_up / max(more, start_up / 4)))
    start_up = min(start_up, tool.run(row, 1).cpu)
    target = max(target, start_up)
    calls = 1
    while True:
        more = tool.run(row, calls).cpu - start_up
        if more > target / 4:  # the machine may have been busy otherwise
            more = min(more, tool.run(row, calls).cpu - start_up)
        if more > target / 4 or calls >= 10_000_000:
            return max(2, min(10_000_000, int(calls * target / more)))
        calls *= 16


def measure(row, tools, options):
    if row.name == "start":
        runs = {tool.name: [tool.run(row, 1) for _ in range(options.repeat)] for tool in tools}
        figures = {
            name: {
                "calls": 1,
                "cpu_us": 1e6 * median(each, "cpu"),
                "wall_us": 1e6 * median(each, "wall"),
                "runs": len(each),
            }
            for name, each in runs.items()
        }
    else:
        many = {tool.name: enough_calls(tool, row, options.target) for tool in tools}
        few = {name: max(1, calls // 20) for name, calls in many.items()}
        found = {tool.name: [] for tool in tools}
        begin = time.monotonic()
        while len(found[tools[-1].name]) < options.repeat and (
            time.monotonic() - begin < options.patience or not found[tools[-1].name]
        ):
            for tool in tools:
                short = tool.run(row, few[tool.name])
                long = tool.run(row, many[tool.name])
                units = (many[tool.name] - few[tool.name]) * row.messages
                found[tool.name].append(
                    Run((long.cpu - short.cpu) / units, (long.wall - short.wall) / units, long.simulated_us)
                )
        figures = {
            name: {
                "calls": many[name],
                "cpu_us": 1e6 * median(each, "cpu"),
                "wall_us": 1e6 * median(each, "wall"),
                "simulated_us_per_call": median(each, "simulated_us"),
                "runs": len(each),
            }
            for name, each in found.items()
        }
    for tool in tools:
        figures[tool.name]["memory_mib"] = tool.run(row, figures[tool.name]["calls"], peak_memory).memory / MIB
    result = {
        "row": row.title(),
        "name": row.name,
        "ranks": row.ranks,
        "bytes": row.size,
        "unit": row.unit,
        "goal": row.goal,
        "compares": row.by,
        "umwelt_options": list(row.umwelt),
        **figures,
    }
    if len(tools) == 2:
        key = f"{row.by}_us"
        result["ratio"] = figures["umwelt"][key] / figures["smpi"][key]
    return result


def median(runs, key):
    return statistics.median(getattr(run, key) for run in runs)


# --- output -----------------------------------------------------------------------------------------------------------


def show(number):
    return "" if number is None else f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}"


def verdict(row):
    if row["goal"] is None or "ratio" not in row:
        return ""
    return "met" if row["ratio"] <= row["goal"] else "**not met**"


def markdown(results):
    lines = [
        f"{common.machine_text(results['machine'])}; SimGrid {results['simgrid']}; "
        f"medians of {results['repeat']} pairs of runs, "
        f"in turns (fewer where those took more than {results['patience']:.0f} s). "
        "Microseconds per unit, start-up subtracted.",
        "",
        "| row | ranks | per | Umwelt CPU | SMPI CPU | Umwelt wall | SMPI wall | "
        "Umwelt MiB | SMPI MiB | ratio | goal | |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in results["rows"]:
        umwelt, smpi = row["umwelt"], row.get("smpi", {})
        workers = [
            row["row"] + (f" ({' '.join(row['umwelt_options'])}, wall-clock)" if row["compares"] == "wall" else ""),
            str(row["ranks"]),
            row["unit"],
            *(show(each.get(key)) for key in ("cpu_us", "wall_us", "memory_mib") for each in (umwelt, smpi)),
            show(row.get("ratio")),
            show(row["goal"]),
            verdict(row),
        ]
        lines.append("| " + " | ".join(workers) + " |")
    return "\n".join(lines) + "\n"


def plot(results, path):
    """Ratio per row, as a chart by gnuplot."""
    rows = [row for row in results["rows"] if "ratio" in row]
    if shutil.which("gnuplot") is None:
        raise Failure(
            "gnuplot: expected the program, got none. Install what ci/packages --list names, or leave --plot out"
        )
    data = "\n".join(
        f'{i} {row["ratio"]} {row["goal"] or "NaN"} "{row["row"]}, {row["ranks"]} ranks"' for i, row in enumerate(rows)
    )
    script = f"""$data << EOD
{data}
EOD
set terminal svg size 900,{120 + 18 * len(rows)} font "sans,11" background "white"
set output "{path}"
set logscale x
set xlabel "CPU time of Umwelt / CPU time of SMPI (left of 1: Umwelt is faster)"
set yrange [{len(rows) - 0.3}:-0.7]
set grid x
set arrow from 1, graph 0 to 1, graph 1 nohead lc "gray" lw 2
plot $data using 2:1:ytic(4) with points pt 7 ps 0.8 lc rgb "#1f6fb2" title "ratio", \\
     $data using 3:1 with points pt 2 ps 0.8 lc rgb "#c0392b" title "goal"
"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def simgrid():
    version = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Version}", "libsimgrid-dev"],
        capture_output=True,
        text=True,
        check=False,
    )
    return version.stdout or "unknown"


def numbers(text):
    return [int(word) for word in text.split(",")]


def chosen(rows, options):
    names = {row.name for row in rows}
    for name in options.rows or []:
        if name not in names:
            raise Failure(f"--rows {name}: expected some of {', '.join(sorted(names))}")
    rows = [
        row
        for row in rows
        if (not options.rows or row.name in options.rows)
        and (not options.ranks or row.ranks in options.ranks)
        and (not options.bytes or row.size in options.bytes)
        and (not options.goals or row.goal is not None)
    ]
    if not rows:
        raise Failure("no row has these ranks and bytes")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build directory, for example build/release")
    parser.add_argument("--rows", type=lambda text: text.split(","), help="only these")
    parser.add_argument("--ranks", type=numbers, help="only with so many ranks")
    parser.add_argument("--bytes", type=numbers, help="only of these sizes")
    parser.add_argument("--goals", action="store_true", help="only rows with a goal")
    parser.add_argument("--only-umwelt", action="store_true", help="without SMPI: the effect of a change")
    parser.add_argument("--repeat", type=int, default=3, help="pairs of runs, of which medians are taken (default: 3)")
    parser.add_argument(
        "--patience", type=float, default=60, help="seconds after which a row begins no further pair (default: 60)"
    )
    parser.add_argument(
        "--target", type=float, default=1, help="seconds that the calls of a run shall take (default: 1)"
    )
    parser.add_argument("--limit", type=int, default=600, help="seconds after which a run is ended (default: 600)")
    common.add_outputs(parser)
    parser.add_argument("--plot", type=pathlib.Path, help="write a chart of the ratios there (SVG)")
    options = parser.parse_args()
    try:
        rows = chosen(all_rows(), options)
        # In memory where possible: what a disk does is neither's.
        in_memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        with tempfile.TemporaryDirectory(prefix="umwelt-smpi-", dir=in_memory) as name:
            directory = pathlib.Path(name)
            (directory / "platform.xml").write_text(PLATFORM)
            (directory / "hosts").write_text("".join(f"node{i}\n" for i in range(NODES)))
            tools = [Umwelt(options.build.absolute(), directory, options.limit)]
            if not options.only_umwelt:
                tools.append(Smpi(directory, options.limit))
            results = {
                "machine": common.machine(),
                "simgrid": simgrid(),
                "repeat": options.repeat,
                "patience": options.patience,
                "rows": [],
            }
            for row in rows:
                results["rows"].append(measure(row, tools, options))
                print(
                    f"{row.title()}, {row.ranks} ranks: "
                    + ", ".join(
                        f"{tool.name} {show(results['rows'][-1][tool.name]['cpu_us'])} us CPU" for tool in tools
                    )
                    + (f", ratio {show(results['rows'][-1]['ratio'])}" if len(tools) == 2 else ""),
                    file=sys.stderr,
                    flush=True,
                )
                if options.json:
                    options.json.write_text(json.dumps(results, indent=2) + "\n")
        common.write_outputs(options, results, markdown)
        if options.plot:
            plot(results, options.plot)
    except (Failure, OSError, subprocess.SubprocessError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
