#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The fabrics under the NIC of bxi side by side: the same programs on occupancy, flow and packet; README.md beside this
file.

    fabrics.py BUILD [--json FILE] [--markdown FILE] [--plot FILE]
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import common  # noqa: E402
import contention  # noqa: E402: the patterns and what a link needs for them
from scale import scale  # noqa: E402: runs of umwelt and what they cost

# Columns: options of umwelt run. The last is the packets' again, with virtual channels that flows share by target.
FABRICS = {
    "occupancy": ["--fabric", "occupancy"],
    "flow": ["--fabric", "flow"],
    "packet": ["--fabric", "packet"],
    "packet, 4 VCs": ["--fabric", "packet", "--nic", "fabric_vcs=4"],
}
TREES = {16: (4, 2), 64: (8, 4)}  # nodes: per leaf, spines; half as many cables up as down
# What hpcc says of its messages; names as in its output.
HPCC = {
    "MinPingPongLatency_usec": "us",
    "MaxPingPongBandwidth_GBytes": "GB/s",
    "NaturallyOrderedRingLatency_usec": "us",
    "RandomlyOrderedRingLatency_usec": "us",
    "NaturallyOrderedRingBandwidth_GBytes": "GB/s",
    "RandomlyOrderedRingBandwidth_GBytes": "GB/s",
}


def options_of(nodes, fabric):
    leaf, spines = TREES[nodes]
    machine = f"bxi:leaf={leaf},spines={spines}"
    return ["-np", str(nodes), "--cpu", "none", "--platform", machine, *FABRICS[fabric]]


def patterns(bench, choice, directory):
    rows = []
    file = directory / "pattern"
    for nodes in choice.nodes:
        for name in choice.patterns:
            pairs = contention.PATTERNS[name](nodes)
            file.write_text("".join(f"{source} {target}\n" for source, target in pairs))
            for size in choice.sizes:
                least = contention.busiest_link(pairs, *TREES[nodes]) * contention.wire_us(size)
                row = {"pattern": name, "nodes": nodes, "bytes": size, "busiest link": least, "fabrics": {}}
                for fabric in FABRICS:
                    run = bench.run(options_of(nodes, fabric), "contention/messages", [file, size])
                    last, mean = map(float, run["output"].split())
                    if last < least:
                        raise common.Failure(
                            f"{name}, {nodes} nodes, {size} B, {fabric}: expected the last message not before "
                            f"{least:.3f} us, what the busiest link needs, got {last:.3f} us"
                        )
                    row["fabrics"][fabric] = {"last": last, "mean": mean, "cpu_seconds": run["cpu_seconds"]}
                rows.append(row)
                scale.progress("patterns", row)
    return rows


def hpcc(bench, choice, directory):
    """HPC Challenge of Debian, small: its rings and ping-pongs, and when all of it was done."""
    program = shutil.which("hpcc")
    if program is None:
        raise common.Failure("hpcc: expected the program, got none. Install what ci/packages --list names")
    template = (HERE.parent.parent / "mpi" / "hpccinf.txt.in").read_text()
    rows = []
    for nodes in choice.nodes:
        side = round(nodes**0.5)
        row = {"nodes": nodes, "fabrics": {}}
        for fabric in FABRICS:
            for old in directory.glob("hpccoutf*"):
                old.unlink()
            filled = template.replace("@N@", str(choice.order)).replace("@P@", str(side)).replace("@Q@", str(side))
            (directory / "hpccinf.txt").write_text(filled)
            run = bench.run(options_of(nodes, fabric), program)
            said = dict(
                line.split("=", 1) for line in (directory / "hpccoutf.txt").read_text().splitlines() if "=" in line
            )
            if said.get("Success") != "1":
                raise common.Failure(f"hpcc, {nodes} nodes, {fabric}: expected Success=1, got {said.get('Success')}")
            row["fabrics"][fabric] = {
                **{key: float(said[key]) for key in HPCC},
                "simulated_seconds": run["simulated_seconds"],
                "cpu_seconds": run["cpu_seconds"],
            }
        rows.append(row)
        scale.progress("hpcc", row)
    return rows


# --- output -----------------------------------------------------------------------------------------------------------


def head(*names):
    return ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]


def number(value):
    return f"{value:,.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


def beside(row, of):
    """The value of occupancy, and the others as shares of it."""
    base = of(row["fabrics"]["occupancy"])
    return [number(base)] + [f"{of(row['fabrics'][name]) / base:.2f}" for name in FABRICS if name != "occupancy"]


