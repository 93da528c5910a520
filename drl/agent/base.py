"""An agent: from the dialogue as its side sees it to its next step.

Agents hold settings only. All that an agent knows comes in a `Situation`, so a branch of a
dialogue costs nothing to keep and siblings cannot leak into each other.

To add one, write `drl/agent/<name>.py` with a final `Agent` and `conf/agent/<name>.yaml`, whose
keys are the constructor's parameters; `silent.py` is the shortest example. `pytest
tests/contracts/test_agent.py` then tests it without further work: a step either calls tools or
replies, its `text` is what the agent wrote (for text in ReAct form `_react.parse` makes the step),
the same situation with the same seed gives the same step, and with `must_reply` or an empty toolbox
the agent replies.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from drl.errors import ConfigError
from drl.llm.base import LLM, Message, Request
from drl.types import Goal, Place, Step, Toolbox, Turn


@dataclass(frozen=True, slots=True)
class Situation:
    """What an agent knows when it is its move.

    `history` holds finished turns: its own with their steps, the customer's public text only.
    `steps` are those of the turn in progress, with their results. `must_reply` says that the
    limit of tool calls is reached. `goals` is filled only for agents that declare
    `sees_goals` (ceilings in tests). `temperature` is what the task prescribes, for agents that
    leave theirs open. `place` goes into the requests to a model.
    """

    history: tuple[Turn, ...]
    steps: tuple[Step, ...]
    toolbox: Toolbox
    seed: int
    must_reply: bool = False
    goals: tuple[Goal, ...] = ()
    temperature: float | None = None
    place: Place | None = None


class Agent(ABC):
    """Chooses the next step of the agent's turn."""

    sees_goals: bool = False
    """Ceilings only: the agent is told the goals. Reports say so."""

    uses_llm: bool = False
    """Whether it speaks through a model; a run without `llm` is then refused."""

    max_tool_calls: int
    """Tool calls per turn before a reply is forced."""

    counts_steps: bool = False
    """`max_tool_calls` bounds steps, however many calls each holds, as josh-train's agents do."""

    def calls_left(self, steps: Sequence[Step]) -> int:
        """What a turn leaves of `max_tool_calls`; output that cannot be read counts like a call."""
        num_calls = sum(1 if self.counts_steps else max(1, len(step.calls)) for step in steps)
        return max(0, self.max_tool_calls - num_calls)

    @property
    @abstractmethod
    def explores(self) -> bool:
        """Whether two seeds may give two different steps in one situation."""

    @abstractmethod
    async def act(self, situation: Situation, llm: LLM) -> Step:
        """The next step: tool calls without results, or a reply that ends the turn.

        Raises:
            OutageError, ContextOverflowError, ConfigError: what `llm` raises; let them pass.
        """

    def request(self, situation: Situation) -> Request:
        """What its model is asked in a situation; agents that speak through a model define it.

        Raises:
            ConfigError: it speaks through none, so there is nothing that a model could learn from.
        """
        raise _speaks_without_a_model(self)

    def rewrite(self, step: Step, toolbox: Toolbox) -> tuple[Step, ...]:
        """A step, of whatever agent, as this one would have written it: one step an output.

        Text that reads as the same calls or the same reply stays as it is, so that an agent's own
        dialogues keep the very tokens that were sampled.

        Raises:
            ConfigError: as `request`.
        """
        raise _speaks_without_a_model(self)

    def output(self, step: Step, number: int) -> Message:
        """The message that its model wrote for a step, which is the `number`-th of the dialogue.

        Raises:
            ConfigError: as `request`.
        """
        raise _speaks_without_a_model(self)


def _speaks_without_a_model(agent: Agent) -> ConfigError:
    return ConfigError(
        f"agent: {type(agent).__name__} speaks through no model, so none can learn to write as it "
        "does; choose the form to write in, such as agent=react/compact"
    )
