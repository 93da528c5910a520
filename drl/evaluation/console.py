"""A summary as tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from drl.types import JSON


def print_summary(summary: Mapping[str, JSON], *, details: bool) -> None:
    """Headline numbers; with `details` also goals, domains and the measures no reward sees."""
    console = Console(highlight=False)
    table = Table(title=str(summary.get("title", "")), title_justify="left", show_edge=False)
    for column, justify in (
        ("", "left"),
        ("value", "right"),
        ("95 % interval", "right"),
        ("n", "right"),
    ):
        table.add_column(column, justify=justify)  # pyright: ignore[reportArgumentType]
    _add(table, "mean reward", summary.get("mean_reward"))
    _add(table, "full success", summary.get("full_success"))
    _add(table, "agent calls per task", summary.get("agent_calls"))
    if details:
        for section in ("pass_hat_k", "per_domain", "per_goal_kind", "metrics"):
            table.add_section()
            for name, estimate in _items(summary.get(section)):
                _add(table, f"pass^{name}" if section == "pass_hat_k" else name, estimate)
    console.print(table)
    console.print(
        f"{summary.get('n_tasks')} tasks, {summary.get('n_errors')} broken, "
        f"{summary.get('n_unscored')} unscored, {summary.get('seconds')} s. "
        f"{summary.get('label', '')}",
        markup=False,
    )


def _items(section: JSON) -> list[tuple[str, JSON]]:
    return list(section.items()) if isinstance(section, Mapping) else []


def _add(table: Table, name: str, estimate: JSON) -> None:
    if not isinstance(estimate, Mapping):
        return
    value, low, high = (float(str(estimate[key])) for key in ("value", "low", "high"))
    table.add_row(
        name.replace("_", " "), f"{value:.3f}", f"{low:.3f} to {high:.3f}", str(estimate["n"])
    )
