"""A customer that follows an instruction of tau-bench by rules, without a model.

It lets whole dialogues run where no model is at hand. It understands little, agrees to whatever it
is asked to agree to, and invents nothing, so it says how a set-up runs and not how an agent serves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from drl.domains.tau.marks import STOP
from drl.llm.base import LLM
from drl.runtime.settings import check_positive
from drl.types import Brief, Role, Step, Turn
from drl.user_simulator._asking import turn_of
from drl.user_simulator._facts_course import Act, Kind, course_of
from drl.user_simulator._instruction import take_apart
from drl.user_simulator.base import Encounter, UserSimulator

_PHRASES: Mapping[Kind, Sequence[str]] = {
    Kind.OPEN: ("Hello.", "Hi.", "Hi there.", "Good day."),
    Kind.IDENTIFY: ("Sure.", "Of course.", "Certainly."),
    Kind.REQUEST: ("", "", "Okay.", "Thank you."),
    Kind.ANSWER: ("", "", "Yes."),
    Kind.REPEAT: ("As I said:", "Once more:"),
    Kind.AGREE: ("Yes, please.", "Yes, go ahead.", "Yes, that is right.", "Yes."),
    Kind.UNKNOWN: ("I don't remember that.", "I don't know that, sorry.", "I don't have that."),
    Kind.WAIT: ("Okay, please go on.", "All right, thank you."),
    Kind.NUDGE: ("Could you please take care of that?", "Can you do that for me, please?"),
    Kind.STOP: (STOP,),
}
_FACTS: Mapping[str, Sequence[str]] = {
    "name": ("My name is {}.", "I am {}."),
    "zip": ("My zip code is {}.", "The zip code is {}."),
    "email": ("My email is {}.", "My email address is {}."),
    "user_id": ("My user id is {}.", "The user id is {}."),
}
_NOTHING_TO_ASK = "I need some help, please."


@dataclass(kw_only=True)
class FactsUserSimulator(UserSimulator):
    """Says who it is when asked, tells its requests one by one, agrees, and hangs up.

    After `patience` turns in which it had nothing new to say it hangs up too. The seed chooses
    between wordings and nothing else.
    """

    patience: int

    def __post_init__(self) -> None:
        """Check the settings."""
        check_positive("user_simulator", patience=self.patience)

    @property
    def endings(self) -> Sequence[str]:
        """The stop token of tau-bench."""
        return (STOP,)

    def knows(self, brief: Brief) -> bool:
        """Whether there are instructions."""
        return bool(brief.instructions)

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        """The customer's next turn; its private step notes what it does."""
        instruction = take_apart([line.replace(STOP, "") for line in encounter.brief.instructions])
        replies = [turn.text or "" for turn in encounter.history if turn.role is Role.AGENT]
        act = course_of(instruction, self.patience, replies)
        text = _worded(act, instruction.facts, Random(encounter.seed))
        return turn_of([Step(text=text, plan=str(act.kind), reply=text)], self.endings)


def _worded(act: Act, facts: Mapping[str, str], draw: Random) -> str:
    said = [draw.choice(_PHRASES[act.kind])]
    said += [draw.choice(_FACTS[name]).replace("{}", facts[name]) for name in act.facts]
    said.append(act.request)
    if act.kind is Kind.OPEN and not act.request:
        said.append(_NOTHING_TO_ASK)
    return " ".join(filter(None, said))
