"""MT-Bench in memory: questions with their references, and the judge prompts by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from drl.domains.mt_bench import store
from drl.domains.mt_bench.answer_file import choices_of, number_of
from drl.domains.mt_bench.json_lines import objects
from drl.domains.mt_bench.prompts import JudgePrompt, prompt_of
from drl.domains.mt_bench.questions import Question
from drl.errors import DataError
from drl.runtime.surrogates import writable
from drl.types import JSON

OWN_VERSION = "drl-questions-1"
"""Of our own questions; raised whenever one of them changes."""

_OWN = "own_questions.jsonl"


@dataclass(frozen=True, slots=True)
class World:
    """One set of questions by id, and the prompts that came with it (none with our own)."""

    version: str
    questions: Mapping[str, Question]
    prompts: Mapping[str, JudgePrompt]


@lru_cache(maxsize=4)
def load(root: Path) -> World:
    """What `drl data mt_bench` left below `root`.

    Raises:
        DataError: it is missing, corrupt, or of another version.
    """
    kept = store.read(root / store.FOLDER)
    return build(kept.texts, kept.version)


@lru_cache(maxsize=1)
def own() -> World:
    """Our own questions, which come with drl; their references are what an answer must name."""
    text = (files("drl.domains.mt_bench") / _OWN).read_text(encoding="utf-8")
    rows = objects(text, _OWN, store.REMEDY)
    return World(OWN_VERSION, _by_id((_question(row, at), at) for row, at in rows), {})


def build(texts: Mapping[str, str], version: str) -> World:
    """The world of the published files, by their names in `store.FILES`.

    Raises:
        DataError: one of them is not as FastChat's is.
    """
    question_file, prompt_file, reference_file = store.FILES
    references = {
        str(number_of(row, at)): choices_of(row, at)[0]
        for row, at in objects(texts[reference_file], reference_file, store.REMEDY)
    }
    questions = [
        (_question(row, at, references), at)
        for row, at in objects(texts[question_file], question_file, store.REMEDY)
    ]
    prompts = [
        prompt_of(row, at) for row, at in objects(texts[prompt_file], prompt_file, store.REMEDY)
    ]
    if not questions or not prompts:
        raise DataError(f"{question_file} or {prompt_file} is empty; {store.REMEDY}")
    return World(version, _by_id(questions), {prompt.name: prompt for prompt in prompts})


def _by_id(
    questions: Iterator[tuple[Question, str]] | Sequence[tuple[Question, str]],
) -> dict[str, Question]:
    found: dict[str, Question] = {}
    for question, where in questions:
        if found.setdefault(str(question.number), question) is not question:
            raise DataError(f"{where}: question {question.number} stands there twice; keep one")
    return found


def _question(
    row: Mapping[str, JSON], where: str, references: Mapping[str, Sequence[str]] | None = None
) -> Question:
    """A line of question.jsonl; the references are the judge's, or else (our own) the line's."""
    number, category = number_of(row, where), row.get("category")
    if not isinstance(category, str) or not category:
        raise DataError(f"{where}: category is {category!r:.80}, and must be a text")
    turns = _texts(row, "turns", where)
    if not turns:
        raise DataError(f"{where}: turns is empty; a question needs at least one")
    if references is None:
        answers: Sequence[str] = _texts(row, "reference", where)
    else:
        answers = references.get(str(number), ())
    if answers and len(answers) < len(turns):
        raise DataError(
            f"{where}: {len(turns)} turns have {len(answers)} references; each needs one, or none"
        )
    return Question(number, category, turns, tuple(answers))


def _texts(row: Mapping[str, JSON], key: str, where: str) -> tuple[str, ...]:
    value = row.get(key)
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise DataError(f"{where}: {key} is {value!r:.80}, and must be a list of texts")
    return tuple(writable(str(text)) for text in value)
