"""A customer of tau2-bench: speaks through a model, and uses its own tools by native calls.

The rules are tau2-bench's (arXiv:2506.07982), the words are ours: so results are not those of its
own simulator, though dialogues end by the same marks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from drl.errors import ConfigError, DialogueError
from drl.llm.base import LLM, Message, Request, Sampling
from drl.runtime.prompts import fill
from drl.runtime.seeds import derive
from drl.runtime.settings import check_not_negative
from drl.runtime.surrogates import writable
from drl.types import Brief, Role, Step, Turn
from drl.user_simulator._calling import chat, read
from drl.user_simulator.base import Encounter, UserSimulator


@dataclass(kw_only=True)
class Tau2UserSimulator(UserSimulator):
    """Is told its scenario, and sees what the agent said and what its own tools gave.

    Any of the three marks in what it says ends the dialogue. An empty answer, or one too long for a
    turn, is asked for again up to `retries` times, with other seeds.
    """

    temperature: float
    top_p: float | None
    top_k: int | None
    max_tokens: int
    retries: int
    stop: str
    transfer: str
    out_of_scope: str

    uses_llm = True

    def __post_init__(self) -> None:
        """Check the settings."""
        self._sampling().check("user_simulator")
        check_not_negative("user_simulator", retries=self.retries)
        for key, mark in self._marks().items():
            if not mark.strip():
                raise ConfigError(
                    f"user_simulator.{key}={mark!r} would end every dialogue; use a mark that "
                    "nobody says, such as ###STOP###"
                )

    @property
    def endings(self) -> Sequence[str]:
        """The three marks."""
        return tuple(self._marks().values())

    def knows(self, brief: Brief) -> bool:
        """Whether there are instructions."""
        return bool(brief.instructions)

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        """What it says next, or a step with calls.

        Raises:
            DialogueError: the model gave nothing that can be said or done.
        """
        for attempt in range(self.retries + 1):
            completions = await llm.complete(self.request(encounter, attempt))
            step = read(completions.choices[0])
            if step is not None and not (encounter.must_speak and step.reply is None):
                return self._turn(step)
        raise DialogueError(f"the customer's model gave nothing usable in {self.retries + 1} tries")

    def request(self, encounter: Encounter, attempt: int) -> Request:
        """What the model is asked; without tools where the customer has none."""
        toolbox = encounter.toolbox
        seed = derive(encounter.seed, "again", attempt) if attempt else encounter.seed
        return Request(
            messages=tuple(self._messages(encounter)),
            sampling=self._sampling(),
            seeds=(seed,),
            purpose="user",
            tools=() if toolbox is None else toolbox.specs,
            tool_choice="none" if encounter.must_speak else "auto",
            place=encounter.place,
        )

    def _messages(self, encounter: Encounter) -> list[Message]:
        told = fill(
            "drl.user_simulator",
            "tau2.md",
            instructions="\n".join(encounter.brief.instructions),
            **self._marks(),
        )
        said = list(chat(encounter))
        if not said or said[0].role != "user":
            said = [Message("user", fill("drl.user_simulator", "tau2_opening.md")), *said]
        return [Message("system", writable(told)), *said]

    def _turn(self, step: Step) -> Turn:
        if step.reply is None:
            return Turn(Role.USER, None, (step,))
        hangs_up = any(mark in step.reply for mark in self.endings)
        return Turn(Role.USER, step.reply, (step,), hangs_up)

    def _marks(self) -> dict[str, str]:
        return {
            "stop": self.stop,
            "transfer": self.transfer,
            "out_of_scope": self.out_of_scope,
        }

    def _sampling(self) -> Sampling:
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            max_tokens=self.max_tokens,
        )
