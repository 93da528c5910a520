"""The tables of an evaluation on MT-Bench on the terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.table import Table

from drl.evaluation.console import print_bill_and_place, rows
from drl.runtime.table_console import table_console
from drl.types import JSON


def print_mt_bench(summary: Mapping[str, JSON], folder: Path) -> None:
    """Ratings, or shares of wins, by category and turn; what was not judged; what it took."""
    console = table_console()
    about = summary["mt_bench"]
    assert isinstance(about, Mapping), "trainer=mt_bench wrote it"
    for section, headline in (("ratings", "mean_points"), ("comparisons", "adjusted_win_rate")):
        tables = summary.get(section)
        if isinstance(tables, Mapping):
            console.print(_table(tables, headline, str(about["model"])))
            if section == "comparisons":
                console.print(_shares(tables, str(about["baseline"])), markup=False)
    console.print(
        f"{about['n_judged']} turns judged by {about['judge']}, {about['n_unscored']} without a "
        f"verdict, {about['n_unanswered']} without an answer, {summary['n_errors']} broken "
        f"dialogues, {summary['seconds']} s. {summary['label']}",
        markup=False,
    )
    print_bill_and_place(summary, folder)


def _shares(tables: Mapping[str, JSON], baseline: str) -> str:
    """How comparisons ended."""
    names = ("win_rate", "tie_rate", "loss_rate")
    told = ", ".join(f"{name.replace('_', ' ')} {_cell(tables[name])}" for name in names)
    return f"Against {baseline}: {told}; both orders agree in {_cell(tables['agreement'])}."


def _table(tables: Mapping[str, JSON], headline: str, model: str) -> Table:
    """Categories down, turns across, each with its interval over questions."""
    table = Table(show_edge=False)
    table.add_column(f"{model}: {headline.replace('_', ' ')}")
    per_turn = tables["per_turn"]
    turns = [name for name, _ in rows(per_turn)]
    for turn in (*turns, "both"):
        table.add_column(turn.replace("_", " "), justify="right", no_wrap=True)
    for name, row in rows(tables["per_category"]):
        table.add_row(name, *(_cell(row.get(turn)) for turn in (*turns, "both")))
    table.add_section()
    table.add_row("all", *(_cell(value) for _, value in rows(per_turn)), _cell(tables[headline]))
    return table


def _cell(estimate: JSON) -> str:
    if not isinstance(estimate, Mapping):
        return "-"
    value, low, high = (float(str(estimate[key])) for key in ("value", "low", "high"))
    return f"{value:.2f} [{low:.2f}, {high:.2f}]"
