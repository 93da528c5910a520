"""How well turn rewards fit held-out sessions, as a table on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.table import Table

from drl.evaluation.console import cells, print_bill_and_place, rows
from drl.runtime.table_console import table_console
from drl.types import JSON

_SHOWN = (
    "global_mse",
    "spearman_session",
    "local_difference",
    "auroc_positive",
    "spearman_hidden",
)


def print_turn_rewards(summary: Mapping[str, JSON], folder: Path) -> None:
    """Methods, shuffled controls and baselines in rows; what a reader must know below."""
    console = table_console()
    table = Table(show_edge=False)
    table.add_column(str(summary["name"]))
    for measure in _SHOWN:
        table.add_column(measure.replace("_", " "), justify="right")
    for section in ("methods", "shuffled", "baselines"):
        for name, row in rows(summary[section]):
            measures = row.get("measures", row)
            assert isinstance(measures, Mapping), "the trainer wrote them"
            table.add_row(name, *(_cell(measures.get(measure)) for measure in _SHOWN))
        table.add_section()
    console.print(table)
    for words in _listed(summary["warnings"]):
        console.print(str(words), markup=False)
    for control in _listed(summary["controls"]):
        if isinstance(control, Mapping) and not control["holds"]:
            console.print(str(control["words"]), markup=False)
    held_out = summary["held_out"]
    assert isinstance(held_out, Mapping), "the trainer wrote it"
    console.print(
        f"{held_out['sessions']} sessions of {held_out['conversations']} conversations held out, "
        f"data {summary['data_version']}, {summary['seconds']} s.",
        markup=False,
    )
    print_bill_and_place(summary, folder)


def _cell(estimate: JSON) -> str:
    value, interval = cells(estimate)
    return value if value == "-" else f"{value} ({interval})"


def _listed(value: JSON) -> list[JSON]:
    return value if isinstance(value, list) else []
