"""The answers that raters send back, held against the form that they were given to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from drl.errors import DataError
from drl.evaluation.study import TIE, Key


class _Judged(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    order: Sequence[str]
    choices: Mapping[str, str]


class _Sheet(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    form: str
    rater: str
    answers: Mapping[str, _Judged]


@dataclass(frozen=True, slots=True)
class Choice:
    """What one rater said of one item by one criterion.

    `candidate` is a name, or TIE; `first` is whose answer stood first on the screen;
    `conversation` is what the item may share with others.
    """

    rater: str
    item: str
    conversation: str
    criterion: str
    candidate: str
    first: str


def read_answers(key: Key, paths: Sequence[Path], *, allow_incomplete: bool) -> list[Choice]:
    """All choices, with the names of candidates instead of letters.

    Raises:
        DataError: a file is of another form, of a rater who was there before or is not of this
            study, holds what the form does not offer, or lacks choices while those are needed.
    """
    choices: list[Choice] = []
    files: dict[str, Path] = {}
    for path in paths:
        sheet = _read(path)
        if sheet.form != key.form:
            raise DataError(
                f"{path}: answers form {sheet.form}, and this study is form {key.form}; give the "
                "answers of this form"
            )
        if sheet.rater in files:
            raise DataError(
                f"{path}: is of rater {sheet.rater}, as is {files[sheet.rater]}; give one of them"
            )
        if sheet.rater not in map(str, range(1, key.num_raters + 1)):
            raise DataError(
                f"{path}: is of rater {sheet.rater!r}, and the raters are 1 to {key.num_raters}"
            )
        files[sheet.rater] = path
        found = list(_choices(key, path, sheet))
        asked = len(key.items) * len(key.criteria)
        if len(found) < asked and not allow_incomplete:
            raise DataError(
                f"{path}: rater {sheet.rater} made {len(found)} of {asked} choices; ask for the "
                "rest, or use what there is with --incomplete"
            )
        choices += found
    if not choices:
        raise DataError("--answers: no file holds a choice; give what the raters sent")
    return choices


def _read(path: Path) -> _Sheet:
    try:
        return _Sheet.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        fault = error.errors()[0]["msg"] if isinstance(error, ValidationError) else str(error)
        raise DataError(
            f"{path}: cannot be read as a rater's answers ({fault}); give the file that the form "
            "saved"
        ) from error


def _choices(key: Key, path: Path, sheet: _Sheet) -> Iterator[Choice]:
    for name, judged in sheet.answers.items():
        if name not in key.items:
            raise DataError(f"{path}: there is no item {name} in this form; it was changed")
        item = key.items[name]
        if sorted(judged.order) != sorted(item.candidates):
            raise DataError(f"{path}: item {name} was not shown as this form shows it")
        for criterion, letter in judged.choices.items():
            if criterion not in key.criteria or letter not in (*item.candidates, TIE):
                raise DataError(
                    f"{path}: item {name}: {criterion}={letter} is no choice of this form; it was "
                    "changed"
                )
            yield Choice(
                rater=sheet.rater,
                item=item.id,
                conversation=item.conversation or item.id,
                criterion=criterion,
                candidate=item.candidates.get(letter, TIE),
                first=item.candidates[judged.order[0]],
            )
