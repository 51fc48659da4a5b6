# SPDX-License-Identifier: LGPL-2.1-or-later
"""Factors that have changed nothing: a level that a program ignores, a variable that nobody reads. Simulated time does
not depend on this machine, so points that differ in one factor alone and agree to the bit say so."""
from __future__ import annotations

import numpy as np

from .sample import Axis, Sample

_FEWEST = 2  # pairs of points


def notes(sample: Sample) -> list[str]:
    if not sample.simulated:
        return []
    metrics = np.column_stack([sample.metrics[name] for name in sorted(sample.simulated)])
    idle = [axis.name for axis in sample.factors if _changes_nothing(sample, axis, metrics)]
    return [f"{name} has changed nothing that is simulated: points that differ in it alone are the same to the bit."
            for name in idle]  # fmt: skip


def _changes_nothing(sample: Sample, axis: Axis, metrics: np.ndarray) -> bool:
    groups: dict[tuple[int, ...], list[int]] = {}
    for at in range(len(sample.points)):
        others = (int(other.index[at]) for other in sample.factors if other is not axis)
        groups.setdefault((int(sample.seeds[at]), *others), []).append(at)
    compared = 0
    for points in groups.values():
        for one, other in zip(points, points[1:]):
            compared += axis.index[one] != axis.index[other]
            if not np.array_equal(metrics[one], metrics[other], equal_nan=True):
                return False
    return compared >= _FEWEST
