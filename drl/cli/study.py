"""`drl study`: people judge answers without knowing whose they are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def study(
    sources: Annotated[
        list[Path],
        typer.Argument(help="A run or a file of paired samples; with --answers, the study."),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="A folder for the new study.")] = None,
    criteria: Annotated[
        list[str] | None,
        typer.Option(help="Names of known criteria, or NAME=QUESTION; several times."),
    ] = None,
    raters: Annotated[int, typer.Option(help="How many people will judge.")] = 3,
    items: Annotated[int | None, typer.Option(help="Draw so many of the samples.")] = None,
    seed: Annotated[int, typer.Option(help="Of the draws and of the letters.")] = 0,
    answers: Annotated[
        list[Path] | None, typer.Option("--answers", help="The files that raters saved.")
    ] = None,
    base: Annotated[
        str | None, typer.Option(help="Whom the others are compared with; else the first.")
    ] = None,
    incomplete: Annotated[
        bool, typer.Option("--incomplete", help="Take answers with open questions too.")
    ] = False,
) -> None:
    """Write a blinded form for raters, or put their answers together.

    drl study RUN --out FOLDER writes form.html, which goes to the raters, and key.json, which does
    not. drl study FOLDER --answers FILE FILE ... prints who was chosen and writes results.json.
    """
    first, *more = sources
    if answers is None:
        _write(first, more, out, criteria or [], raters, items, seed)
    else:
        _result(first, [*answers, *more], base, incomplete)


def _write(
    source: Path,
    more: list[Path],
    out: Path | None,
    criteria: list[str],
    raters: int,
    items: int | None,
    seed: int,
) -> None:
    from drl.errors import ConfigError
    from drl.evaluation.study import FORM, KEY, blind, write_key
    from drl.evaluation.study_criteria import choose_criteria
    from drl.evaluation.study_samples import read_samples
    from drl.report.study_page import write_study_form

    if more or out is None:
        raise ConfigError(
            f"study {source}: give one run or file with --out FOLDER, or a study with --answers"
        )
    key, page = blind(
        read_samples(source),
        choose_criteria(criteria),
        num_raters=raters,
        num_items=items,
        seed=seed,
    )
    write_key(out, key)
    write_study_form(out / FORM, page)
    print(f"{out / FORM}: send it to the raters, each with a number from 1 to {raters}")
    print(f"{out / KEY}: keep it; it says whose answers they are")


def _result(folder: Path, answers: list[Path], base: str | None, incomplete: bool) -> None:
    import json

    from drl.errors import RunError
    from drl.evaluation.study import RESULTS, read_key
    from drl.evaluation.study_answers import read_answers
    from drl.evaluation.study_console import print_study
    from drl.evaluation.study_result import analyse

    key = read_key(folder)
    result = analyse(key, read_answers(key, answers, allow_incomplete=incomplete), base)
    path = folder / RESULTS
    try:
        text = json.dumps(result.to_json(), indent=2, ensure_ascii=False)
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise RunError(f"{path}: cannot be written ({error}); free space there") from error
    print_study(result)
