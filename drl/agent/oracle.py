"""An agent that is told the goals and does just that: the ceiling of a benchmark, and of tests.

It checks the machinery and measures nothing: whoever is told the goals has not found them out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from drl.agent._react import parse, render_call, render_reply
from drl.agent.base import Agent, Situation
from drl.errors import ConfigError
from drl.llm.base import LLM
from drl.runtime.settings import check_positive
from drl.types import JSON, Goal, Step, ToolCall


@dataclass(kw_only=True)
class OracleAgent(Agent):
    """Calls each goal's call once, as many a turn as it may, and then speaks.

    When all is done it says the texts that stand under `outputs` in the details of goals. `slip` is
    the chance that a decision is another one: the goal is put off to a later turn, or called with
    one argument changed. So searches without a model have something to find.
    """

    sees_goals = True

    max_tool_calls: int
    slip: float

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("agent", max_tool_calls=self.max_tool_calls)
        if not 0 <= self.slip < 1:
            raise ConfigError(f"agent.slip={self.slip} must lie in [0, 1); it is a chance")

    @property
    def explores(self) -> bool:
        """Where it slips; else there is one right thing to do."""
        return self.slip > 0

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """The first goal's call that was not made yet, unless it slips."""
        call = _next_call(situation)
        if call is None:
            return parse(render_reply("I have done what I could.", _report(situation.goals)))
        if situation.must_reply:
            return parse(render_reply("There is more to do.", "Let me go on with that."))
        draw = Random(situation.seed)
        if draw.random() >= self.slip:
            return parse(render_call("This is the next goal.", call))
        if not call.arguments or draw.random() < 0.5:
            return parse(render_reply("The goal can wait.", "Let me come back to that."))
        name = draw.choice(sorted(call.arguments))
        wrong = ToolCall(call.name, {**call.arguments, name: f"{call.arguments[name]}0"})
        return parse(render_call("This is nearly the next goal.", wrong))


def _next_call(situation: Situation) -> ToolCall | None:
    steps = [step for turn in situation.history for step in turn.steps] + [*situation.steps]
    made = [call for step in steps for call in step.calls]
    for goal in situation.goals:
        call = ToolCall(goal.kind, goal.arguments)
        if call not in made:
            return call
        made.remove(call)  # goals form a multiset: twice the same is called twice
    return None


def _report(goals: Sequence[Goal]) -> str:
    # the details of every goal may hold what is to be said in the whole task
    said = ", ".join(dict.fromkeys(text for goal in goals for text in _outputs(goal.details)))
    return f"I have taken care of that: {said}." if said else "I have taken care of that."


def _outputs(details: Mapping[str, JSON]) -> Iterator[str]:
    outputs = details.get("outputs")
    if isinstance(outputs, list | tuple):
        yield from map(str, outputs)
