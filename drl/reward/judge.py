"""A model's judgment of what the agent said (llm@judge_llm), as in MT-Bench (arXiv:2306.05685).

Ratings go from 1 to 10. Pairwise, each answer is held against that of another model, once shown
first and once second: it wins or loses where both judgments agree, and else it is a tie.

A judgment that cannot be read is asked for again; after that the turn is unscored, which is not 0:
it earns no event and counts in no mean. What was judged stands in the details of the events, from
which trainer=mt_bench writes FastChat's files.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Literal
from weakref import WeakKeyDictionary

from drl.domains.judge.own_prompts import Line
from drl.domains.mt_bench.answer_file import AnswerFile, read_answers
from drl.domains.mt_bench.questions import Question
from drl.environment.base import Environment
from drl.errors import ConfigError, DataError
from drl.llm.base import LLM, Sampling
from drl.reward._judge_asking import Asking
from drl.reward._judge_prompts import Case, OwnPrompts, PublishedPrompts
from drl.reward._judge_verdict import Judge, Verdict, answers_to
from drl.reward._said import is_said
from drl.reward.base import Judgement, Reward
from drl.runtime.settings import check_not_negative
from drl.types import RewardEvent, Role, Task, Turn

_MOST_KNOWN = 10_000
"""Verdicts that are remembered, since a dialogue is judged first and graded later."""


@dataclass(kw_only=True)
class JudgeReward(Reward):
    """Pays what a judge says of each finished turn of the agent, or of the dialogue as a whole.

    `prompts` are our own, or those of MT-Bench, whose data lies below `root`. With `mode=pairwise`
    a turn earns 1, 0.5 or 0 against the answers in the file `baseline`, in FastChat's form. Ratings
    are paid in `points`, or as their `unit` share of the scale. The grade of a dialogue is the
    `total` over its judged turns; only the sum is what its events add up to.
    """

    prompts: Literal["own", "mt_bench"]
    root: str
    mode: Literal["single", "pairwise"]
    baseline: str | None
    when: Literal["turn", "dialogue"]
    total: Literal["mean", "sum"]
    scale: Literal["unit", "points"]
    temperature: float
    max_tokens: int
    retries: int
    retry_temperature: float

    uses_llm = True

    def __post_init__(self) -> None:
        """Check the settings against each other, and read the baseline."""
        Sampling(self.temperature, self.max_tokens).check("reward")
        check_not_negative("reward", retries=self.retries)
        if not 0.0 <= self.retry_temperature <= 2.0:
            raise ConfigError(
                f"reward.retry_temperature={self.retry_temperature} must lie in [0, 2]; with 0 a "
                "retry may say the same again"
            )
        if (self.mode == "pairwise") != (self.baseline is not None):
            raise ConfigError(
                f"reward.mode={self.mode} and reward.baseline={self.baseline} do not go together; "
                "pairwise needs a file of answers, and single takes none"
            )
        if self.prompts == "mt_bench" and self.when == "dialogue":
            raise ConfigError(
                "reward.prompts=mt_bench judges turn by turn; set reward.when=turn, or "
                "reward.prompts=own"
            )
        words = OwnPrompts() if self.prompts == "own" else PublishedPrompts(Path(self.root))
        asking = Asking(self.temperature, self.max_tokens, self.retries, self.retry_temperature)
        self.pays_turns = self.when == "turn"
        self._judge = Judge(words, asking)
        self._against = None if self.baseline is None else _read_baseline(self.baseline)
        self._known: WeakKeyDictionary[LLM, dict[bytes, Verdict]] = WeakKeyDictionary()

    @property
    def version(self) -> str:
        """Of the prompts, and of the answers to compare with.

        Raises:
            DataError: the published prompts cannot be had.
        """
        against = self._against
        pair = "" if against is None else f"-against-{against.model}-{against.digest}"
        return f"judge-{self._judge.prompts.version}{pair}"

    def check_task(self, task: Task) -> None:
        """Refuse a question of which the baseline has not answered every turn.

        Raises:
            DataError: it has fewer answers, or none.
        """
        if self._against is not None and isinstance(task.world, Question):
            answers_to(self._against, task.id, len(task.world.turns))

    async def judge(
        self,
        task: Task,
        environment: Environment,
        before: Sequence[Turn],
        turn: Turn,
        open_goals: tuple[int, ...],
        llm: LLM,
    ) -> Judgement:
        """What the turn earned, once the agent has spoken; goals stay as they are.

        Raises:
            OutageError: the judge cannot be reached.
            RewardError: the prompts are not for a dialogue of this form.
            DataError: the baseline has no answer to compare with.
        """
        if self.when == "dialogue" or not is_said(turn):
            return Judgement((), open_goals)
        verdict = await self._verdict(_case(task, (*before, turn), whole=False), llm)
        source = "judge" if self._against is None else "judge_pair"
        if verdict.amount is None:
            return Judgement((), open_goals, unscored=({"source": source, **verdict.detail},))
        return Judgement((RewardEvent(verdict.amount, source, verdict.detail),), open_goals)

    async def grade(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn], llm: LLM
    ) -> float | None:
        """What its judged turns, or it as a whole, are worth; unscored when none could be judged.

        Raises:
            OutageError, RewardError, DataError: as `judge`.
        """
        ends = [end for end, turn in enumerate(dialogue, start=1) if is_said(turn)]
        if any(turn.failure for turn in dialogue):
            return None
        if self.when == "dialogue":
            cases = [_case(task, dialogue, whole=True)] if ends else []
        else:
            cases = [_case(task, dialogue[:end], whole=False) for end in ends]
        verdicts = await asyncio.gather(*(self._verdict(case, llm) for case in cases))
        amounts = [each.amount for each in verdicts if each.amount is not None]
        if self.total == "sum" and not cases:
            return 0.0  # nothing was said, so nothing was to be judged
        if not amounts:
            return None
        return math.fsum(amounts) / (1 if self.total == "sum" else len(amounts))

    async def _verdict(self, case: Case, llm: LLM) -> Verdict:
        """What the judge says; about the same it is asked once."""
        known = self._known.setdefault(llm, {})
        key = blake2b(repr(case).encode("utf-8", "surrogatepass"), digest_size=16).digest()
        if key not in known:
            if self._against is None:
                verdict = await self._judge.rate(case, llm, self.scale)
            else:
                verdict = await self._judge.compare(case, self._against, llm)
            if len(known) >= _MOST_KNOWN:
                del known[next(iter(known))]
            known[key] = verdict
        return known[key]


def _case(task: Task, dialogue: Sequence[Turn], *, whole: bool) -> Case:
    """What is judged: all that was said so far, the task's opening included."""
    said = [
        Line(turn.role, turn.text)
        for turn in (*task.opening, *dialogue)
        if turn.text is not None and (turn.role is Role.USER or is_said(turn))
    ]
    return Case(
        task_id=task.id,
        said=tuple(said),
        turn=sum(line.role is Role.AGENT for line in said),
        whole=whole,
        question=task.world if isinstance(task.world, Question) else None,
    )


def _read_baseline(path: str) -> AnswerFile:
    try:
        return read_answers(Path(path))
    except DataError as error:
        raise ConfigError(f"reward.baseline={path}: {error}") from error
