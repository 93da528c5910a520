"""A user simulator: from the dialogue as the customer sees it to what the customer says next.

Simulators hold settings only. To add one, write `drl/user_simulator/<name>.py` with a final
`UserSimulator` and `conf/user_simulator/<name>.yaml`; `tests/contracts/test_user_simulator.py`
then tests it without further work.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from drl.llm.base import LLM
from drl.types import Brief, Place, Step, Toolbox, Turn

END_OF_CONVERSATION = "END_CONVERSATION"
"""A customer who writes this hangs up; the word stays in the transcript."""


@dataclass(frozen=True, slots=True)
class Encounter:
    """What a customer knows: its brief, and both sides' public turns (its own with steps).

    `toolbox` holds its own tools, where the environment gives it some, and `steps` are those of
    the turn in progress, with their results. `must_speak` says that it has used up its calls.
    """

    brief: Brief
    history: tuple[Turn, ...]
    seed: int
    place: Place | None = None
    toolbox: Toolbox | None = None
    steps: tuple[Step, ...] = ()
    must_speak: bool = False


class UserSimulator(ABC):
    """Speaks for the customer; opens the dialogue when the history is empty."""

    uses_llm: bool = False
    """Whether it speaks through a model; a run without `llm@user_llm` is then refused."""

    @property
    def endings(self) -> Sequence[str]:
        """A turn with one of these in it hangs up; it stays in the transcript."""
        return (END_OF_CONVERSATION,)

    def knows(self, brief: Brief) -> bool:
        """Whether the brief holds what it speaks of; a run with tasks that lack it is refused."""
        del brief
        return True

    @abstractmethod
    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        """The customer's next turn (role user); `hangs_up` ends the dialogue.

        One that uses its tools gives part of a turn: no text, and a step with calls. They are
        carried out, and it is asked again.

        Raises:
            OutageError, ContextOverflowError, ConfigError: what `llm` raises; let them pass.
        """