def markdown(results):
    others = [name for name in FABRICS if name != "occupancy"]
    lines = head("pattern, nodes", "size", "busiest link", "last: occupancy", *others, "mean: occupancy", *others)
    for row in results["patterns"]:
        cells = [f"{row['pattern']}, {row['nodes']}", size_text(row["bytes"]), number(row["busiest link"])]
        cells += beside(row, lambda found: found["last"]) + beside(row, lambda found: found["mean"])
        lines.append("| " + " | ".join(cells) + " |")
    lines += ["", *head("hpcc, nodes", "figure", "occupancy", *others)]
    for row in results["hpcc"]:
        for key, unit in {**HPCC, "simulated_seconds": "s"}.items():
            cells = [str(row["nodes"]), f"{key.rsplit('_', 1)[0]} ({unit})"]
            lines.append("| " + " | ".join(cells + beside(row, lambda found, key=key: found[key])) + " |")
    lines += ["", *head("CPU seconds of all runs", *FABRICS)]
    for part in ("patterns", "hpcc"):
        for nodes in sorted({row["nodes"] for row in results[part]}):
            mine = [row for row in results[part] if row["nodes"] == nodes]
            sums = [sum(row["fabrics"][name]["cpu_seconds"] for row in mine) for name in FABRICS]
            lines.append(f"| {part}, {nodes} nodes | " + " | ".join(f"{value:.1f}" for value in sums) + " |")
    return "\n".join(lines) + "\n"


def size_text(size):
    return f"{size >> 20} MiB" if size % (1 << 20) == 0 else f"{size >> 10} KiB"


def plot(results, path):
    """Times over those of occupancy: last messages above, means below."""
    if shutil.which("gnuplot") is None:
        raise common.Failure("gnuplot: expected the program, got none. Install what ci/packages --list names")
    rows = results["patterns"]
    blocks, panels = [], []
    colours = ("#dd7711", "#0060ad", "#559933")
    others = [name for name in FABRICS if name != "occupancy"]
    for which in ("last", "mean"):
        data = []
        for i, row in enumerate(rows):
            base = row["fabrics"]["occupancy"][which]
            shares = " ".join(f"{row['fabrics'][name][which] / base:.4f}" for name in others)
            data.append(f'{i} {shares} "{row["pattern"]}, {row["nodes"]}, {size_text(row["bytes"])}"')
        blocks.append(f"${which} << EOD\n" + "\n".join(data) + "\nEOD\n")
        series = ", ".join(
            f"${which} using {i + 2}:1:ytic({len(others) + 2}) with points pt {(7, 5, 4)[i]} ps 0.5 "
            f"lc rgb '{colours[i]}' title '{name}'"
            for i, name in enumerate(others)
        )
        panels.append(f"set title '{which} message: time / that of occupancy'\nplot {series}\n")
    script = f"""{''.join(blocks)}
set terminal svg size 1000,{140 + 13 * len(rows)} font 'sans-serif,10' name 'figure' background 'white'
set output '{path}'
set multiplot layout 1,2
set grid lc rgb '#dddddd' lw 0.5
set yrange [{len(rows) - 0.3}:-0.7]
set key below
set arrow from 1, graph 0 to 1, graph 1 nohead lc 'gray' lw 1
{''.join(panels)}"""
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build directory, for example build/release")
    common.add_outputs(parser)
    parser.add_argument("--plot", type=pathlib.Path, help="draw the patterns' times there, as SVG")
    parser.add_argument("--sizes", type=contention.numbers, default="8KiB,64KiB", help="(%(default)s)")
    parser.add_argument("--nodes", type=contention.numbers, default="16,64", help="of 16 and 64 (%(default)s)")
    parser.add_argument(
        "--patterns",
        type=lambda text: text.split(","),
        default=",".join(contention.PATTERNS),
        help="(%(default)s)",
    )
    parser.add_argument("--parts", type=lambda text: text.split(","), default="patterns,hpcc", help="(%(default)s)")
    parser.add_argument("--order", type=int, default=256, help="of hpcc's matrices (%(default)s)")
    parser.add_argument("--limit", type=int, default=900, help="seconds after which a run is ended (%(default)s)")
    choice = parser.parse_args()
    for name in ("json", "markdown", "plot"):
        if getattr(choice, name) is not None:
            setattr(choice, name, getattr(choice, name).absolute())
    try:
        bench = scale.Bench(choice.build.absolute(), choice.limit)
        with tempfile.TemporaryDirectory(prefix="umwelt-fabrics-") as name:
            directory = pathlib.Path(name)
            os.chdir(directory)  # hpcc reads and writes where it stands
            results = {
                "machine": common.machine(),
                "patterns": patterns(bench, choice, directory) if "patterns" in choice.parts else [],
                "hpcc": hpcc(bench, choice, directory) if "hpcc" in choice.parts else [],
            }
            os.chdir("/")
        if choice.plot:
            plot(results, choice.plot)
    except (common.Failure, OSError, subprocess.SubprocessError) as error:
        print(f"fabrics.py: {error}", file=sys.stderr)
        return 1
    common.write_outputs(choice, results, markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
