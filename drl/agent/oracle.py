"""An agent that is told the goals and does just that: the ceiling of a benchmark, and of tests."""

from dataclasses import dataclass

from drl.agent._react import parse, render_call, render_reply
from drl.agent.base import Agent, Situation
from drl.llm.base import LLM
from drl.runtime.settings import check_positive
from drl.types import Step, ToolCall


@dataclass(kw_only=True)
class OracleAgent(Agent):
    """Calls each goal's call once, as many a turn as it may, and then speaks."""

    sees_goals = True

    max_tool_calls: int

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("agent", max_tool_calls=self.max_tool_calls)

    @property
    def explores(self) -> bool:
        """Never: there is one right thing to do."""
        return False

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """The first goal's call that was not made yet."""
        steps = [step for turn in situation.history for step in turn.steps] + [*situation.steps]
        made = [call for step in steps for call in step.calls]
        for goal in situation.goals if not situation.must_reply else ():
            call = ToolCall(goal.kind, goal.arguments)
            if call in made:
                made.remove(call)  # goals form a multiset: twice the same is called twice
            else:
                return parse(render_call("This is the next goal.", call))
        return parse(render_reply("I have done what I could.", "I have taken care of that."))
