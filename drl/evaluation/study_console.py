"""What a study found, as tables on the terminal."""

from __future__ import annotations

from rich.table import Table

from drl.evaluation.intervals import Estimate
from drl.evaluation.study import TIE
from drl.evaluation.study_result import StudyResult
from drl.runtime.table_console import table_console

_CLEAR = 0.05
"""Below this a p value is commonly taken for a difference."""


def print_study(result: StudyResult) -> None:
    """Percent chosen by criterion, then differences, then what the numbers are of."""
    console = table_console()
    names = list(result.best_on)
    chosen = Table(show_edge=False)
    chosen.add_column("percent chosen", no_wrap=True)
    for name in (*names, "no difference", "alpha"):
        chosen.add_column(name, justify="right")
    for criterion, of in result.criteria.items():
        shares = [_percent(of.chosen.get(name)) for name in (*names, TIE)]
        chosen.add_row(criterion, *shares, _plain(of.alpha))
    console.print(chosen)
    gaps = Table(show_edge=False)
    gaps.add_column(f"minus {result.base}, points", no_wrap=True)
    for column in ("candidate", "difference", "95 % interval", "p (Holm)"):
        gaps.add_column(column, justify="right")
    for criterion, of in result.criteria.items():
        for name, against in of.against_base.items():
            gap = against.difference
            interval = f"{100 * gap.low:+.1f} to {100 * gap.high:+.1f}"
            gaps.add_row(
                criterion, name, f"{100 * gap.value:+.1f}", interval, f"{against.p_holm:.3f}"
            )
    console.print()
    console.print(gaps)
    for line in _small_print(result):
        console.print(line, markup=False, soft_wrap=True)


def _small_print(result: StudyResult) -> list[str]:
    best = ", ".join(f"{name} {count}" for name, count in result.best_on.items())
    lines = [
        "",
        f"{result.num_items} items of {result.num_conversations} conversations, raters "
        f"{', '.join(result.raters)}; intervals are over conversations.",
        f"Chosen most on, of {len(result.criteria)} criteria: {best}.",
        f"Agreement over all criteria (Krippendorff's alpha): {_plain(result.alpha)}.",
    ]
    if result.smallest_p_holm > _CLEAR:
        lines.append(
            f"warning: of {result.num_conversations} conversations no p (Holm) can be below "
            f"{result.smallest_p_holm:.2g}, so nothing can be shown; have more conversations "
            "judged, or by fewer criteria."
        )
    if len(result.raters) < 2:
        lines.append("warning: one rater alone; nobody knows whether another would agree.")
    if result.missing_raters:
        lines.append(f"No answers from raters {', '.join(result.missing_raters)}.")
    first = result.first_shown
    if first is not None:
        lines.append(
            f"What stood first was chosen in {_percent(first)} % of choices without ties; "
            f"{100 * result.chance_first:.0f} % without a habit."
        )
    return lines


def _percent(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    return f"{100 * estimate.value:.1f} [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def _plain(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    return f"{estimate.value:.2f} [{estimate.low:.2f}, {estimate.high:.2f}]"
