"""What a training did, as a table on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.table import Table

from drl.evaluation.console import cells, print_bill_and_place, typed
from drl.runtime.run_dir import ADAPTER_OF_RUN
from drl.runtime.table_console import table_console
from drl.types import JSON

_CHECKS = {
    "kl_to_base": "forgetting: nats a token from the base, generic text",
    "instructions_base": "instructions followed by the base",
    "instructions_adapted": "instructions followed with the adapter",
    "instructions_difference": "difference, paired by instruction",
}

_PAIRED = ("instructions_base", "instructions_adapted")
"""Without intervals: these overlap even where the difference is sure."""


def print_training(summary: Mapping[str, JSON], folder: Path) -> None:
    """Rows, tokens, losses, and what was forgotten."""
    console = table_console()
    table = Table(show_edge=False)
    table.add_column(str(summary["name"]))
    for column in ("value", "95 % interval"):
        table.add_column(column, justify="right")
    for section in ("data", "training"):
        numbers = summary[section]
        assert isinstance(numbers, Mapping), "a training wrote them"
        for name, value in numbers.items():
            table.add_row(name.replace("_", " "), _number(value), "")
        table.add_section()
    checked = summary.get("forgetting")
    if isinstance(checked, Mapping):
        for key, words in _CHECKS.items():
            value, interval = cells(checked[key])
            is_paired = key in _PAIRED
            table.add_row(words, value, "" if is_paired else interval)
    console.print(table)
    console.print(f"Start: {summary['start']}. {summary['seconds']} s.", markup=False)
    print_bill_and_place(summary, folder)
    if (folder / ADAPTER_OF_RUN).is_dir():
        place = typed(folder)
        console.print(
            f"Next: add llm.adapter={place} to the command of an evaluation, such as python run.py "
            f"+experiment=toolwoz_eval; or drl merge {place} --out DIR, for a checkpoint.",
            markup=False,
            soft_wrap=True,
        )


def _number(value: JSON) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
