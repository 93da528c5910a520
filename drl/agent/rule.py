"""An agent that follows rules instead of a model: understands, asks, searches, offers, books.

It speaks the same ReAct text as a model would. At temperature 0 it is careful; above, it errs the
way weak models err, more often the higher it is set.
"""

from dataclasses import dataclass
from zlib import crc32

from drl.agent._decide import Book, Search, Stall, Tell, decide
from drl.agent._lexicon import lexicon_of
from drl.agent._react import parse
from drl.agent._render import render
from drl.agent._slips import slip
from drl.agent._track import track
from drl.agent.base import Agent, Situation
from drl.errors import ConfigError
from drl.llm.base import LLM
from drl.runtime.settings import check_positive
from drl.types import Step


@dataclass(kw_only=True)
class RuleAgent(Agent):
    """Serves a customer of ToolWOZ's domains; `temperature` in [0, 2] makes it careless."""

    temperature: float
    max_tool_calls: int

    def __post_init__(self) -> None:
        """Check the settings."""
        if not 0.0 <= self.temperature <= 2.0:
            raise ConfigError(
                f"agent.temperature={self.temperature} must lie in [0, 2]; "
                "0 is careful, 1 errs like a weak model"
            )
        check_positive("agent", max_tool_calls=self.max_tool_calls)

    @property
    def explores(self) -> bool:
        """Above temperature 0."""
        return self.temperature > 0

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """The next step."""
        lexicon = lexicon_of(situation.toolbox)
        belief = track(situation, lexicon, trusts_itself=self.temperature > 0)
        decision = decide(belief, lexicon, has_news=bool(situation.steps))
        if not situation.must_reply:
            decision = slip(
                decision, belief, lexicon, temperature=self.temperature, seed=situation.seed
            )
        elif isinstance(decision, Search | Book):
            decision = Stall() if not situation.steps else Tell(decision.domain)
        heard = situation.history[-1].text if situation.history else None
        variant = crc32((heard or "").encode("utf-8", "replace"))
        return parse(render(decision, belief, lexicon, situation.steps, variant))
