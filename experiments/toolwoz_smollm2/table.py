"""The arms of the study as the table that README shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def table(record: Mapping[str, Any]) -> str:
    """The arms as a table in Markdown.

    Args:
        record: what `results.json` holds.
    """
    rows = [
        "| arm | n | mean reward | full success | mean reward, phrasing of training |",
        "|---|---|---|---|---|",
    ]
    for arm, alone in record["arms"].items():
        seen = record["arms_on_training_phrasing"].get(arm)
        cells = (
            alone["what"],
            f"{alone['n']} x {alone['seeds']}",
            _cell(alone["mean_reward"]),
            _cell(alone["full_success"]),
            _cell(seen["mean_reward"]) if seen else "–",
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _cell(estimate: Mapping[str, float]) -> str:
    return f"{estimate['value']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"
