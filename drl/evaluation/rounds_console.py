"""A policy at several points of its training, as a table on the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from rich.table import Table

from drl.evaluation.comparison import HEADLINE, Comparison
from drl.evaluation.console import cells
from drl.evaluation.measure import words_of
from drl.runtime.table_console import table_console
from drl.types import JSON


def print_rounds(
    summary: Mapping[str, JSON],
    evaluated: Sequence[Mapping[str, JSON]],
    against_base: Sequence[Comparison],
    labels: Sequence[str],
) -> None:
    """What the policy does alone at each point, and its paired difference to the first.

    Args:
        summary: of the whole.
        evaluated: summaries of the evaluations, that of the start first.
        against_base: the comparisons of all but the first with it.
        labels: what each point is called.
    """
    console = table_console()
    table = Table(show_edge=False)
    table.add_column(str(summary["name"]))
    for name in HEADLINE:
        table.add_column(words_of(name), justify="right")
        table.add_column(f"minus {labels[0]}", justify="right")
    for label, numbers, comparison in zip(labels, evaluated, [None, *against_base], strict=True):
        row = [label]
        for name in HEADLINE:
            row += [" ".join(cells(numbers.get(name))), _difference(comparison, name)]
        table.add_row(*row)
    console.print(table)
    for label, comparison in zip(labels[1:], against_base, strict=True):
        console.print(f"{label.capitalize()}: {comparison.verdict}", markup=False)


def _difference(comparison: Comparison | None, name: str) -> str:
    """A paired difference with its interval; empty where there is none."""
    if comparison is None:
        return ""
    measure = comparison.measures.get(name)
    if measure is None or measure.difference is None:
        return ""
    return " ".join(cells(asdict(measure.difference)))
