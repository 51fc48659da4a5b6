#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Benchmarks of many ranks and many processes; see README.md beside this file.

    scale.py BUILD PART... [--json FILE] [--markdown FILE]     PART: start, mix, gain, crossing, or all
"""

import argparse
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import common  # noqa: E402
from common import MARK, Failure, job_processes  # noqa: E402

MIB = 1 << 20


class Bench:
    def __init__(self, build, limit):
        self.umwelt = str(build / "bin" / "umwelt")
        self.programs = build / "tests" / "bench"
        self.limit = limit
        help_text = subprocess.run([self.umwelt, "run", "--help"], capture_output=True, text=True, check=True).stdout
        self.has_workers = "--workers" in help_text

    def program(self, name):
        path = self.programs / name
        if not path.exists():
            raise Failure(f"{path}: expected a program, got none. Build the release preset with UMWELT_BENCHMARKS=ON")
        return str(path)

    def workers(self, count):
        """The option, or none where there are no workers and none are asked for."""
        if self.has_workers:
            return ["--workers", str(count)]
        if count in (0, "auto"):
            return []
        raise Failure(f"--workers {count}: this umwelt run has no such option")

    def run(self, options, program, arguments=(), halfway=None, own_report=True):
        """One run. `halfway` is called with all processes of the job standing still, for programs that write and read
        a byte then (start.c); the time it takes is not counted."""
        with tempfile.TemporaryDirectory(prefix="umwelt-bench-") as directory:
            report = pathlib.Path(directory) / "report.json"
            command = [self.umwelt, "run", "-q", *options]
            command += ["--report", str(report)] if own_report else []
            command += [self.program(program), *map(str, arguments)]
            if halfway:
                command.append("wait")
            with open(pathlib.Path(directory) / "stderr", "w+b") as errors:
                begin = time.monotonic()
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE if halfway else subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env={**os.environ, MARK: directory},
                )
                signal.signal(signal.SIGALRM, lambda *_: process.kill())
                signal.alarm(self.limit)
                aside, seen = 0.0, None
                if halfway:
                    if not process.stdout.read(1):
                        raise Failure(failed(command, process.wait(), errors))
                    stopped = time.monotonic()
                    seen = halfway(job_processes(directory))
                    process.stdin.write(b"x")
                    process.stdin.close()
                    aside = time.monotonic() - stopped
                output = process.stdout.read().decode()
                _, status, usage = os.wait4(process.pid, 0)
                wall = time.monotonic() - begin - aside
                signal.alarm(0)
                process.returncode = os.waitstatus_to_exitcode(status)
                process.stdout.close()
                if process.returncode != 0:
                    raise Failure(failed(command, process.returncode, errors))
            result = {
                "wall_seconds": wall,
                "cpu_seconds": usage.ru_utime + usage.ru_stime,
                "output": output,
                "seen": seen,
            }
            if own_report:
                facts = json.loads(report.read_text())
                result["simulated_seconds"] = facts["simulated_ps"] * 1e-12
                result["messages"] = facts["totals"]["messages"]
                result["crossings"] = facts["totals"]["crossings"]
            return result


def failed(command, code, errors):
    errors.seek(0)
    return (
        f"{' '.join(command)}: expected exit code 0, got {code} and\n{errors.read().decode(errors='replace')[-2000:]}"
    )


def memory_of(processes):
    """What the processes hold in memory together. Pss: pages shared by k processes count as 1/k in each."""
    pss = rss = ticks = 0
    for process in processes:
        for line in (process / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                pss += int(line.split()[1]) * 1024
            elif line.startswith("Rss:"):
                rss += int(line.split()[1]) * 1024
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return {
        "processes": len(processes),
        "pss_bytes": pss,
        "rss_bytes": rss,
        "cpu_seconds_so_far": ticks / os.sysconf("SC_CLK_TCK"),
    }


# --- the parts --------------------------------------------------------------------------------------------------------


def start(bench, options):
    """MPI_Init, barrier, reduction, MPI_Finalize."""
    rows = []
    for ranks in options.ranks:
        if ranks > 15 and not bench.has_workers:
            print(f"start: {ranks} ranks left out, this umwelt run has no workers", file=sys.stderr)
            continue
        workers = bench.workers(options.workers)
        run = bench.run(["-np", str(ranks), "--cpu", "none", *workers], "scale/start", halfway=memory_of)
        seen = run["seen"]
        rows.append(
            {
                "ranks": ranks,
                "processes": seen["processes"],
                "wall_seconds": run["wall_seconds"],
                "cpu_seconds": run["cpu_seconds"],
                "cpu_seconds_until_reduction": seen["cpu_seconds_so_far"],
                "wall_ms_per_rank": 1e3 * run["wall_seconds"] / ranks,
                "cpu_ms_per_rank": 1e3 * run["cpu_seconds"] / ranks,
                "pss_mib_per_rank": seen["pss_bytes"] / ranks / MIB,
                "rss_mib_per_rank": seen["rss_bytes"] / ranks / MIB,
                "simulated_seconds": run["simulated_seconds"],
                "crossings": run["crossings"],
            }
        )
        progress("start", rows[-1])
    flat = {}
    by_ranks = {row["ranks"]: row for row in rows}
    if 64 in by_ranks and 1024 in by_ranks:
        for key in ("wall_ms_per_rank", "cpu_ms_per_rank", "pss_mib_per_rank", "rss_mib_per_rank"):
            flat[key] = by_ranks[1024][key] / by_ranks[64][key]
    return {"rows": rows, "from_64_to_1024": flat}


def mix(bench, options):
    """A bit of everything, as HPC Challenge."""
    ranks = options.mix_ranks
    if ranks > 15 and not bench.has_workers:
        raise Failure(f"mix: {ranks} ranks need workers, which this umwelt run does not have; try --mix-ranks 15")
    rows = []
    for policy in ("none", "measured"):
        run = bench.run(
            ["-np", str(ranks), "--cpu", policy, *bench.workers(options.workers)], "scale/mix", [options.mix_scale]
        )
        rows.append(
            {
                "ranks": ranks,
                "cpu_policy": policy,
                "wall_seconds": run["wall_seconds"],
                "cpu_seconds": run["cpu_seconds"],
                "simulated_seconds": run["simulated_seconds"],
                "messages": run["messages"],
                "crossings": run["crossings"],
                "parts": {line[:14].strip(): float(line[14:].split()[0]) for line in run["output"].splitlines()},
            }
        )
        progress("mix", rows[-1])
    return {"rows": rows}


def gain(bench, options):
    """Ranks that compute, on one core and on two. The two kinds of run alternate: what else the machine does hits
    both."""
    calibrated = subprocess.run(
        [bench.program("scale/compute"), "--calibrate"], capture_output=True, text=True, check=True
    )
    arguments = [options.gain_seconds, options.gain_rounds, calibrated.stdout.strip()]
    jobs = {1: ["-j", "1"], 2: ["-j", "2"]} if bench.has_workers else {1: []}
    if not bench.has_workers:
        print("gain: one core only, this umwelt run has no option -j", file=sys.stderr)
    runs = {count: [] for count in jobs}
    for _ in range(options.repeat):
        for count, extra in jobs.items():
            workers = bench.workers(options.gain_workers if bench.has_workers else 0)
            run = bench.run(
                ["-np", str(options.gain_ranks), "--cpu", "measured", *workers, *extra], "scale/compute", arguments
            )
            run["computing"] = float(run["output"])
            runs[count].append(run)
            progress(
                "gain", {"jobs": count, "wall_seconds": run["wall_seconds"], "simulated_seconds": run["computing"]}
            )
    rows = [
        {
            "jobs": count,
            "ranks": options.gain_ranks,
            "wall_seconds": median(kind, "wall_seconds"),
            "cpu_seconds": median(kind, "cpu_seconds"),
            "simulated_seconds": median(kind, "computing"),
            "simulated_spread": spread(kind, "computing"),
        }
        for count, kind in runs.items()
    ]
    result = {"rows": rows, "repeat": options.repeat}
    if len(rows) == 2:
        result["wall_clock_gain"] = rows[0]["wall_seconds"] / rows[1]["wall_seconds"]
        result["simulated_difference"] = rows[1]["simulated_seconds"] / rows[0]["simulated_seconds"] - 1
        result["simulated_noise"] = max(row["simulated_spread"] for row in rows)
    return result


def crossing(bench, options):
    """CPU time of an 8-byte MPI message, ranks in the runtime's process and in workers; start-up cancels."""
    few, many = 10, options.crossing_rounds
    found = {}
    for _ in range(options.repeat):
        for workers in (0, 2) if bench.has_workers else (0,):
            short, long = (
                bench.run(["-np", "2", "--cpu", "none", *bench.workers(workers)], "pingpong", [rounds, 8])
                for rounds in (few, many)
            )
            messages = 2 * (many - few)
            crossings = (long["crossings"] - short["crossings"]) / messages
            found.setdefault(workers, []).append(
                {
                    "cpu_us_per_message": 1e6 * (long["cpu_seconds"] - short["cpu_seconds"]) / messages,
                    "wall_us_per_message": 1e6 * (long["wall_seconds"] - short["wall_seconds"]) / messages,
                    "crossings_per_message": crossings,
                }
            )
            progress("crossing", {"workers": workers, **found[workers][-1]})
    rows = [{"workers": workers, **{key: median(runs, key) for key in runs[0]}} for workers, runs in found.items()]
    result = {"rows": rows, "repeat": options.repeat}
    if len(rows) == 2:
        for kind in ("cpu", "wall"):
            more = rows[1][f"{kind}_us_per_message"] - rows[0][f"{kind}_us_per_message"]
            result[f"{kind}_us_more_per_crossing"] = more / rows[1]["crossings_per_message"]
    return result


