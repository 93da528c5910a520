"""What a regrading found, on the terminal."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from drl.evaluation.regrading import Regrading

_SHOWN = 20


def print_regrading(found: Regrading, other_results: Path | None, remedy: str | None) -> None:
    """How often the grades agree, then the differences with their reasons.

    Args:
        found: what is told.
        other_results: where the calls stand that give something else here; None without any.
        remedy: what may make such calls agree.
    """
    console = Console(highlight=False, soft_wrap=True)
    n = found.num_graded
    if not n:
        console.print("No dialogue has both a published grade and one of ours.")
        return
    console.print(
        f"Our grade is the published one in {found.num_equal} of {n} dialogues "
        f"({found.num_equal / n:.1%}), whose mean is {found.sum_ours / n:.3f} by ours and "
        f"{found.sum_published / n:.3f} by the published; the mean reward above is over tasks.",
        markup=False,
    )
    if found.num_tries > n:
        console.print(
            f"Of all {found.num_tries} tries the published mean is "
            f"{found.sum_of_tries / found.num_tries:.3f}: tau-bench counts as 0 what broke.",
            markup=False,
        )
    console.print(
        f"{len(found.other_results)} of {found.num_calls} tool calls give something else here"
        + ("." if other_results is None else f", see {other_results}."),
        markup=False,
    )
    if found.other_results and remedy:
        console.print(f"  {remedy}", markup=False)
    for one in found.differences[:_SHOWN]:
        console.print(
            f"  {one.task_id}, trial {one.trial}: published {one.published:g}, ours "
            f"{one.ours:g}: {one.why}",
            markup=False,
        )
    if len(found.differences) > _SHOWN:
        console.print(f"  and {len(found.differences) - _SHOWN} more in summary.json")
