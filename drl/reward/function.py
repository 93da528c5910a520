"""A user's Python function as the reward of what the agent says.

    def reward(prompt: str, text: str, **row) -> float: ...

`prompt` is what the task begins with, `text` what the agent said. Further parameters are keys of
the task's row (dataset=prompts); without `**row` only those are given that it names. It returns a
number; or a mapping of names to numbers, each a reward of its own; or, for rewards inside the text,
a list of (end_character, amount), where the first `end_character` characters earn the amount. A
mapping may hold such lists too. Truth values count as 0 and 1.

A plain function is called for one text at a time, so it need not be thread-safe; an async one may
wait for several. With every_turn=false it may ask for `dialogue`, all that was said, as a list of
{"role": "user" or "assistant", "content"}. An error in it stops the run, and so does a value that
is no reward.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from drl.domains.own.modules import LoadingError, content_digest
from drl.environment.base import Environment
from drl.errors import ConfigError
from drl.llm.base import LLM
from drl.reward._own_function import DIALOGUE, Messages, load_reward
from drl.reward._said import is_said
from drl.reward.base import Judgement, Reward
from drl.types import RewardEvent, Role, Task, Turn

_MOST_KNOWN = 10_000
"""Texts whose rewards are remembered, since a dialogue is judged first and graded later."""


@dataclass(kw_only=True)
class FunctionReward(Reward):
    """Pays what the function says of a text.

    With `every_turn` each of the agent's turns is such a text, and a dialogue's grade is the sum.
    Without it nothing is paid on the way, and the grade is what the last turn is worth.
    """

    function: str
    every_turn: bool

    def __post_init__(self) -> None:
        """Load the function: what is wrong with it must not come out after hours of a model."""
        self.pays_turns = self.every_turn
        self._function = load_reward(self.function)
        if self._function.sees_dialogue and self.every_turn:
            raise ConfigError(
                f"reward.function={self.function} asks for {DIALOGUE}, which is known at its end "
                "only; set reward.every_turn=false, or let it take prompt and text"
            )
        self._known: dict[tuple[int, str], tuple[Task, tuple[RewardEvent, ...]]] = {}

    @property
    def version(self) -> str:
        """A hash of the function's file.

        Raises:
            ConfigError: it cannot be found any more.
        """
        try:
            return f"reward-{content_digest(self.function.rpartition(':')[0], Path())}"
        except LoadingError as error:
            raise ConfigError(f"reward.function={self.function}: {error}") from error

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
            RewardError: the function broke, or returned no reward.
        """
        if not self.every_turn or not is_said(turn):
            return Judgement((), open_goals)
        return Judgement(await self._rewards(task, turn.text or ""), open_goals)

    async def grade(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn], llm: LLM
    ) -> float | None:
        """What its turns, or the last of them, are worth; unscored when it broke.

        Raises:
            RewardError: as `judge`.
        """
        if any(turn.failure for turn in dialogue):
            return None
        texts = [turn.text or "" for turn in dialogue if is_said(turn)]
        if self._function.sees_dialogue:
            last = texts[-1] if texts else ""
            events = await self._function.rewards(task, last, _messages(dialogue))
            return sum(event.amount for event in events)
        graded = texts if self.every_turn else texts[-1:]
        paid = [await self._rewards(task, text) for text in graded]
        return float(sum(event.amount for events in paid for event in events))

    async def _rewards(self, task: Task, text: str) -> tuple[RewardEvent, ...]:
        """What a text earns; the function is asked once for it."""
        key = (id(task), text)
        if key not in self._known:
            events = await self._function.rewards(task, text, ())
            if len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._known[key] = (task, events)  # holds the task, so that its id stays its own
        return self._known[key][1]


def _messages(dialogue: Sequence[Turn]) -> Messages:
    roles = {Role.USER: "user", Role.AGENT: "assistant"}
    return [
        {"role": roles[turn.role], "content": turn.text}
        for turn in dialogue
        if turn.text is not None
    ]
