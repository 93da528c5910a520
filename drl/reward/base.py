"""A reward: what turns earn while a dialogue is searched, and how a finished one is graded.

To add one, write `drl/reward/<name>.py` with a final `Reward` and `conf/reward/<name>.yaml`;
`tests/contracts/test_reward.py` then tests it without further work.
A setting without a default gets one for tests in `tests/required.py`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from drl.environment.base import Environment
from drl.errors import DrlError
from drl.llm.base import LLM
from drl.types import JSON, RewardEvent, Task, Turn


class RewardError(DrlError, ValueError):
    """No reward can be told, through a fault of the set-up, not of a dialogue: it stops the run."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a turn earned, and which goals (positions in `task.goals`) stay open after it.

    `unscored` tells what could not be judged, and why: that earned nothing, which is not 0.
    """

    events: tuple[RewardEvent, ...]
    open_goals: tuple[int, ...]
    unscored: tuple[Mapping[str, JSON], ...] = ()


class Reward(ABC):
    """Judges turns during a rollout and grades dialogues after it.

    `llm` is the judge's model (`llm@judge_llm`), which only rewards that declare `uses_llm` ask.
    """

    uses_llm: bool = False
    """Whether it asks a model; a run without `llm@judge_llm` is then refused."""

    sums_up: bool = True
    """Whether what the turns of a dialogue earn adds up to its grade."""

    pays_turns: bool = True
    """Whether turns earn anything; else no rollout can cut branches by what they earned."""

    closes_goals: bool = False
    """Whether it tells which goals were reached; else nothing is reported of them."""

    @property
    def version(self) -> str:
        """The version of what users brought into it, such as a file with a function; else empty.

        Results of two versions never mix in one run.
        """
        return ""

    def check_task(self, task: Task) -> None:  # noqa: B027 most rewards know any task
        """Refuse a task that it cannot grade; called for all of them before one is played.

        Raises:
            RewardError, DataError: what it lacks, and what to choose instead.
        """

    @abstractmethod
    async def judge(
        self,
        task: Task,
        environment: Environment,
        before: Sequence[Turn],
        turn: Turn,
        open_goals: tuple[int, ...],
        llm: LLM,
    ) -> Judgement:
        """What an agent's turn (or part of one) earns while `open_goals` are open.

        `before` holds the finished turns before it, without the task's opening.

        Raises:
            OutageError, ContextOverflowError, ConfigError: what `llm` raises; let them pass.
        """

    @abstractmethod
    async def grade(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn], llm: LLM
    ) -> float | None:
        """The score of a whole dialogue, in [0, 1] for goal rewards; None is *unscored*, not 0.

        `dialogue` is what was said after the task's opening.

        Raises:
            OutageError, ContextOverflowError, ConfigError: as `judge`.
        """

    def floor(self, tasks: Sequence[Task], environment: Environment) -> float | None:
        """The mean grade of an agent that does nothing; None where no data tells.

        Scores mean little without it: some tasks are solved by leaving everything as it is.
        """
        del tasks, environment
        return None

    async def explain(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn]
    ) -> Mapping[str, JSON]:
        """What the grade of a dialogue came of, for reports; empty where there is no more to say.

        No model is asked.
        """
        del task, environment, dialogue
        return {}
