"""A customer with an agenda: reveals wishes piecemeal, checks what it is offered, books, leaves.

Agenda-based simulation after Schatzmann et al. 2007, without any model. It knows its brief only.
"""

from dataclasses import dataclass
from random import Random

from drl.errors import ConfigError
from drl.llm.base import LLM
from drl.types import Brief, Role, Step, Turn
from drl.user_simulator._agenda import Agenda, FirstWish
from drl.user_simulator._speaking import BANKS, Phrasing, speak
from drl.user_simulator.base import END_OF_CONVERSATION, Encounter, UserSimulator


@dataclass(kw_only=True)
class AgendaUserSimulator(UserSimulator):
    """Pursues the wishes of its brief one after the other.

    A first wish is expected to fail; where the tools offer something for it nevertheless, a
    `tentative` customer turns to its final wish all the same and a `firm` one takes the offer.
    After `patience` turns without progress it hangs up.
    """

    first_wish: FirstWish
    phrasing: Phrasing
    patience: int

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.first_wish not in ("tentative", "firm"):
            raise ConfigError(
                f"user_simulator.first_wish={self.first_wish} is unknown; use tentative or firm"
            )
        if self.phrasing not in BANKS:
            raise ConfigError(
                f"user_simulator.phrasing={self.phrasing} is unknown; use one of {', '.join(BANKS)}"
            )
        if self.patience < 1:
            raise ConfigError(
                f"user_simulator.patience={self.patience} must be at least 1; raise it"
            )

    def knows(self, brief: Brief) -> bool:
        """Whether there are wishes of ToolWOZ's domains."""
        return self._agenda(brief).has_wishes

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        """The customer's next turn; its private step notes what it does."""
        replies = [turn.text or "" for turn in encounter.history if turn.role is Role.AGENT]
        acts = self._agenda(encounter.brief).acts(replies)
        text = speak(acts, self.phrasing, Random(encounter.seed))
        domain = next((act.domain for act in reversed(acts) if act.domain), "")
        note = f"{domain}: {', '.join(map(str, acts))}" if domain else ", ".join(map(str, acts))
        return Turn(
            role=Role.USER,
            text=text,
            steps=(Step(text=text, plan=note, reply=text),),
            hangs_up=END_OF_CONVERSATION in text,
        )

    def _agenda(self, brief: Brief) -> Agenda:
        return Agenda(brief, first_wish=self.first_wish, patience=self.patience)
