# SPDX-License-Identifier: LGPL-2.1-or-later
"""Numbers with units, as options of `umwelt run` take them."""
from __future__ import annotations

import re

_PREFIX = {
    "": 1.0,
    "k": 1e3,
    "K": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
}
_TIME = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(\S*)\s*")


def quantity(text: str) -> float | None:
    """'100ns' as 1e-7, '64KiB' as 65536, '12.5GB/s' as 1.25e10; nothing if it is no number."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    value, unit = float(match[1]), match[2]
    if unit in _TIME:
        return value * _TIME[unit]
    for ending in ("B/s", "bit/s", "f", "flop/s", "B", "Hz", ""):
        prefix = unit[: len(unit) - len(ending)] if ending else unit
        if unit.endswith(ending) and prefix in _PREFIX:
            return value * _PREFIX[prefix]
    return None


def seconds(text: str) -> float | None:
    """A length of time: '90', '90s', '5min', '1:30:00'."""
    parts = text.split(":")
    if len(parts) in (2, 3) and all(part.isdigit() for part in parts):
        total = 0
        for part in parts:
            total = total * 60 + int(part)
        return float(total)
    match = _NUMBER.fullmatch(text)
    if match is None or (match[2] and match[2] not in _TIME):
        return None
    return float(match[1]) * _TIME[match[2] or "s"]


def size(text: str) -> int | None:
    """Bytes: '2GiB', '500MB', '4096'."""
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    unit = match[2][:-1] if match[2].endswith("B") else match[2]
    return int(float(match[1]) * _PREFIX[unit]) if unit in _PREFIX else None


def shown_seconds(value: float) -> str:
    if value < 1:
        return f"{value:.2f} s"
    if value < 120:
        return f"{value:.1f} s"
    if value < 7200:
        return f"{value / 60:.1f} min"
    return f"{value / 3600:.1f} h"


def shown_bytes(value: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.4g} {unit}"
        value /= 1024
    return f"{value:.4g} TiB"
