"""The course of a training that plays, in a few numbers, from its metrics and evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from drl.evaluation.comparison import HEADLINE
from drl.runtime.metrics import METRICS, read_metrics
from drl.trainer._evaluations import Evaluations
from drl.types import JSON

_SHARE = 0.1
"""Of the updates: what the beginning and the end of a training are."""


def training_of(
    folder: Path, at_end: Mapping[str, str], in_all: Iterable[str] = ()
) -> dict[str, JSON]:
    """The training as a whole: scores in its first and last tenth, and more of the last one.

    Args:
        folder: of the run.
        at_end: metrics whose mean over the last tenth is told, where there are such, by the names
            to tell them under.
        in_all: metrics of which the sum is told.
    """
    lines = read_metrics(folder / METRICS)
    span = max(1, round(_SHARE * len(lines)))
    first, last = lines[:span], lines[-span:]
    return {
        "updates": len(lines),
        "first_score": _mean(first, "episode/score"),
        "last_score": _mean(last, "episode/score"),
        **{told: _mean(last, name) for told, name in at_end.items() if name in last[0]},
        "skipped_updates": sum(line["skipped"] for line in lines),
        **{name: sum(line.get(name, 0.0) for line in lines) for name in in_all},
    }


def data_of(folder: Path, trained_tokens: str) -> dict[str, JSON]:
    """How much was played and learned from; of an update that was skipped nothing was learned.

    Args:
        folder: of the run.
        trained_tokens: the name of their number in the metrics.
    """
    lines = read_metrics(folder / METRICS)
    counts = {"dialogues": "num_trajectories", "turns": "num_turns"}
    counts |= {"trained_tokens": trained_tokens, "broken": "episode/broken"}
    lines = [{**line, trained_tokens: 0} if line["skipped"] else line for line in lines]
    return {name: int(sum(line[key] for line in lines)) for name, key in counts.items()}


def evaluated(evaluations: Evaluations) -> list[JSON]:
    """What the policy did alone at each point, and its paired difference to the start."""
    compared = [None, *evaluations.against_start()]
    return [
        {
            "update": update,
            **numbers,
            **({} if comparison is None else {"against_start": comparison.to_json()}),
        }
        for update, numbers, comparison in zip(
            evaluations.updates(), evaluations.headlines(), compared, strict=False
        )
    ]


def evaluated_in_short(evaluations: Evaluations) -> dict[str, JSON]:
    """The headline of each point and its paired difference to the start, as a page has room."""
    shown: dict[str, JSON] = {}
    compared = [None, *evaluations.against_start()]
    points = zip(evaluations.updates(), evaluations.headlines(), compared, strict=False)
    for update, numbers, comparison in points:
        row = {name: numbers[name] for name in HEADLINE if numbers.get(name) is not None}
        for name, measure in ({} if comparison is None else comparison.measures).items():
            if name in HEADLINE and measure.difference is not None:
                row[f"{name}_minus_start"] = asdict(measure.difference)
        shown[f"update {update}" if update else "start"] = row
    return shown


def _mean(lines: Sequence[Mapping[str, float]], name: str) -> float | None:
    values = [line[name] for line in lines if line[name] == line[name]]  # but for NaN
    return sum(values) / len(values) if values else None