PARTS = {"start": start, "mix": mix, "gain": gain, "crossing": crossing}


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def spread(runs, key):
    """Largest minus smallest, as a fraction of the median."""
    values = [run[key] for run in runs]
    return (max(values) - min(values)) / statistics.median(values)


def progress(part, row):
    print(
        f"{part}: " + ", ".join(f"{key} {show(value)}" for key, value in row.items() if not isinstance(value, dict)),
        file=sys.stderr,
        flush=True,
    )


# --- output -----------------------------------------------------------------------------------------------------------


def show(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def markdown(results):
    lines = [common.machine_text(results["machine"]), ""]
    for part, result in results["parts"].items():
        rows = [{key: value for key, value in row.items() if not isinstance(value, dict)} for row in result["rows"]]
        lines += [f"## {part}", "", PARTS[part].__doc__.splitlines()[0], ""]
        if rows:
            lines += ["| " + " | ".join(key.replace("_", " ") for key in rows[0]) + " |", "|" + "---|" * len(rows[0])]
            lines += ["| " + " | ".join(show(value) for value in row.values()) + " |" for row in rows]
            lines.append("")
        for key, value in result.items():
            if isinstance(value, dict):
                lines += [
                    f"- {key.replace('_', ' ')}, {name.replace('_', ' ')}: {show(number)}"
                    for name, number in value.items()
                ]
            elif key != "rows":
                lines.append(f"- {key.replace('_', ' ')}: {show(value)}")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build directory, for example build/release")
    parser.add_argument("part", nargs="+", choices=[*PARTS, "all"])
    common.add_outputs(parser)
    parser.add_argument("--workers", default="auto", help="for start and mix (default: auto)")
    parser.add_argument(
        "--ranks",
        type=lambda text: [int(word) for word in text.split(",")],
        default=[16, 64, 256, 1024],
        help="for start (default: 16,64,256,1024)",
    )
    parser.add_argument("--mix-ranks", type=int, default=128)
    parser.add_argument("--mix-scale", type=int, default=4, help="rounds of mix, times this (default: 4)")
    parser.add_argument("--gain-ranks", type=int, default=8)
    parser.add_argument("--gain-workers", type=int, default=2)
    parser.add_argument("--gain-seconds", type=float, default=2, help="CPU time of each rank (default: 2)")
    parser.add_argument("--gain-rounds", type=int, default=10, help="reductions in between (default: 10)")
    parser.add_argument("--crossing-rounds", type=int, default=50000)
    parser.add_argument(
        "--repeat", type=int, default=5, help="runs of gain and crossing, of which medians are taken (default: 5)"
    )
    parser.add_argument("--limit", type=int, default=600, help="seconds after which a run is ended (default: 600)")
    options = parser.parse_args()
    try:
        bench = Bench(options.build.absolute(), options.limit)
        results = {"machine": common.machine(), "parts": {}}
        for part in PARTS:
            if part in options.part or "all" in options.part:
                results["parts"][part] = PARTS[part](bench, options)
    except (Failure, OSError, subprocess.SubprocessError) as error:
        print(f"scale.py: {error}", file=sys.stderr)
        return 1
    common.write_outputs(options, results, markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
