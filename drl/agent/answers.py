"""An agent that repeats the answers in a file of FastChat's form, so that they can be judged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from drl.agent.base import Agent, Situation
from drl.domains.mt_bench.answer_file import FAILED, AnswerFile, read_answers
from drl.errors import ConfigError, DataError, DialogueError
from drl.llm.base import LLM
from drl.types import Role, Step


@dataclass(kw_only=True)
class AnswersAgent(Agent):
    """Says what the file answers to the task's question, turn by turn; trial i takes choice i.

    It does not listen, so the customer has to ask what the answers are to.
    """

    path: str

    max_tool_calls = 1

    def __post_init__(self) -> None:
        """Read the file."""
        try:
            self._answers: AnswerFile = read_answers(Path(self.path))
        except DataError as error:
            raise ConfigError(f"agent.path={self.path}: {error}") from error

    @property
    def explores(self) -> bool:
        """Never."""
        return False

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """The answer of this turn.

        Raises:
            ConfigError: the file has no answer to the question, or no choice for the trial.
            DialogueError: it has no answer for this turn, or says that it could not be got.
        """
        if situation.place is None:
            raise DialogueError("agent=answers is not told which task it is asked about")
        place = situation.place
        try:
            turns = self._answers.turns(place.task_id, place.trial)
        except DataError as error:
            raise ConfigError(f"agent.path={self.path}: {error}") from error
        number = sum(turn.role is Role.AGENT for turn in situation.history)
        if number >= len(turns):
            raise DialogueError(f"{self.path} has {len(turns)} turns for {place.task_id}, not more")
        if turns[number] in FAILED:
            raise DialogueError(f"{self.path} holds {turns[number]} in place of an answer")
        return Step(turns[number], reply=turns[number])
