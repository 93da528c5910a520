"""A customer who pursues the goals of its brief through a model."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from drl.errors import ConfigError
from drl.llm.base import LLM, Message, Sampling
from drl.runtime.prompts import fill
from drl.types import Brief, Role, Turn
from drl.user_simulator._asking import ask, check_retries
from drl.user_simulator._fidelity import faithful, verbatim, without_commands
from drl.user_simulator.base import END_OF_CONVERSATION, Encounter, UserSimulator


@dataclass(kw_only=True)
class GoalUserSimulator(UserSimulator):
    """Is told its goals and how to be a customer; sees both sides' public words with roles swapped.

    `fidelity`: outputs are held to the rules of `_fidelity`, and asked for again up to `retries`
    times where they break one; without it whatever is written is said (josh-train).
    `reminder_role`: as whom the reminder before each turn is given; some chat templates take no
    system message but the first, and then the reminder stands below the agent's words.
    """

    temperature: float
    top_p: float | None
    top_k: int | None
    max_tokens: int
    fidelity: bool
    retries: int
    reminder_role: Literal["system", "user"]

    uses_llm = True

    def __post_init__(self) -> None:
        """Check the settings."""
        self._sampling().check("user_simulator")
        check_retries(self.retries)
        if self.reminder_role not in ("system", "user"):
            raise ConfigError(
                f"user_simulator.reminder_role={self.reminder_role} is unknown; use system or user"
            )

    def knows(self, brief: Brief) -> bool:
        """Whether there are instructions."""
        return bool(brief.instructions)

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        """What the customer says next; its thoughts and unused outputs are in its steps.

        Raises:
            DialogueError: the model wrote nothing that a customer could say.
        """
        return await ask(
            llm,
            encounter,
            sampling=self._sampling(),
            retries=self.retries,
            messages=self.messages(encounter),
            hear=partial(faithful, history=encounter.history) if self.fidelity else verbatim,
            endings=self.endings,
        )

    def messages(self, encounter: Encounter) -> list[Message]:
        """What the model is told: who it is, how the call has gone, what to mind now."""
        chat = [
            Message("system", self._prompt("goal.md", encounter)),
            Message("user", self._prompt("goal_opening.md", encounter)),
        ]
        for turn in encounter.history:
            if turn.text is not None and turn.role is Role.USER:
                chat.append(Message("assistant", turn.text))
            elif turn.text is not None:
                words = without_commands(turn.text) if self.fidelity else turn.text
                chat.append(Message("user", words or "(silence)"))
        if len(chat) == 2:
            return chat
        reminder = self._prompt("goal_reminder.md", encounter)
        if self.reminder_role == "system" or chat[-1].role != "user":
            return [*chat, Message(self.reminder_role, reminder)]
        return [*chat[:-1], Message("user", f"{chat[-1].content}\n\n({reminder})")]

    def _prompt(self, name: str, encounter: Encounter) -> str:
        return fill(
            "drl.user_simulator",
            name,
            instructions="\n".join(encounter.brief.instructions),
            end=END_OF_CONVERSATION,
        )

    def _sampling(self) -> Sampling:
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            max_tokens=self.max_tokens,
        )
