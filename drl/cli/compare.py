"""`drl compare`: whether one run is better than another, or only looks so."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drl.cli._runs import check_run
from drl.errors import RunError


def compare(
    runs: Annotated[
        list[Path], typer.Argument(help="Run folders; the others are compared with the first.")
    ],
    metric: Annotated[
        str | None,
        typer.Option(help="The one measure that decides, chosen beforehand; else both headlines."),
    ] = None,
    shared: Annotated[
        bool, typer.Option("--shared", help="Pair the tasks that runs of different ones share.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="An object a line for each run after the first.")
    ] = False,
) -> None:
    """Compare runs task by task, and name a winner only where chance and setting allow it.

    Differences have 95 % intervals over tasks, a noise floor, and the true difference that so many
    tasks would find in four of five cases. Runs that differ in more than their policies (agent
    and llm) are shown, and no winner is named.
    """
    import json

    from drl.evaluation.comparison import HEADLINE, compare_all
    from drl.evaluation.comparison_console import print_comparison
    from drl.evaluation.run_result import read_result

    base, *others = (read_result(folder) for folder in _distinct(runs))
    metrics = HEADLINE if metric is None else (metric,)
    for comparison in compare_all(base, others, metrics=metrics, only_shared=shared):
        if as_json:
            print(json.dumps(comparison.to_json(), ensure_ascii=False))
        else:
            print_comparison(comparison)


def _distinct(runs: list[Path]) -> list[Path]:
    """Two or more folders of runs.

    Raises:
        RunError: there are fewer, one holds no run, or one is named twice.
    """
    if len(runs) < 2:
        raise RunError(f"{runs[0]}: a comparison needs two runs or more; name another one")
    folders = [check_run(run).resolve() for run in runs]
    for place, folder in enumerate(folders):
        if folder in folders[:place]:
            raise RunError(f"{runs[place]} is named twice; a run does not differ from itself")
    return runs
