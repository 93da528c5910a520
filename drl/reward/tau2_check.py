"""The grade of tau2-bench: 1 if all that a task demands holds at the end, else 0.

A task demands some of: the right databases of both sides (DB), assertions about them
(ENV_ASSERTION), calls that were made (ACTION), texts that the agent said (COMMUNICATE), and
statements of which a model says whether they are true (NL_ASSERTION). tau2's environments and
hashes are used, see `drl.domains.tau2.check`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Literal

from drl.domains.judge.own_prompts import Prompt
from drl.domains.tau2.check import JUDGED, Findings, assertions, find
from drl.domains.tau2.statements import all_true, question
from drl.domains.tau2.world import Scene
from drl.environment.base import Environment
from drl.errors import ConfigError, DataError
from drl.llm.base import LLM, Sampling
from drl.reward._judge_asking import Asking
from drl.reward.base import Judgement, Reward, RewardError
from drl.runtime.settings import check_not_negative, check_positive
from drl.types import JSON, Place, Task, Turn

_LOG = logging.getLogger(__name__)


@dataclass(kw_only=True)
class Tau2CheckReward(Reward):
    """Grades finished dialogues; it pays for no turn, so a search needs another reward.

    Statements (`nl_assertions`) are put to `llm@judge_llm` (judge), leave the dialogue unscored
    where the rest is right (unscored), or are passed over (ignore), which is another measure than
    tau2's. A dialogue that neither side ended is a failure, and so is one with `max_errors` calls
    that were refused, since tau2 stops it there.
    """

    sums_up = False
    pays_turns = False

    nl_assertions: Literal["judge", "unscored", "ignore"]
    max_errors: int | None
    temperature: float
    max_tokens: int
    retries: int

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.nl_assertions not in ("judge", "unscored", "ignore"):
            raise ConfigError(
                f"reward.nl_assertions={self.nl_assertions} is unknown; use judge, unscored or "
                "ignore"
            )
        if self.max_errors is not None:
            check_positive("reward", max_errors=self.max_errors)
        Sampling(self.temperature, self.max_tokens).check("reward")
        check_not_negative("reward", retries=self.retries)
        self.uses_llm = self.nl_assertions == "judge"
        self._asking = Asking(self.temperature, self.max_tokens, self.retries, 1.0)

    def check_task(self, task: Task) -> None:
        """Refuse a task that is not from tau2-bench.

        Raises:
            RewardError: it is not.
        """
        _scene(task)

    async def judge(
        self,
        task: Task,
        environment: Environment,
        before: Sequence[Turn],
        turn: Turn,
        open_goals: tuple[int, ...],
        llm: LLM,
    ) -> Judgement:
        """Nothing; goals stay as they are."""
        return Judgement((), open_goals)

    async def grade(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn], llm: LLM
    ) -> float | None:
        """1.0 or 0.0; unscored when it broke, or when nobody can tell.

        Raises:
            RewardError: the task is not from tau2-bench.
            OutageError: the judge cannot be reached.
        """
        if any(turn.failure for turn in dialogue):
            return None
        scene = _scene(task)
        if not dialogue or not dialogue[-1].hangs_up:
            return 0.0
        try:
            found = find(scene, task.opening, dialogue)
        except DataError as error:
            _LOG.warning("unscored: %s", error)
            return None
        passes = self._passes(found)
        if passes is None and self.nl_assertions == "judge":
            passes = await self._ask(task, scene, dialogue, llm)
        if passes is None:
            _LOG.warning(
                "unscored: %s demands statements that only a model can judge (%s); set "
                "reward.nl_assertions=judge and llm@judge_llm, or read its judgments",
                task.id,
                JUDGED,
            )
        return None if passes is None else float(passes)

    def floor(self, tasks: Sequence[Task], environment: Environment) -> float | None:
        """Share of the tasks that are solved once the customer leaves at once.

        None if a judge would have to say it.

        Raises:
            RewardError: a task is not from tau2-bench.
            DataError: a task cannot be checked.
        """
        idle = [self._passes(find(_scene(task), task.opening, ())) for task in tasks]
        known = [passes for passes in idle if passes is not None]
        return sum(known) / len(known) if known and len(known) == len(idle) else None

    async def explain(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn]
    ) -> Mapping[str, JSON]:
        """Each part of what the task demands, where no model has to say it; refused calls.

        Raises:
            RewardError: the task is not from tau2-bench.
            DataError: it cannot be checked.
        """
        found = find(_scene(task), task.opening, dialogue)
        ended = bool(dialogue) and dialogue[-1].hangs_up
        return {**found.parts, "refused": found.refused, "ended": ended}

    def _passes(self, found: Findings) -> bool | None:
        """Whether all holds; None if it hangs on a judge."""
        if self.max_errors is not None and found.refused >= self.max_errors:
            return False
        if False in found.parts.values():
            return False
        return None if None in found.parts.values() and self.nl_assertions != "ignore" else True

    async def _ask(
        self, task: Task, scene: Scene, dialogue: Sequence[Turn], llm: LLM
    ) -> bool | None:
        asked = question(assertions(scene), (*task.opening, *dialogue))
        judged = await self._asking.ask(
            llm,
            Prompt("", asked),
            partial(all_true, num_statements=len(assertions(scene))),
            ("tau2", task.id, blake2b(asked.encode("utf-8", "replace"), digest_size=8).hexdigest()),
            Place(task.id, 0, None),
        )
        return judged.verdict


def _scene(task: Task) -> Scene:
    if not isinstance(task.world, Scene):
        raise RewardError(
            f"reward=tau2_check cannot grade task {task.id}, which is not from tau2-bench; use "
            "dataset=tau2, or the reward of this data set"
        )
    return task.world
