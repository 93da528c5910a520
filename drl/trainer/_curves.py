"""The course of a training, from its metrics, for the report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from drl.runtime.metrics import METRICS, read_metrics
from drl.types import JSON

NAMED_REWARD = "reward/"
"""How metrics of what dialogues earned under one name begin."""
_REWARDS = "rewards by name"


def curves_of(folder: Path, names: Iterable[str]) -> dict[str, JSON]:
    """Some of the numbers of a training by update; those that are never a number are left out.

    Rewards of several names are lines of one chart.

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
    return curves | _rewards(lines)


def _rewards(lines: Sequence[Mapping[str, float]]) -> dict[str, JSON]:
    """The chart of named rewards; a single one is the score, which has a chart of its own."""
    names = sorted({name for line in lines for name in line if name.startswith(NAMED_REWARD)})
    if len(names) < 2:
        return {}
    updates = [line["update"] for line in lines]
    drawn: dict[str, JSON] = {
        name.removeprefix(NAMED_REWARD): {
            "x": list(updates),
            "y": [line.get(name, 0.0) for line in lines],  # what nobody earned is not told
        }
        for name in names
    }
    return {_REWARDS: {"lines": drawn, "x_label": "update"}}
