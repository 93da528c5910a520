"""Whether a run or a stage is over, and what it summed up."""

from __future__ import annotations

import json
from pathlib import Path

from drl.types import JSON

SUMMARY = "summary.json"


def finished(folder: Path, *, keeps: Path | None = None) -> dict[str, JSON] | None:
    """The summary of a run that is over; None if there is still something to do.

    Args:
        folder: of the run.
        keeps: a folder below it without which it is not over, for trainers that keep a model.
    """
    summary = folder / SUMMARY
    if not summary.exists() or (keeps is not None and not (folder / keeps).is_dir()):
        return None
    return dict(json.loads(summary.read_text(encoding="utf-8")))
