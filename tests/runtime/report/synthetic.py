#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a report as `umwelt run --report` does, of a run that never was: a grid of ranks that exchange with their
neighbours, with all that a report may have. The same arguments give the same bytes.

usage: synthetic.py [--ranks N] [--kind ordinary|hot|deadlock|hostile|alltoall] [--scale FACTOR] [--without KEY]... FILE
"""
import argparse
import json
import random

LEAF = 24  # nodes of a switch
NAMES = ("</script><script>document.title='broken'</script>", "<img src=x onerror=console.error('broken')>", "a\"b'c&d")


def neighbours(rank: int, ranks: int) -> list[int]:
    side = max(1, round(ranks ** (1 / 3)))
    around = {rank + step for step in (1, -1, side, -side, side * side, -side * side)}
    return sorted(other for other in around if 0 <= other < ranks and other != rank)


def messages_of(ranks: int, kind: str) -> list[dict]:
    found = []
    for rank in range(ranks):
        others = [other for other in range(ranks) if other != rank] if kind == "alltoall" else neighbours(rank, ranks)
        for other in others:
            count = 20 + (rank + other) % 7
            size = 512 << (abs(rank - other) % 11)
            found.append({"from": rank, "to": other, "messages": count, "bytes": count * size})
    if kind == "hot":
        found += [{"from": rank, "to": 0, "messages": 50, "bytes": 50 << 20} for rank in range(1, ranks)]
    return found


def ranks_of(ranks: int, end: int, chance: random.Random, messages: list[dict]) -> list[dict]:
    sent = [[0, 0] for _ in range(ranks)]
    received = [[0, 0] for _ in range(ranks)]
    for one in messages:
        for side, rank in ((sent, one["from"]), (received, one["to"])):
            side[rank][0] += one["messages"]
            side[rank][1] += one["bytes"]
    result = []
    for rank in range(ranks):
        compute = int(end * (0.45 + 0.1 * chance.random() + (0.3 if rank == ranks // 2 else 0)))
        communication = int(end * 0.03 * (1 + chance.random()))
        finished = int(end * (0.97 + 0.03 * chance.random())) if rank else end
        result.append({
            "rank": rank, "job": 1, "rank_of_job": rank, "program": 0, "host": f"bxi{rank}", "exit_status": 0,
            "signal": 0, "finished_ps": finished, "compute_ps": compute, "learned_ps": compute // 3,
            "doubt_ps": compute // 200, "left_out_ps": 0, "communication_ps": communication,
            "waiting_ps": finished - compute - communication - end // 100, "messages_sent": sent[rank][0],
            "bytes_sent": sent[rank][1], "messages_received": received[rank][0], "bytes_received": received[rank][1],
            "sizes": [{"from_bytes": 512 << i, "to_bytes": (1024 << i) - 1, "messages": 10 + i} for i in range(8)],
            "segments_sent": 0, "segment_bytes_sent": 0, "segments_received": 0, "segment_bytes_received": 0,
            "crossings": 1000, "polls_answered": 10, "polls_saved": 5, "events": 70})
    return result


def count(calls: int, size: int, time: int, waited: int, late: int) -> dict:
    return {"calls": calls, "bytes": size, "time_ps": time, "waited_ps": waited, "late_ps": late}


def mpi_of(ranks: list[dict], messages: list[dict], kind: str) -> dict:
    whole = sum(rank["finished_ps"] for rank in ranks)
    functions = [("MPI_Allreduce", 0.20, 0.18, 0.15), ("MPI_Waitall", 0.12, 0.11, 0.06), ("MPI_Init", 0.05, 0.04, 0),
                 ("MPI_Isend", 0.02, 0, 0), ("MPI_Irecv", 0.01, 0, 0), ("MPI_Barrier", 0.01, 0.01, 0.008)]
    # Shares as integers of ps, so that sums are exact.
    counted = [(name, count(len(ranks) * 20, 8 * len(ranks), *(int(whole * share) for share in shares)))
               for name, *shares in functions]
    program = NAMES[0] if kind == "hostile" else "app"
    total = {key: sum(one[key] for _, one in counted) for key in ("calls", "bytes", "time_ps", "waited_ps", "late_ps")}
    kinds = ("sends", "receives", "completion", "barriers", "collectives", "other")
    late = (0, 0, int(whole * 0.06), int(whole * 0.008), int(whole * 0.15), 0)
    return {
        "functions": [{"name": name, **one, "sizes": [{"from_bytes": 8 << i, "to_bytes": (16 << i) - 1, "calls": 9,
                                                       "bytes": 100 << i} for i in range(3)]} for name, one in counted],
        "sites": [{"name": name, "place": f"step{i}+0x{16 * i:x} ({program})", **one}
                  for i, (name, one) in enumerate(counted * 4)],
        "communicators": [{"communicator": "MPI_COMM_WORLD", "name": name, **one} for name, one in counted[:1]],
        "waited_ps": dict(zip(kinds, [int(whole * share) for share in (0, 0, 0.11, 0.01, 0.18, 0.04)])),
        "late_ps": dict(zip(kinds, late)),
        "ranks": [{"rank": i, **{key: value // len(ranks) for key, value in total.items()}} for i in range(len(ranks))],
        "messages": messages}


def links_of(ranks: int, end: int, bins: int, chance: random.Random, kind: str) -> dict:
    leaves = (ranks + LEAF - 1) // LEAF
    spines = max(2, min(24, leaves))
    nodes = [{"name": f"bxi{i}", "kind": "host"} for i in range(ranks)]
    nodes += [{"name": f"leaf{i}", "kind": "switch"} for i in range(leaves)]
    nodes += [{"name": f"spine{i}", "kind": "switch"} for i in range(spines)]
    bandwidth = 12_500_000_000
    bin_ps = end // bins + 1
    links = []

    def add(name: str, level: str, begin: int, to: int, load: float) -> None:
        capacity = bandwidth * bin_ps // 10**12
        shape = [int(capacity * min(1, load * 2 * chance.random() * (1 if i % 8 < 5 else 0.1))) for i in range(bins)]
        links.append({"name": name, "class": level, "from": begin, "to": to, "bandwidth_Bps": bandwidth,
                      "latency_ps": 100_000, "bytes": sum(shape), "messages": 1 + sum(shape) // 4096,
                      "bytes_per_bin": shape})

    for i in range(ranks):
        leaf = ranks + i // LEAF
        hot = kind == "hot" and i == 0
        add(f"bxi{i}-leaf{i // LEAF}_UP", "node", i, leaf, 0.2)
        add(f"bxi{i}-leaf{i // LEAF}_DOWN", "node", leaf, i, 0.95 if hot else 0.2)
    for i in range(leaves):
        for s in range(spines):
            add(f"leaf{i}-spine{s}_UP", "spine", ranks + i, ranks + leaves + s, 0.1)
            add(f"leaf{i}-spine{s}_DOWN", "spine", ranks + leaves + s, ranks + i, 0.1)
    return {"bin_ps": bin_ps, "links": links, "nodes": nodes}


def timeline_of(ranks: list[dict], end: int, bins: int, chance: random.Random) -> dict:
    bin_ps = end // bins + 1
    rows = []
    for _ in ranks:
        states = [[], [], []]
        for i in range(bins):
            computing = bin_ps * min(1, chance.random() * (1.6 if i % 8 < 5 else 0.3))
            communicating = (bin_ps - computing) * 0.2
            for state, time in zip(states, (computing, communicating, bin_ps - computing - communicating)):
                state.append(int(1000 * time / bin_ps))
        rows.append(states)
    return {"bin_ps": bin_ps, "unit": "thousandths of a bin", "states": ["computing", "communicating", "waiting"],
            "ranks": rows}


def path_of(ranks: int, end: int, kind: str) -> dict:
    parts = {"computing_ps": 0.55, "software_ps": 0.08, "nic_ps": 0.02, "latency_ps": 0.1, "bandwidth_ps": 0.1,
             "contention_ps": 0.1, "other_ps": 0.05}
    if kind == "hot":
        parts["computing_ps"], parts["contention_ps"] = 0.1, 0.55
    segments = []
    pieces = 240
    for i in range(pieces):
        segments.append({"rank": i * 7 % min(ranks, 12), "begin_ps": end * i // pieces,
                         "end_ps": end * (i + 1) // pieces, "kind": "message" if i % 2 else "work",
                         "what": "from rank 0" if i % 2 else ""})
    return {"length_ps": end, "kinds": {key: int(end * share) for key, share in parts.items()},
            "ranks": [{"rank": rank, "ps": end // (rank + 2)} for rank in range(min(ranks, 8))], "segments": segments,
            "if_free": [{"what": "latency", "simulated_ps": int(end * 0.9)},
                        {"what": "bandwidth", "simulated_ps": int(end * 0.93)},
                        {"what": "computing of rank 3", "simulated_ps": int(end * 0.7)}]}


def report_of(ranks: int, kind: str, scale: float) -> dict:
    chance = random.Random(ranks)
    end = int(8_000_000_000 * scale)
    messages = messages_of(ranks, kind)
    of_ranks = ranks_of(ranks, end, chance, messages)
    program = "./app " + " ".join(NAMES) if kind == "hostile" else "./app -n 8"
    report = {
        "report_version": 1, "umwelt": "0.1.0 (synthetic)", "programs": [program], "platform": "bxi", "nodes": ranks,
        "model": "bxi", "cpu": "measured", "seed": 0, "ending": "completed", "exit_code": 0, "simulated_ps": end,
        "timeline_events": 40 * ranks,
        "totals": {"messages": sum(one["messages"] for one in messages), "bytes": sum(one["bytes"] for one in messages),
                   "segments": 0, "segment_bytes": 0, "crossings": 1000 * ranks, "polls_answered": 10 * ranks,
                   "polls_saved": 5 * ranks, "events": 70 * ranks,
                   "sizes": [{"from_bytes": 512 << i, "to_bytes": (1024 << i) - 1, "messages": ranks * (10 + i)}
                             for i in range(8)]},
        "ranks": of_ranks, "mpi_calls": mpi_of(of_ranks, messages, kind),
        "run": {"command": ["umwelt", "run", "-np", str(ranks), "--mpi-calls", *program.split()],
                "directory": "/home/user", "started": "2026-11-26T12:00:00Z", "umwelt": "0.1.0 (synthetic)",
                "simgrid": "3.32",
                "objects": [{"path": "/usr/lib/libmpi.so.40", "build_id": "00" * 20}], "platform": "bxi:leaf=24",
                "seed": 0, "host": {"name": "here", "system": "Linux", "processor": "some", "cores": 8,
                                    "memory_bytes": 1 << 34}},
        "links": links_of(ranks, end, 200, chance, kind), "timeline": timeline_of(of_ranks, end, 200, chance),
        "critical_path": path_of(ranks, end, kind),
        "host": {"wall_seconds": 12.5, "cpu_seconds": 12, "waited_seconds": 0.1, "stolen_share": 0, "interruptions": 3,
                 "slowdown": 12.5e12 / end, "peak_resident_bytes": 1 << 29}}
    if kind == "deadlock":
        report.update(ending="deadlock", exit_code=122, deadlock={
            "waits": [{"rank": rank, "host": f"bxi{rank}", "since_ps": end // 2, "for": [1 - rank],
                       "call": f"MPI_Recv from {1 - rank}, tag 7, on MPI_COMM_WORLD"} for rank in range(2)],
            "cycle": [0, 1], "next_step": "look for the message that the other side never sends"})
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("file")
    parser.add_argument("--ranks", type=int, default=48)
    parser.add_argument("--kind", default="ordinary", choices=("ordinary", "hot", "deadlock", "hostile", "alltoall"))
    parser.add_argument("--scale", type=float, default=1, help="of simulated time")
    parser.add_argument("--without", action="append", default=[], metavar="KEY")
    given = parser.parse_args()
    report = report_of(given.ranks, given.kind, given.scale)
    for key in given.without:
        report.pop(key)
    with open(given.file, "w", encoding="utf-8") as file:
        json.dump(report, file)


if __name__ == "__main__":
    main()
