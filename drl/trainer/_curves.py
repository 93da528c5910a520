"""The course of a training, from its metrics, for the report."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

from drl.runtime.metrics import METRICS, read_metrics
from drl.types import JSON


def curves_of(folder: Path, names: Iterable[str]) -> dict[str, JSON]:
    """Some of the numbers of a training by update; those that are never a number are left out.

    Args:
        folder: of the run.
        names: of the numbers.
    """
    lines = read_metrics(folder / METRICS)
    curves: dict[str, JSON] = {}
    for name in names:
        points = [(line["update"], line[name]) for line in lines if name in line]
        points = [(update, value) for update, value in points if math.isfinite(value)]
        if points:
            updates, values = zip(*points, strict=True)
            curves[name] = {"x": list(updates), "y": list(values), "x_label": "update"}
    return curves
