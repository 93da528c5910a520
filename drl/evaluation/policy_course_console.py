"""A policy's way from its start, the update that was chosen and its test, on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from drl.evaluation.console import cells, print_bill_and_place
from drl.evaluation.policy_course import JUDGE, REWARDS
from drl.types import JSON

_COLUMNS = ("kl", *REWARDS, "words")


def print_course(summary: Mapping[str, JSON], folder: Path) -> None:
    """A row for each evaluated update, then the test."""
    console = Console(highlight=False, soft_wrap=True)
    table = Table(show_edge=False)
    table.add_column(str(summary["name"]))
    for name in (*_COLUMNS, "judge, best of n"):
        table.add_column(name, justify="right")
    for row in _rows(summary["course"]):
        best = _mapping(row["best_of_n"])
        of_best = f"{cells(best[JUDGE])[0]} (n {best['n']})"
        values = [cells(row[name])[0] for name in _COLUMNS]
        table.add_row(f"update {row['update']}", *values, of_best)
    console.print(table)
    choice, test = _mapping(summary["choice"]), _mapping(summary["test"])
    console.print(f"Chosen: update {choice['update']}, {choice['rule']}.", markup=False)
    console.print(_test(test), markup=False)
    notes = summary["notes"]
    assert isinstance(notes, list), "the run wrote a list"
    for note in notes:
        console.print(str(note), markup=False)
    print_bill_and_place(summary, folder)


def _test(test: Mapping[str, JSON]) -> str:
    """The test in a sentence."""
    where = f"{test['contexts']} contexts of {test['conversations']} test conversations"
    if "chosen_minus_start" not in test:
        return f"On {where} the start was tried alone: no update was better by the judge."
    gaps = _mapping(test["chosen_minus_start"])
    told = [
        f"{name} {value} ({interval})"
        for name in REWARDS
        for value, interval in [cells(gaps[name])]
        if gaps[name] is not None
    ]
    return f"Chosen minus start on {where}: {', '.join(told)}."


def _rows(value: JSON) -> list[Mapping[str, JSON]]:
    assert isinstance(value, list), "the run wrote a list"
    return [_mapping(row) for row in value]


def _mapping(value: JSON) -> Mapping[str, JSON]:
    assert isinstance(value, Mapping), "the run wrote an object"
    return value
