"""A customer who repeats what a human said in this task, whatever the agent answers."""

from dataclasses import dataclass

from drl.llm.base import LLM
from drl.types import Brief, Role, Step, Turn
from drl.user_simulator.base import END_OF_CONVERSATION, Encounter, UserSimulator


@dataclass(kw_only=True)
class ScriptUserSimulator(UserSimulator):
    """Replays the human turns of the brief in order, then hangs up."""

    def knows(self, brief: Brief) -> bool:
        """Whether there are human turns."""
        return bool(brief.human_turns)

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        """The human turn whose number is that of the customer's turns so far."""
        number = sum(turn.role is Role.USER for turn in encounter.history)
        lines = encounter.brief.human_turns
        text = lines[number] if number < len(lines) else END_OF_CONVERSATION
        return Turn(
            role=Role.USER,
            text=text,
            steps=(Step(text=text, reply=text),),
            hangs_up=END_OF_CONVERSATION in text,
        )
