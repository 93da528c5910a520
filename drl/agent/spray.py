"""An agent that calls everything it can think of: how far a reward can be had without service.

It asks nothing and offers nothing. Each turn it searches and books with all values that the
customer has mentioned so far, wherever a tool takes them, and with entities it has come across.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from drl.agent._belief import Belief
from drl.agent._decide import booking_arguments
from drl.agent._lexicon import Lexicon, lexicon_of
from drl.agent._react import parse, render_call, render_reply
from drl.agent._track import track
from drl.agent.base import Agent, Situation
from drl.llm.base import LLM
from drl.runtime.settings import check_positive
from drl.types import Step, ToolCall


@dataclass(kw_only=True)
class SprayAgent(Agent):
    """Fires as many calls a turn as it may, none of them twice."""

    max_tool_calls: int

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("agent", max_tool_calls=self.max_tool_calls)

    @property
    def explores(self) -> bool:
        """Never: its order of calls is fixed."""
        return False

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """The first call that was not made yet."""
        lexicon = lexicon_of(situation.toolbox)
        belief = track(situation, lexicon, trusts_itself=False)
        steps = [step for turn in situation.history for step in turn.steps] + [*situation.steps]
        made = [call for step in steps for call in step.calls]
        for call in _ideas(belief, lexicon) if not situation.must_reply else ():
            if call not in made:
                return parse(render_call("Perhaps this helps.", call))
        return parse(render_reply("That is all I can try.", "I am on it. Please tell me more."))


def _ideas(belief: Belief, lexicon: Lexicon) -> Iterator[ToolCall]:
    """Bookings, then searches, the domain under discussion first; then bare searches."""
    domains = sorted(belief.domains, key=lambda domain: domain != belief.active)
    for domain in domains:
        here = belief.domains[domain]
        if here.booking and here.row is not None and domain in lexicon.bookings:
            arguments = booking_arguments(here, lexicon.bookings[domain])
            yield ToolCall(f"book_{domain}", arguments)
        if here.wanted:
            yield ToolCall(f"search_{domain}", dict(here.wanted))
    for domain in domains:
        yield ToolCall(f"search_{domain}", {})
