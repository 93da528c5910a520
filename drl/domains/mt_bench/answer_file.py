"""Answers in FastChat's form: a file a model, a line a question, several choices of turns each.

    {"question_id": 81, "answer_id": "...", "model_id": "...",
     "choices": [{"index": 0, "turns": ["...", "..."]}], "tstamp": 1686286924.8}

The name of the file is the name of the model; of two lines about a question the last counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Final

from drl.domains.mt_bench.json_lines import objects
from drl.errors import DataError
from drl.runtime.surrogates import writable
from drl.types import JSON

FAILED: Final = frozenset({"ERROR", "$ERROR$"})
"""What FastChat writes in place of an answer that it could not get."""

_ID_LETTERS: Final = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_ID_LENGTH: Final = 22


@dataclass(frozen=True, slots=True)
class AnswerFile:
    """The answers of one model: by question id its choices, each with a text a turn."""

    path: Path
    model: str
    choices: Mapping[str, tuple[tuple[str, ...], ...]]
    digest: str

    def turns(self, question: str, choice: int) -> tuple[str, ...]:
        """The answers of one choice.

        Raises:
            DataError: the file has none.
        """
        known = self.choices.get(question)
        if known is None:
            raise DataError(
                f"{self.path}: has no answer to question {question}; take others with "
                "dataset.ids, or another file"
            )
        if choice >= len(known):
            raise DataError(
                f"{self.path}: has {len(known)} choices for question {question}, so none for "
                f"trial {choice}; lower trainer.trials"
            )
        return known[choice]


def read_answers(path: Path) -> AnswerFile:
    """The answers in a file.

    Raises:
        DataError: it cannot be read, or a line is no answer.
    """
    try:
        content = path.read_bytes()
        text = content.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(
            f"{path}: cannot be read as UTF-8 text ({error}); name a file of answers in FastChat's "
            "form"
        ) from error
    choices = {
        str(number_of(row, where)): choices_of(row, where)
        for row, where in objects(text, str(path), "write an answer a line")
    }
    if not choices:
        raise DataError(f"{path}: holds no answer; name a file of answers in FastChat's form")
    return AnswerFile(path, path.stem, choices, sha256(content).hexdigest()[:8])


def number_of(row: Mapping[str, JSON], where: str) -> int:
    """The id of the question that a line is about.

    Raises:
        DataError: it has none.
    """
    number = row.get("question_id")
    if not isinstance(number, int) or isinstance(number, bool):
        raise DataError(f"{where}: question_id is {number!r:.80}, and must be a whole number")
    return number


def choices_of(row: Mapping[str, JSON], where: str) -> tuple[tuple[str, ...], ...]:
    """The choices of a line, each as its turns; halves of characters become U+FFFD.

    Raises:
        DataError: it has none, or they are no texts.
    """
    choices = row.get("choices")
    if not isinstance(choices, list) or not choices:
        raise DataError(
            f"{where}: choices is {choices!r:.80}, and must be a list that is not empty"
        )
    found: list[tuple[str, ...]] = []
    for choice in choices:
        turns = choice.get("turns") if isinstance(choice, Mapping) else None
        if not isinstance(turns, list) or not all(isinstance(text, str) for text in turns):
            raise DataError(f"{where}: a choice is {choice!r:.80}, and must have turns, as texts")
        found.append(tuple(writable(str(text)) for text in turns))
    return tuple(found)


def answer_row(
    number: int, model: str, choices: Mapping[int, tuple[str, ...]], tstamp: float
) -> dict[str, JSON]:
    """The line of one question; its `answer_id` depends on what is in it, so it can be repeated.

    Args:
        number: of the question.
        model: its name.
        choices: turns by index.
        tstamp: seconds since 1970.
    """
    listed: list[JSON] = [
        {"index": index, "turns": list(turns)} for index, turns in sorted(choices.items())
    ]
    return {
        "question_id": number,
        "answer_id": _id_of(json.dumps([number, model, listed])),
        "model_id": model,
        "choices": listed,
        "tstamp": tstamp,
    }


def _id_of(text: str) -> str:
    """A short id in the letters that FastChat's have."""
    left, letters = int.from_bytes(sha256(text.encode()).digest(), "big"), ""
    while len(letters) < _ID_LENGTH:
        left, place = divmod(left, len(_ID_LETTERS))
        letters += _ID_LETTERS[place]
    return letters
