"""The arms of the study as the table that README shows."""

from __future__ import annotations

from collections.abc import Mapping


def table(
    arms: Mapping[str, str], heldout: Mapping[str, object], train: Mapping[str, object]
) -> str:
    """The arms as a table in Markdown.

    Args:
        arms: what each is.
        heldout: their estimates with the customer's wordings that no training saw.
        train: the same with those of training.
    """
    rows = [
        "| arm | n | mean reward | full success | mean reward, phrasing of training |",
        "|---|---|---|---|---|",
    ]
    for arm, what in arms.items():
        alone, seen = heldout[arm], train[arm]
        assert isinstance(alone, dict)
        assert isinstance(seen, dict)
        cells = [_cell(alone["mean_reward"]), _cell(alone["full_success"])]
        count = f"{alone['n']} x {alone['seeds']}"
        rows.append(f"| {what} | {count} | {' | '.join(cells)} | {_cell(seen['mean_reward'])} |")
    return "\n".join(rows)


def _cell(estimate: Mapping[str, float]) -> str:
    return f"{estimate['value']:.3f} ({estimate['low']:.3f} to {estimate['high']:.3f})"
