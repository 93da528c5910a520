"""Comparisons of runs as tables on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from drl.evaluation.comparability import remarks, settings_that_differ
from drl.evaluation.comparison import Comparison
from drl.evaluation.measure import words_of
from drl.runtime.table_console import table_console

_SETTINGS_SHOWN = 8


def print_comparison(comparison: Comparison) -> None:
    """A row per measure, what a difference has to reach, what the numbers are of, the verdict."""
    console = Console(highlight=False, soft_wrap=True)
    console.print(f"\nbase:  {comparison.base.name}\nother: {comparison.other.name}", markup=False)
    if not comparison.is_comparable:
        console.print("NOT COMPARABLE: the numbers are for reading only.", markup=False)
    tables = table_console()
    tables.print(_means(comparison))
    if any(measure.difference for measure in comparison.measures.values()):
        tables.print()
        tables.print(_limits(comparison))
    for line in (*_small_print(comparison), comparison.verdict):
        console.print(line, markup=False)


def _means(comparison: Comparison) -> Table:
    table = Table("measure", show_edge=False)
    for column in ("base", "other", "other - base", "95 % interval", "p"):
        table.add_column(column, justify="right")
    for name, measure in comparison.measures.items():
        means = (f"{measure.base.value:.3f}", f"{measure.other.value:.3f}")
        gap = measure.difference
        if gap is None:
            table.add_row(words_of(name), *means, "-", "-", "-")
            continue
        p = gap.p if measure.p_holm is None else measure.p_holm
        interval = f"{gap.low:+.3f} to {gap.high:+.3f}"
        table.add_row(words_of(name), *means, f"{gap.value:+.3f}", interval, f"{p:.4f}")
    return table


def _limits(comparison: Comparison) -> Table:
    table = Table("what a difference has to reach", show_edge=False)
    for column in ("tasks", "noise floor", "found 4 times in 5"):
        table.add_column(column, justify="right")
    for name, measure in comparison.measures.items():
        if measure.difference is not None:
            floor = None if measure.floor is None else measure.floor.value
            n = str(measure.difference.n)
            table.add_row(words_of(name), n, _number(floor), _number(measure.detectable))
    return table


def _small_print(comparison: Comparison) -> list[str]:
    base, other = comparison.base, comparison.other
    changed = settings_that_differ(base, other)
    shown = ", ".join(changed[:_SETTINGS_SHOWN]) or "nothing"
    more = f" and {len(changed) - _SETTINGS_SHOWN} more" if changed[_SETTINGS_SHOWN:] else ""
    trials = f"{base.num_trials} (base) and {other.num_trials} (other) trials a task"
    lines = [f"{comparison.num_paired} tasks scored in both, {trials}. Differ in: {shown}{more}."]
    if comparison.deciding:
        lines.append(_method(comparison))
    return lines + [f"Note: {remark}." for remark in remarks(base, other)]


def _method(comparison: Comparison) -> str:
    names = " and ".join(words_of(name) for name in comparison.deciding)
    sources = {m.floor.source for m in comparison.deciding.values() if m.floor}
    floor = (
        "how trials of one task differ"
        if sources == {"trials"}
        else "how tasks differ, as each was tried once: rather too high than too low"
    )
    return (
        f"p of {names}: Holm over {comparison.num_tests} tests; the others as they are, for "
        f"reading only. Noise floor: from {floor}."
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
