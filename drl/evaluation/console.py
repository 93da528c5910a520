"""A summary as tables on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from rich.console import Console
from rich.table import Table

from drl.runtime.table_console import table_console
from drl.types import JSON

_SECTIONS = {
    "per_domain": "goals reached, by domain",
    "per_goal_kind": "goals reached, by kind",
    "per_group": "mean reward, by group",
    "metrics": "beside the reward",
    "pass_hat_k": "all of k tries succeed",
}
"""Parts of a summary and what their numbers are."""


def print_summary(summary: Mapping[str, JSON], folder: Path, *, details: bool) -> None:
    """Headline numbers; with `details` also goals, domains, groups and what no reward sees."""
    console = table_console()
    table = Table(show_edge=False)
    table.add_column(str(summary["name"]))
    for column in ("value", "95 % interval", "n"):
        table.add_column(column, justify="right")
    for name in ("mean_reward", "full_success", "agent_calls"):
        _add(table, name, summary.get(name))
    if details:
        for section, heading in _SECTIONS.items():
            estimates = _items(summary.get(section))
            if not estimates or (section == "per_domain" and len(estimates) == 1):
                continue
            table.add_section()
            table.add_row(f"{heading}:")
            for name, estimate in estimates:
                _add(table, f"pass^{name}" if section == "pass_hat_k" else name, estimate)
    console.print(table)
    floor = summary.get("floor")
    if isinstance(floor, float):
        console.print(f"An agent that does nothing scores {floor:.3f} on these tasks.")
    counts = f"{summary['n_tasks']} tasks, {summary['n_errors']} broken rollouts"
    console.print(f"{counts}, {summary['seconds']} s. {summary['label']}", markup=False)
    print_bill_and_place(summary, folder)


def print_bill_and_place(summary: Mapping[str, JSON], folder: Path) -> None:
    """What the calls to models took, and where the run lies, as one would type it from here."""
    console = Console(highlight=False, soft_wrap=True)
    for name, total in _items(summary.get("calls")):
        console.print(_bill(name, total), markup=False)
    console.print(f"Run: {typed(folder)}", markup=False)
    if (folder / "report.html").exists():
        drl = typed(Path(sys.executable).with_name("drl"))
        console.print(f"Report: {drl} view {typed(folder)}", markup=False)


def typed(path: Path) -> Path:
    """A path as one would type it from here."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def cells(estimate: JSON) -> tuple[str, str]:
    """An estimate as its value and its interval; dashes where there is none."""
    if not isinstance(estimate, Mapping):
        return "-", "-"
    value, low, high = (float(str(estimate[key])) for key in ("value", "low", "high"))
    return f"{value:.3f}", f"{low:.3f} to {high:.3f}"


def rows(section: JSON) -> list[tuple[str, Mapping[str, JSON]]]:
    """The parts of a summary's section that are objects, by name; none where it is missing."""
    return [(name, row) for name, row in _items(section) if isinstance(row, Mapping)]


def _bill(name: str, total: JSON) -> str:
    """One line of the ledger's totals."""
    assert isinstance(total, Mapping), "the ledger wrote it"
    usd = total["usd"]
    price = "price unknown" if usd == "unknown" else f"{usd} dollars"
    return (
        f"{name}: {total['requests']} requests, {total['tokens_in']} tokens in "
        f"({total['tokens_cached']} cached), {total['tokens_out']} out, {total['retries']} "
        f"retries, {total['cached_samples']} answers from the cache, {price}"
    )


def _items(section: JSON) -> list[tuple[str, JSON]]:
    return list(section.items()) if isinstance(section, Mapping) else []


def _add(table: Table, name: str, estimate: JSON) -> None:
    if isinstance(estimate, Mapping):
        table.add_row(name.replace("_", " "), *cells(estimate), str(estimate["n"]))
