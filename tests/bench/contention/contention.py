#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The models bxi and flow side by side, alone on the machine and in each other's way; see README.md beside this file.

    contention.py BUILD PART... [--json FILE] [--markdown FILE]     PART: alone, contention, or all
"""

import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import common  # noqa: E402
from scale import scale  # noqa: E402: runs of umwelt and what they cost

KIB = 1 << 10
MODELS = ("bxi", "flow")
RATE = 12.5e3 * 0.934  # bytes per us that a link of platform bxi leaves to packets (parameter coding)


def wire_us(size):
    return (64 + size + -(-size // 1024) * 64) / RATE


# --- patterns: pairs of nodes, in the order in which a sender sends ---------------------------------------------------


def incast(nodes):
    """All others to node 0, one message each."""
    return [(node, 0) for node in range(1, nodes)]


def permutation(nodes):
    """Each to one other, at random (seed 1)."""
    targets, dice = list(range(nodes)), random.Random(1)
    while any(node == target for node, target in enumerate(targets)):
        dice.shuffle(targets)
    return list(enumerate(targets))


def hotspot(nodes):
    """Eight messages from each, to the two neighbours in turn, but two of them to node 0."""
    pairs = []
    for turn in range(8):
        for node in range(nodes):
            neighbour = (node + (1 if turn % 2 == 0 else -1)) % nodes
            pairs.append((node, 0 if turn % 4 == 3 and node != 0 else neighbour))
    return pairs


def alltoall(nodes):
    """Each to all others, the next first."""
    return [(node, (node + shift) % nodes) for shift in range(1, nodes) for node in range(nodes)]


PATTERNS = {pattern.__name__: pattern for pattern in (incast, permutation, hotspot, alltoall)}


def busiest_link(pairs, leaf, spines):
    """Messages on the link that has most of them: two levels, the spine chosen by the destination (D-mod-K)."""
    load = {}
    for source, target in pairs:
        links = [("up", source), ("down", target)]
        if source // leaf != target // leaf:
            spine = target % spines
            links += [("leaf", source // leaf, spine), ("spine", spine, target // leaf)]
        for link in links:
            load[link] = load.get(link, 0) + 1
    return max(load.values())


# --- parts ------------------------------------------------------------------------------------------------------------


def messages(bench, directory, nodes, pairs, size, model, machine):
    pattern = directory / "pattern"
    pattern.write_text("".join(f"{source} {target}\n" for source, target in pairs))
    return bench.run(
        ["-np", str(nodes), "--cpu", "none", "--platform", machine, "--model", model],
        "contention/messages",
        [pattern, size],
    )


def alone(bench, options, directory):
    """One message at a time and a window of 64, two nodes: us per message."""
    rows = []
    for machine in ("bxi", "crossbar"):
        for size in options.alone_sizes:

            def ptlbench(model, mode, count):
                run = bench.run(
                    ["-np", "2", "--cpu", "none", "--platform", machine, "--model", model],
                    "../../bin/ptlbench",
                    [mode, "--size", size, "--count", count],
                )
                return float(run["output"].splitlines()[-1].split(",")[3]) / count

            def pingpong(model):
                run = bench.run(
                    ["-np", "2", "--cpu", "none", "--platform", machine, "--model", model], "pingpong", [20, size]
                )
                return float(run["output"].split(":")[1].split()[0])

            def window(model):
                return (
                    float(messages(bench, directory, 2, [(0, 1)] * 64, size, model, machine)["output"].split()[0]) / 64
                )

            for name, measure in {
                "Put, wait for its ACK": lambda model: ptlbench(model, "put_waitack", 20),
                "64 Puts": lambda model: ptlbench(model, "put_nowait", 64),
                "64 Gets": lambda model: ptlbench(model, "get_nowait", 64),
                "MPI, half round trip": pingpong,
                "MPI, window of 64": window,
            }.items():
                bxi, flow, *others = [measure(model) for model in (*MODELS, *options.also)]
                rows.append(
                    {
                        "platform": machine,
                        "what": name,
                        "bytes": size,
                        "bxi": bxi,
                        "flow": flow,
                        "flow / bxi": flow / bxi,
                        **dict(zip(options.also, others)),
                    }
                )
                scale.progress("alone", rows[-1])
    worst = max(rows, key=lambda row: abs(row["flow / bxi"] - 1))
    return {"rows": rows, "largest difference": worst["flow / bxi"] - 1}


def contention(bench, options, directory):
    """Patterns on two-level fat trees with half as many cables up as down. Times in us after the last rank was ready;
    CPU seconds of the
    whole run, start-up included. busiest link: time that the link with most messages needs for them, below which no
    time can be.
    """
    rows = []
    for nodes in options.nodes:
        leaf, spines = {16: (4, 2), 64: (8, 4)}.get(nodes, (max(2, nodes // 8), max(1, nodes // 16)))
        machine = f"bxi:leaf={leaf},spines={spines}"
        for name in options.patterns:
            pairs = PATTERNS[name](nodes)
            for size in options.sizes:
                row = {
                    "pattern": name,
                    "nodes": nodes,
                    "bytes": size,
                    "messages": len(pairs),
                    "busiest link": busiest_link(pairs, leaf, spines) * wire_us(size),
                }
                found = {}
                for model in MODELS:
                    try:
                        run = messages(bench, directory, nodes, pairs, size, model, machine)
                    except common.Failure as failure:
                        print(f"contention: {failure}", file=sys.stderr)
                        continue
                    last, mean = map(float, run["output"].split())
                    if last < row["busiest link"]:
                        raise common.Failure(
                            f"{name}, {nodes} nodes, {size} B, model {model}: expected the last message not before "
                            f"{row['busiest link']:.3f} us, what the busiest link needs, got {last:.3f} us"
                        )
                    found[model] = {"last": last, "mean": mean, "CPU": run["cpu_seconds"]}
                for key in ("last", "mean", "CPU"):
                    for model in MODELS:
                        row[f"{key} {model}"] = found[model][key] if model in found else None
                    if key != "CPU":
                        row[f"{key} flow / bxi"] = found["flow"][key] / found["bxi"][key] if len(found) == 2 else None
                rows.append(row)
                scale.progress("contention", row)
    return {"rows": rows}


PARTS = {"alone": alone, "contention": contention}


# --- output -----------------------------------------------------------------------------------------------------------


def show(key, value):
    if value is None:
        return "no end"
    if not isinstance(value, float):
        return str(value)
    return f"{value:.3f}" if "/" in key else f"{value:.2f}" if "CPU" in key or value < 100 else f"{value:,.0f}"


def markdown(results):
    lines = []
    for part, result in results["parts"].items():
        rows = result["rows"]
        lines += [
            f"## {part}",
            "",
            " ".join(PARTS[part].__doc__.split()),
            "",
            "| " + " | ".join(rows[0]) + " |",
            "|" + "---|" * len(rows[0]),
        ]
        lines += ["| " + " | ".join(show(key, value) for key, value in row.items()) + " |" for row in rows]
        lines += [""] + [f"- {key}: {value:.2%}" for key, value in result.items() if key != "rows"] + [""]
    return "\n".join(lines)


def numbers(text):
    units = {"KiB": KIB, "MiB": KIB * KIB}
    return [int(word[:-3]) * units[word[-3:]] if word[-3:] in units else int(word) for word in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path, help="build directory, for example build/release")
    parser.add_argument("part", nargs="+", choices=[*PARTS, "all"])
    common.add_outputs(parser)
    parser.add_argument(
        "--sizes", type=numbers, default="1KiB,8KiB,64KiB,1MiB", help="of contention (default: %(default)s)"
    )
    parser.add_argument("--nodes", type=numbers, default="16,64", help="of contention (default: %(default)s)")
    parser.add_argument(
        "--patterns", type=lambda text: text.split(","), default=",".join(PATTERNS), help="(default: %(default)s)"
    )
    parser.add_argument(
        "--alone-sizes", type=numbers, default="64KiB,256KiB,1MiB,4MiB", help="of alone (default: %(default)s)"
    )
    parser.add_argument("--also", nargs="*", default=[], help="more models in alone, for information: loggp delay")
    parser.add_argument("--limit", type=int, default=600, help="seconds after which a run is ended (default: 600)")
    options = parser.parse_args()
    try:
        bench = scale.Bench(options.build.absolute(), options.limit)
        results = {"machine": common.machine(), "parts": {}}
        with tempfile.TemporaryDirectory(prefix="umwelt-contention-") as directory:
            for part in PARTS:
                if part in options.part or "all" in options.part:
                    results["parts"][part] = PARTS[part](bench, options, pathlib.Path(directory))
    except (common.Failure, OSError, subprocess.SubprocessError) as error:
        print(f"contention.py: {error}", file=sys.stderr)
        return 1
    common.write_outputs(options, results, markdown)
    return 0


if __name__ == "__main__":
    sys.exit(main())
