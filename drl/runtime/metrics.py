"""`metrics.jsonl`: a line of numbers for an update of a training, in order."""

from __future__ import annotations

import json
import os
from pathlib import Path

from drl.runtime.lines import whole_lines

METRICS = "metrics.jsonl"


def read_metrics(metrics: Path) -> list[dict[str, float]]:
    """The numbers of each update, in order, under their names; `update` counts from 1."""
    return [json.loads(line) for _, line in whole_lines(metrics)]


def keep_metrics(metrics: Path, last_update: int) -> None:
    """Drop the lines of updates after this one: they are made again."""
    if not metrics.exists():
        return
    kept = [line for _, line in whole_lines(metrics) if json.loads(line)["update"] <= last_update]
    draft = metrics.with_name(metrics.name + ".draft")
    draft.write_bytes(b"".join(kept))
    os.replace(draft, metrics)
