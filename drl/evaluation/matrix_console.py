"""One agent under several customers, as tables on the terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table

from drl.evaluation.console import cells, rows
from drl.runtime.table_console import table_console
from drl.types import JSON


def print_matrix(matrix: Mapping[str, JSON]) -> None:
    """A row per customer, then each one's distance from the first."""
    console = table_console()
    users = Table("customer", show_edge=False)
    for column in ("mean reward", "95 % interval", "full success", "calls", "n", "broken"):
        users.add_column(column, justify="right")
    for user, row in rows(matrix["users"]):
        reward = row["mean_reward"]
        users.add_row(
            user,
            *cells(reward),
            cells(row["full_success"])[0],
            cells(row["agent_calls"])[0],
            str(reward["n"]) if isinstance(reward, Mapping) else "0",
            str(row["n_errors"]),
        )
    gaps = Table(f"minus {matrix['against']}, task by task", show_edge=False)
    for column in ("difference", "95 % interval", "n", "p (Holm)"):
        gaps.add_column(column, justify="right")
    for measure, by_user in rows(matrix["differences"]):
        for user, gap in rows(by_user):
            name = f"{user}: {measure.replace('_', ' ')}"
            p = float(str(gap["p_holm"]))
            gaps.add_row(name, *cells(gap), str(gap["n"]), f"{p:.4f}")
    console.print(f"\n{matrix['name']}: one agent under several customers", markup=False)
    console.print(users)
    console.print()
    console.print(gaps)
    console.print(
        f"{matrix['n_trials']} trials a task, intervals over tasks. {matrix['label']}",
        markup=False,
    )
