# SPDX-License-Identifier: LGPL-2.1-or-later
"""What was measured on the cluster, and what others predicted: DATA/bxi and DATA/osu, each with a README of its own."""

import csv
import dataclasses
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import common  # noqa: E402
from common import Failure  # noqa: E402

PORTALS = {  # benchmark: its name in the files of DATA/bxi
    "put_waitack": "put_waitack",
    "put_nowait": "put_nowait",
    "get_waitreply": "get_waitreply",
    "get_nowait": "get_nowait",
    "ack": "ptlperf_ack",
    "match": "ptlperf_match",
}
INITIATORS = {"real": "1032", "s4bxi": "1"}  # whose lines count, in files that have lines of several ranks
OTHERS = {"s4bxi": "S4BXI", "smpi": "SMPI"}
PAIRS = ("latency", "bw", "bibw")
VARIANTS = {"ialltoall": "ialltoall_pairwise"}
GROUPS = {
    "portals": "Portals",
    "pairs": "MPI, two ranks",
    "blocking": "MPI, blocking collectives",
    "nonblocking": "MPI, nonblocking collectives beside computation",
    "variants": "The same, by an algorithm that stock Open MPI does not have, done by the program",
    "lulesh": "LULESH, how many times as long as on one rank",
}


@dataclasses.dataclass
class Benchmark:
    name: str
    group: str
    ranks: int
    unit: str
    real: dict  # size: value
    predicted: dict = dataclasses.field(default_factory=dict)  # who: {size: value}


def error(predicted, real):
    """exp(mean |ln(predicted / real)|) - 1 over the sizes that both have, or None without any."""
    logs = logs_of(predicted, real)
    return math.exp(statistics.fmean(abs(log) for log in logs)) - 1 if logs else None


def bias(predicted, real):
    """The same with signs: above 0 where the predicted values are larger."""
    logs = logs_of(predicted, real)
    return math.exp(statistics.fmean(logs)) - 1 if logs else None


def logs_of(predicted, real):
    return [math.log(predicted[size] / value) for size, value in real.items() if predicted.get(size, 0) > 0]


def rows_of(path, columns):
    """Rows of a CSV file as dictionaries, with their line numbers; `columns` must be there."""
    try:
        text = path.read_text()
    except OSError as failed:
        raise Failure(
            f"{path}: expected measurements, got: {failed.strerror}. Check the directory DATA, or choose with --only"
        ) from None
    reader = csv.DictReader(text.splitlines(), skipinitialspace=True)
    missing = [column for column in columns if column not in (reader.fieldnames or [])]
    if missing:
        raise Failure(f"{path}:1: expected a column '{missing[0]}', got {reader.fieldnames}. Check the file")
    return [(reader.line_num, row) for row in reader]


def number(path, line, row, column):
    try:
        value = float(row[column])
    except (TypeError, ValueError):
        value = math.nan
    if not 0 <= value < math.inf:
        raise Failure(f"{path}:{line}: expected a number in column '{column}', got '{row[column]}'. Check the file")
    return value


def medians(pairs):
    """{size: median of its values} of pairs (size, value)."""
    values = {}
    for size, value in pairs:
        values.setdefault(int(size), []).append(value)
    return {size: statistics.median(of_size) for size, of_size in sorted(values.items())}


def portals_series(path, initiator=None):
    """us per message by size, from a file as ptlbench writes it; of one rank, where several are in it."""
    rows = rows_of(path, [])
    names = rows[0][1].keys() if rows else []
    if "Msg size (B)" in names:
        size, time, per_message = "Msg size (B)", "Latency (µs)", lambda value: value
    else:
        size, time, per_message = "message size (B)", "message rate (kmsg/s)", lambda rate: 1e3 / rate
        if initiator is not None:
            rows = [(line, row) for line, row in rows if row.get("rank") == initiator]
    if not rows or size not in names or time not in names:
        raise Failure(f"{path}: expected lines of ptlbench or PtlPerf, got {list(names)}. Check the file")
    found = [(number(path, line, row, size), number(path, line, row, time)) for line, row in rows]
    return medians((bytes_, per_message(value)) for bytes_, value in found)


def portals(directory):
    for name, file in PORTALS.items():
        real, s4bxi = (portals_series(directory / f"{who}_{file}.csv", rank) for who, rank in INITIATORS.items())
        yield Benchmark(name, "portals", 2, "us", real, {"S4BXI": s4bxi})
    path = directory / "ptlperf_reply_half.csv"
    rows = rows_of(path, ["size_bytes", "real_us", "s4bxi_us"])
    real, s4bxi = (
        medians((number(path, line, row, "size_bytes"), number(path, line, row, column)) for line, row in rows)
        for column in ("real_us", "s4bxi_us")
    )
    yield Benchmark("reply", "portals", 2, "us", real, {"S4BXI": s4bxi})


def osu(path):
    series = {}
    units = {}
    for line, row in rows_of(path, ["benchmark", "ranks", "size_bytes", "series", "value", "unit"]):
        key = (row["benchmark"], int(number(path, line, row, "ranks")))
        units[key] = row["unit"]
        point = (number(path, line, row, "size_bytes"), number(path, line, row, "value"))
        series.setdefault(key, {}).setdefault(row["series"], []).append(point)
    for (name, ranks), of_benchmark in sorted(series.items()):
        group = "pairs" if name in PAIRS else "nonblocking" if name.startswith("i") else "blocking"
        if "real" not in of_benchmark:
            raise Failure(f"{path}: expected a series 'real' of {name}, got {sorted(of_benchmark)}. Check the file")
        real = medians(of_benchmark.pop("real"))
        others = {OTHERS[who]: medians(points) for who, points in of_benchmark.items() if who in OTHERS}
        yield Benchmark(name, group, ranks, units[name, ranks], real, dict(others))
        if name in VARIANTS:
            yield Benchmark(VARIANTS[name], "variants", ranks, units[name, ranks], real, dict(others))


def lulesh(path):
    """Times relative to one rank: the cluster's processors are not those of this machine."""
    columns = {"real_s": "real", "s4bxi_s": "S4BXI", "smpi_s": "SMPI"}
    times = {}
    for line, row in rows_of(path, ["ranks", "size", *columns]):
        key = (int(number(path, line, row, "ranks")), int(number(path, line, row, "size")))
        times[key] = {who: number(path, line, row, column) for column, who in columns.items()}
    for ranks in sorted({ranks for ranks, _ in times} - {1}):
        sizes = [size for of_ranks, size in times if of_ranks == ranks and (1, size) in times]
        ratios = {who: {s: times[ranks, s][who] / times[1, s][who] for s in sizes} for who in columns.values()}
        yield Benchmark(f"lulesh_{ranks}", "lulesh", ranks, "times 1 rank", ratios.pop("real"), ratios)


def given(data, with_lulesh):
    """All benchmarks of the directory, in the order of the table."""
    found = [*portals(data / "bxi"), *osu(data / "osu" / "osu_bxi.csv")]
    if with_lulesh:
        found += lulesh(data / "bxi" / "lulesh_some.csv")
    return sorted(found, key=lambda benchmark: list(GROUPS).index(benchmark.group))
