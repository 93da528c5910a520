"""A user simulator: from the dialogue as the customer sees it to what the customer says next.

Simulators hold settings only. To add one, write `drl/user_simulator/<name>.py` with a final
`UserSimulator` and `conf/user_simulator/<name>.yaml`; `tests/contracts/test_user_simulator.py`
then tests it without further work.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from drl.llm.base import LLM
from drl.types import Brief, Place, Turn

END_OF_CONVERSATION = "END_CONVERSATION"
"""A customer who writes this hangs up; the word stays in the transcript."""


@dataclass(frozen=True, slots=True)
class Encounter:
    """What a customer knows: its brief, and both sides' public turns (its own with steps)."""

    brief: Brief
    history: tuple[Turn, ...]
    seed: int
    place: Place | None = None


class UserSimulator(ABC):
    """Speaks for the customer; opens the dialogue when the history is empty."""

    uses_llm: bool = False
    """Whether it speaks through a model; a run without `llm@user_llm` is then refused."""

    @abstractmethod
    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        """The customer's next turn (role user); `hangs_up` ends the dialogue.

        Raises:
            OutageError, ContextOverflowError, ConfigError: what `llm` raises; let them pass.
        """
