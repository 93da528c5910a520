"""An agent that talks and never acts: the floor of a benchmark."""

from dataclasses import dataclass

from drl.agent._react import parse, render_reply
from drl.agent.base import Agent, Situation
from drl.llm.base import LLM
from drl.runtime.settings import check_positive
from drl.types import Step


@dataclass(kw_only=True)
class SilentAgent(Agent):
    """Answers politely and calls no tool."""

    max_tool_calls: int

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("agent", max_tool_calls=self.max_tool_calls)

    @property
    def explores(self) -> bool:
        """Never: it has nothing to choose."""
        return False

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """A reply without substance."""
        text = "I see. Could you tell me more about what you are looking for?"
        return parse(render_reply("I keep talking.", text))
