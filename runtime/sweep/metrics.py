# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is kept of a run: numbers of its report (`umwelt run --report`), and numbers that the program printed."""
from __future__ import annotations

import re
from typing import Any

# Of the report: how it was asked for, not what came out.
_NOT_METRICS = {"report_version", "nodes", "seed", "exit_code"}
_NOT_OF_RANKS = {"rank", "job", "rank_of_job", "program", "exit_status", "signal"}

# Of the report's `energy` (--power).
ENERGY = {
    "joules": "energy_joules",
    "nodes_joules": "energy_nodes_joules",
    "average_watts": "average_watts",
    "peak_watts": "peak_watts",
    "node_hours": "node_hours",
    "cost": "money",
}

Number = int | float


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def of_report(report: dict[str, Any]) -> dict[str, Number]:
    """Numbers by name: of the whole run, `totals.NAME`, and `ranks.NAME.sum` and `.max` of what each rank has."""
    found: dict[str, Number] = {
        key: value for key, value in report.items() if _is_number(value) and key not in _NOT_METRICS
    }
    for group, values in (
        ("totals", report.get("totals")),
        *((f"mpi.{key}", report.get("mpi_calls", {}).get(key)) for key in ("waited_ps", "late_ps")),
    ):
        if isinstance(values, dict):
            found |= {f"{group}.{key}": value for key, value in values.items() if _is_number(value)}
    ranks = [rank for rank in report.get("ranks", []) if isinstance(rank, dict)]
    for key in ranks[0] if ranks else ():
        values = [rank[key] for rank in ranks if _is_number(rank.get(key))]
        if values and key not in _NOT_OF_RANKS:
            found[f"ranks.{key}.sum"] = sum(values)
            found[f"ranks.{key}.max"] = max(values)
    found |= {name: value for key, name in ENERGY.items() if _is_number(value := report.get("energy", {}).get(key))}
    if "simulated_ps" in found:
        found["simulated_s"] = found["simulated_ps"] / 1e12
    return found


def of_host(report: dict[str, Any]) -> dict[str, Number]:
    """What the report says of this machine, which is another every time."""
    return {f"host.{key}": value for key, value in report.get("host", {}).items() if _is_number(value)}


def functions(report: dict[str, Any]) -> list[list[Any]]:
    """Of MPI: name, calls, bytes, time, waited, late."""
    return [
        [entry.get(key) for key in ("name", "calls", "bytes", "time_ps", "waited_ps", "late_ps")]
        for entry in report.get("mpi_calls", {}).get("functions", [])
    ]


def pairs(report: dict[str, Any]) -> list[list[Any]]:
    """Messages of MPI: from, to, messages, bytes."""
    return [
        [entry.get(key) for key in ("from", "to", "messages", "bytes")]
        for entry in report.get("mpi_calls", {}).get("messages", [])
    ]


def links(report: dict[str, Any]) -> list[list[Any]]:
    """Numbers of links that carried something: link, what, number. Utilizations are of the whole run and of the part of
    it in which the link was busiest (`bin_ps` of the report)."""
    found = []
    load = report.get("links", {})
    for entry in load.get("links", []):
        rate = entry["bandwidth_Bps"] * 1e-12
        numbers = {key: entry[key] for key in ("bytes", "bandwidth_Bps", "latency_ps") if key in entry}
        if report.get("simulated_ps"):
            numbers["utilization"] = entry["bytes"] / (rate * report["simulated_ps"])
        if entry.get("bytes_per_bin"):
            numbers["busiest_utilization"] = max(entry["bytes_per_bin"]) / (rate * load["bin_ps"])
        found += [[entry["name"], key, value] for key, value in numbers.items()]
    return found


class Missing(Exception):
    """A metric that the program did not print."""


def printed(expressions: dict[str, str], output: str) -> dict[str, Number]:
    """The last match of each counts: programs print their results at the end."""
    found: dict[str, Number] = {}
    for name, expression in expressions.items():
        matches = re.findall(expression, output, re.MULTILINE)
        if not matches:
            raise Missing(f"metric '{name}': expected '{expression}' in what the program printed, got no match")
        try:
            text = matches[-1].replace(",", "")
            found[name] = int(text) if re.fullmatch(r"[-+]?\d{1,18}", text) else float(text)
        except ValueError:
            raise Missing(f"metric '{name}': expected a number, got '{matches[-1]}'") from None
    return found
