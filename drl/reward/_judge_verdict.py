"""What a judge says of a case: a rating, or how it compares with the answers of another model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from drl.domains.judge import verdict
from drl.domains.judge.own_prompts import Line
from drl.domains.judge.verdict import Winner
from drl.domains.mt_bench.answer_file import FAILED, AnswerFile
from drl.domains.mt_bench.prompts import RATING, RATINGS, WINNER
from drl.errors import DataError
from drl.llm.base import LLM
from drl.reward._judge_asking import Asking, Judged
from drl.reward._judge_prompts import Asked, Case, JudgePrompts
from drl.reward.base import RewardError
from drl.types import JSON, Place, Role

LOWEST: Final = 1.0
HIGHEST: Final = 10.0
"""The scale that judges are asked to keep to."""

_Read = TypeVar("_Read")
_READERS: Final[Mapping[str, Callable[[str], Winner | None]]] = {
    WINNER: verdict.winner,
    RATINGS: verdict.winner_by_ratings,
}
_FIRST: Final[Mapping[Winner, str]] = {"A": "model_1", "B": "model_2", "tie": "tie"}
_SWAPPED: Final[Mapping[Winner, str]] = {"A": "model_2", "B": "model_1", "tie": "tie"}
_PAID: Final = {"model_1": 1.0, "model_2": 0.0, "tie": 0.5}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a case is worth; None is unscored. `detail` tells readers what was asked and said."""

    amount: float | None
    detail: Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Judge:
    """Words and patience; the model comes with each case."""

    prompts: JudgePrompts
    asking: Asking

    async def rate(self, case: Case, llm: LLM, scale: Literal["unit", "points"]) -> Verdict:
        """A rating in points, or as a share of the scale; a number beyond its ends is none.

        Raises:
            OutageError: the judge cannot be reached.
            RewardError, DataError: the prompts do not fit the case, or cannot be had.
        """
        asked = self.prompts.rate(case)
        if asked.output_format != RATING:
            raise _wrong_format(asked)
        judged = await self._ask(llm, asked, _rating, case, "rating")
        points = judged.verdict
        detail = {**_told(case, llm, asked), "points": points, "judgment": judged.judgment}
        detail["user_prompt"] = asked.prompt.user
        if points is None:
            return Verdict(None, {"cause": judged.cause, **detail})
        share = (points - LOWEST) / (HIGHEST - LOWEST)
        return Verdict(points if scale == "points" else share, detail)

    async def compare(self, case: Case, against: AnswerFile, llm: LLM) -> Verdict:
        """1 for a win of the agent, 0 for a loss, 0.5 for a tie.

        Each is shown first once; it is a tie as well where the two judgments do not agree. With a
        baseline that holds no answer there is nothing to judge.

        Raises:
            OutageError: the judge cannot be reached.
            RewardError, DataError: as `rate`, or there is nothing to compare with.
        """
        answers = answers_to(against, case.task_id, case.turn)
        other = _said_by(answers, case)
        games = [
            self.prompts.compare(case, case.said, other),
            self.prompts.compare(case, other, case.said),
        ]
        read = _READERS.get(games[0].output_format)
        if read is None:
            raise _wrong_format(games[0])
        if failed := FAILED.intersection(answers):
            cause = f"the baseline holds {min(failed)} in place of an answer"
            unheard: Judged[Winner] = Judged(None, "", cause)
            judged = [unheard] * len(games)
        else:
            judged = await asyncio.gather(
                *(self._ask(llm, game, read, case, f"game {n}") for n, game in enumerate(games))
            )
        winners = [
            "error" if each.verdict is None else names[each.verdict]
            for each, names in zip(judged, (_FIRST, _SWAPPED), strict=True)
        ]
        detail = {**_told(case, llm, games[0]), "baseline": against.model}
        for n, (game, each, who) in enumerate(zip(games, judged, winners, strict=True), start=1):
            detail |= {f"g{n}_winner": who, f"g{n}_judgment": each.judgment}
            detail[f"g{n}_user_prompt"] = game.prompt.user
        if "error" in winners:
            causes = dict.fromkeys(each.cause for each in judged if each.cause)
            return Verdict(None, {"cause": "; ".join(causes), **detail})
        return Verdict(_PAID[winners[0]] if winners[0] == winners[1] else _PAID["tie"], detail)

    async def _ask(
        self, llm: LLM, asked: Asked, read: Callable[[str], _Read | None], case: Case, which: str
    ) -> Judged[_Read]:
        seeded_by = (case.task_id, case.turn, which)
        place = Place(case.task_id, 0, None)
        return await self.asking.ask(llm, asked.prompt, read, seeded_by, place)


def _told(case: Case, llm: LLM, asked: Asked) -> dict[str, JSON]:
    return {"turn": case.turn, "judge": llm.model, "prompt": asked.name}


def answers_to(against: AnswerFile, question: str, num_turns: int) -> tuple[str, ...]:
    """What the baseline says in the first turns of a question.

    Raises:
        DataError: it has fewer of them.
    """
    answers = against.turns(question, 0)
    if len(answers) < num_turns:
        raise DataError(
            f"{against.path}: has {len(answers)} turns for question {question}, and turn "
            f"{num_turns} is to be compared; name another file"
        )
    return answers[:num_turns]


def _said_by(answers: tuple[str, ...], case: Case) -> list[Line]:
    """The same dialogue with the answers of the baseline."""
    spoken = iter(answers)
    return [
        Line(line.role, next(spoken)) if line.role is Role.AGENT else line for line in case.said
    ]


def _rating(judgment: str) -> float | None:
    """The rating; None for a number that is not on the scale, which would spoil any mean."""
    points = verdict.rating(judgment)
    return points if points is not None and LOWEST <= points <= HIGHEST else None


def _wrong_format(asked: Asked) -> RewardError:
    return RewardError(
        f"the judge prompt {asked.name} asks for {asked.output_format}, which is no form for what "
        "it is used for; use the published judge_prompts.jsonl"
    )
