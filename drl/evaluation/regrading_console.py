"""What a regrading found, on the terminal."""

from __future__ import annotations

from rich.console import Console

from drl.evaluation.regrading import Regrading

_SHOWN = 20


def print_regrading(found: Regrading) -> None:
    """How often the grades agree, then the differences with their reasons."""
    console = Console(highlight=False, soft_wrap=True)
    n = found.num_graded
    if not n:
        console.print("No dialogue has both a published grade and one of ours.")
        return
    console.print(
        f"Our grade is the published one in {found.num_equal} of {n} dialogues "
        f"({found.num_equal / n:.1%}); means {found.sum_ours / n:.3f} (ours) and "
        f"{found.sum_published / n:.3f} (published). {found.num_other_results} of "
        f"{found.num_calls} tool calls give something else here.",
        markup=False,
    )
    for one in found.differences[:_SHOWN]:
        console.print(
            f"  {one.task_id}, trial {one.trial}: published {one.published:g}, ours "
            f"{one.ours:g}: {one.why}",
            markup=False,
        )
    if len(found.differences) > _SHOWN:
        console.print(f"  and {len(found.differences) - _SHOWN} more in summary.json")
