"""What a judge is asked about a dialogue: in our own words, or in those of MT-Bench."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from drl.domains.judge import own_prompts
from drl.domains.judge.own_prompts import Line, Prompt
from drl.domains.mt_bench.fetch import fetched
from drl.domains.mt_bench.prompts import RATING, WINNER
from drl.domains.mt_bench.questions import WITH_REFERENCE, Question
from drl.domains.mt_bench.world import World
from drl.reward.base import RewardError
from drl.types import Role


@dataclass(frozen=True, slots=True)
class Case:
    """What is judged: the last of the lines, or (`whole`) all that the agent said in them.

    `turn` counts the agent's turns in them, from 1. `question` is what the task asks, where it is
    one of a set of questions.
    """

    task_id: str
    said: tuple[Line, ...]
    turn: int
    whole: bool
    question: Question | None

    @property
    def references(self) -> tuple[str, ...]:
        """What is known to be right, for each turn that is judged; empty where nothing is."""
        known = () if self.question is None else self.question.references
        return known[: self.turn] if self.whole else known[self.turn - 1 : self.turn]


class Asked(NamedTuple):
    """A request to a judge; `name` is that of its words, `output_format` how it is to end."""

    name: str
    output_format: str
    prompt: Prompt


class JudgePrompts(ABC):
    """Words for requests."""

    @property
    @abstractmethod
    def version(self) -> str:
        """Of the words: judgments under others are another measure.

        Raises:
            DataError: they cannot be had.
        """

    @abstractmethod
    def rate(self, case: Case) -> Asked:
        """Asks for a rating.

        Raises:
            RewardError: the case is of a form that they do not know.
            DataError: they cannot be had.
        """

    @abstractmethod
    def compare(self, case: Case, first: Sequence[Line], second: Sequence[Line]) -> Asked:
        """Asks which of two dialogues is better; the one of `first` is shown first, as A.

        Raises:
            RewardError, DataError: as `rate`.
        """


class OwnPrompts(JudgePrompts):
    """Our own words, for dialogues of any form."""

    @property
    def version(self) -> str:
        """A hash of them."""
        return f"own-{own_prompts.digest()}"

    def rate(self, case: Case) -> Asked:
        """Asks for a rating from 1 to 10."""
        prompt = own_prompts.rate(case.said, "\n".join(case.references), whole=case.whole)
        return Asked(_own_name("rate", case), RATING, prompt)

    def compare(self, case: Case, first: Sequence[Line], second: Sequence[Line]) -> Asked:
        """Asks for A, B or C."""
        prompt = own_prompts.compare(first, second, "\n".join(case.references), whole=case.whole)
        return Asked(_own_name("compare", case), WINNER, prompt)


class PublishedPrompts(JudgePrompts):
    """The words of MT-Bench, from the data below `root`, for its two turns.

    Answers of some categories are held against references, as in FastChat 0.2.36.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def version(self) -> str:
        """That of the data that they came with."""
        return self._world.version

    def rate(self, case: Case) -> Asked:
        """Asks for a rating; the second turn is judged with the first in sight."""
        exchanges = _exchanges(case, case.said)
        texts = _texts(exchanges, {"answer": [answer for _, answer in exchanges]})
        return self._asked("single-v1", "single-math-v1", case, texts)

    def compare(self, case: Case, first: Sequence[Line], second: Sequence[Line]) -> Asked:
        """Asks for A, B or C."""
        exchanges = _exchanges(case, first)
        answers = {
            "answer_a": [answer for _, answer in exchanges],
            "answer_b": [answer for _, answer in _exchanges(case, second)],
        }
        return self._asked("pair-v2", "pair-math-v1", case, _texts(exchanges, answers))

    def _asked(self, plain: str, with_reference: str, case: Case, texts: dict[str, str]) -> Asked:
        question = case.question
        name = plain
        if question is not None and question.category in WITH_REFERENCE:
            name = with_reference
            if len(question.references) < case.turn:
                raise RewardError(
                    f"reward.prompts=mt_bench holds answers in {question.category} against "
                    f"references, but question {case.task_id} has none; add it to gpt-4.jsonl, or "
                    "use reward.prompts=own"
                )
            for number, reference in enumerate(question.references[: case.turn], start=1):
                texts[f"ref_answer_{number}"] = reference
        if case.turn > 1:
            name += "-multi-turn"
        words = self._world.prompts.get(name)
        if words is None:
            raise RewardError(
                f"reward.prompts=mt_bench needs the prompt {name}, and judge_prompts.jsonl below "
                f"{self._root} has only {', '.join(self._world.prompts)}; use the published file"
            )
        return Asked(name, words.output_format, Prompt(words.system, words.fill(texts)))

    @cached_property
    def _world(self) -> World:
        return fetched(self._root)


def _own_name(verb: str, case: Case) -> str:
    known = "-reference" if case.references else ""
    return f"own-{verb}-{'dialogue' if case.whole else 'turn'}{known}"


def _exchanges(case: Case, said: Sequence[Line]) -> list[tuple[str, str]]:
    """Question and answer of each turn.

    Raises:
        RewardError: the dialogue has another form.
    """
    roles = [line.role for line in said]
    if case.turn > 2 or roles != [Role.USER, Role.AGENT] * case.turn:
        raise RewardError(
            "reward.prompts=mt_bench judges one or two answers that each follow on a question, and "
            f"task {case.task_id} has {' '.join(roles)}; use reward.prompts=own for other dialogues"
        )
    texts = [line.text for line in said]
    return list(zip(texts[::2], texts[1::2], strict=True))


def _texts(
    exchanges: Sequence[tuple[str, str]], answers: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """What fills the places of a prompt: numbered ones once there are two turns."""
    if len(exchanges) == 1:
        ((question, _),) = exchanges
        return {"question": question, **{name: turns[0] for name, turns in answers.items()}}
    texts = {f"question_{turn}": asked for turn, (asked, _) in enumerate(exchanges, start=1)}
    for name, turns in answers.items():
        texts |= {f"{name}_{turn}": text for turn, text in enumerate(turns, start=1)}
    return texts
