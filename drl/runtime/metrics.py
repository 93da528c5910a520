"""`metrics.jsonl`: a line of numbers for an update of a training, in order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite, nan
from pathlib import Path

from drl.runtime.lines import LineFile, whole_lines
from drl.runtime.run_file import replace_file

METRICS = "metrics.jsonl"


def read_metrics(metrics: Path) -> list[dict[str, float]]:
    """The numbers of each update, in order, under their names; `update` counts from 1."""
    return [_numbers(line) for _, line in whole_lines(metrics)]


def add_metrics(lines: LineFile, update: int, numbers: Mapping[str, float]) -> None:
    """Write the line of an update.

    What is no number (the mean of nothing, a variance that is explained of none) is null: JSON has
    no NaN, and many readers refuse a file with one. `read_metrics` gives NaN again.

    Raises:
        RunError: the disk is full or gone.
    """
    told = {name: value if isfinite(value) else None for name, value in numbers.items()}
    lines.append(json.dumps({"update": update, **told}, allow_nan=False).encode())


def keep_metrics(metrics: Path, last_update: int) -> None:
    """Drop the lines of updates after this one: they are made again.

    Raises:
        RunError: the file cannot be written.
    """
    if not metrics.exists():
        return
    lines = [line for _, line in whole_lines(metrics)]
    kept = [line for line in lines if json.loads(line)["update"] <= last_update]
    if len(kept) < len(lines):
        replace_file(metrics, b"".join(kept))


def _numbers(line: bytes) -> dict[str, float]:
    return {name: nan if value is None else value for name, value in json.loads(line).items()}
