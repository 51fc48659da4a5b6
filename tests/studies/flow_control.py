#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What a limit of messages in flight does for a victim: a round trip between two nodes, while other pairs of nodes
flood the same cable, and each NIC may have so many unacknowledged messages to a node, or to a process. FLOW_CONTROL.md
is the page."""

import studies

LIMITS = {"node": "inflight_node", "process": "inflight_process"}
UNLIMITED = 64  # messages that a flooding node's program has under way, whatever the NIC's limit


def size_text(size):
    return f"{size >> 10} KiB" if size >= 1024 else f"{size} B"


def main():
    study = studies.Study("flow_control", __doc__, {"FLOOD": "build/release/tests/bench/contention/flood"})
    words = study.parser.add_argument
    words("--pairs", type=int, default=5, help="of nodes, the victim's included; default %(default)s")
    words("--processes", type=int, default=2, help="of a node; default %(default)s")
    words("--size", type=int, default=65536, help="of the flood's messages; default %(default)s")
    words("--victims", type=studies.numbers, default=[8, 65536], help="sizes of the victim's; default 8,65536")
    words("--limits", type=studies.numbers, default=[1, 2, 4], help="messages in flight; default 1,2,4")
    words("--fabrics", type=lambda text: text.split(","), default=["occupancy", "packet"],
          help="default occupancy,packet")
    words("--count", type=int, default=200, help="round trips; default %(default)s")
    options = study.begin()

    def trip(fabric, victim, limit=(), in_flight=UNLIMITED):
        machine = ["--platform", f"bxi:leaf={options.pairs},spines=1", "--fabric", fabric, "-N", options.processes]
        run = study.run([*machine, *limit, "--workers", 0, "-np", 2 * options.pairs * options.processes],
                        options.flood, options.count, options.size, in_flight, victim)
        time, messages = map(float, run.output.split())
        return {"us": round(1e3 * time, 3), "flood_MB_s": round(messages * options.size * 1e-6, 1)}

    rows = []
    for fabric in options.fabrics:
        for victim in options.victims:
            case = {"fabric": fabric, "victim_bytes": victim}
            rows.append(case | {"limit_of": "no flood", "limit": ""} | trip(fabric, victim, in_flight=0))
            for kind, key in LIMITS.items():
                for limit in options.limits:
                    found = trip(fabric, victim, ["--nic", f"{key}={limit}"])
                    rows.append(case | {"limit_of": kind, "limit": limit} | found)
            rows.append(case | {"limit_of": "none", "limit": ""} | trip(fabric, victim))

    panels, tables = [], []
    for fabric in options.fabrics:
        for victim in options.victims:
            mine = [row for row in rows if (row["fabric"], row["victim_bytes"]) == (fabric, victim)]
            alone, free = mine[0]["us"], mine[-1]["us"]
            series = {f"limit of a {kind}": [(row["limit"], row["us"]) for row in mine if row["limit_of"] == kind]
                      for kind in LIMITS}
            ends = options.limits[0], options.limits[-1]
            series |= {"no limit": [(x, free) for x in ends], "no flood": [(x, alone) for x in ends]}
            panels.append(studies.Panel(f"{size_text(victim)}, {fabric}", "messages in flight", "us of a round trip",
                                        series, "set logscale x 2"))
            cells = [[row["limit_of"] if row["limit_of"] in ("none", "no flood") else f"of a {row['limit_of']}",
                      row["limit"], f"{row['us']:.2f}", f"{row['us'] / alone:.2f}", f"{row['flood_MB_s']:,.0f}"]
                     for row in mine]
            head = ["limit", "in flight", "round trip, us", "times that without flood", "MB/s of a flooding node"]
            tables.append(f"Victim of {size_text(victim)}, `--fabric {fabric}`:\n\n{studies.table(head, cells)}\n")
    study.write(rows, studies.plot(panels), "\n".join(tables).rstrip())


if __name__ == "__main__":
    studies.main(main)
