"""What the labels of a search are worth, as a table on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.table import Table

from drl.evaluation.console import cells, print_bill_and_place, rows
from drl.runtime.table_console import table_console
from drl.types import JSON


def print_label_error(summary: Mapping[str, JSON], folder: Path) -> None:
    """One row per label, the label error in words, golden branches against their siblings."""
    console = table_console()
    table = Table(show_edge=False)
    table.add_column("branches")
    for column in ("n", "P(success)", "95 % interval", "all goals", "ever", "broken"):
        table.add_column(column, justify="right")
    for label, row in rows(summary["labels"]):
        table.add_row(
            label,
            str(row["n_branches"]),
            *cells(row["p_success"]),
            cells(row["full_success"])[0],
            str(row["n_succeeded_once"]),
            str(row["n_broken"]),
        )
    console.print(f"{summary['name']}: saved branches by their label, played on", markup=False)
    console.print(table)
    for label, row in rows(summary["label_error"]):
        value, interval = cells(row)
        console.print(f"label error, {label}: {value} of them succeed when played on ({interval})")
    for label, row in rows(summary["golden_minus"]):
        value, interval = cells(row)
        console.print(f"golden minus {label}, at the same places: {value} ({interval})")
    console.print(
        f"{summary['n_places_drawn']} of {summary['n_places']} places of choice in "
        f"{summary['n_trees']} trees, {summary['continuations']} continuations of each branch, "
        f"{summary['n_tries_broken']} tries that broke, {summary['seconds']} s. "
        f"Intervals over {summary['n_tasks']} tasks. {summary['label']}",
        markup=False,
    )
    print_bill_and_place(summary, folder)
