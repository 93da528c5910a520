"""The customers of tau-bench: a model with an instruction, alone, thinking, or supervised.

Yao et al. 2024 (arXiv:2406.12045); the prompts are in our words, unless a user brings one. Two
things differ from the published code: a thought never reaches the agent, and every call is counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from drl.domains.conversation import audible
from drl.errors import ConfigError
from drl.llm.base import LLM, Message, Sampling
from drl.runtime.prompts import fill, fill_own, own_prompt
from drl.types import Brief, Role, Turn
from drl.user_simulator._asking import ask, check_retries
from drl.user_simulator._fidelity import Utterance, checked
from drl.user_simulator._supervisor import Supervisor
from drl.user_simulator.base import Encounter, UserSimulator

GREETING = "Hi! How can I help you today?"
"""What the agent is taken to have said before the customer opens."""

_STRATEGIES = ("llm", "react", "verify", "reflection")
_RESPONSE = "User Response:"
_THOUGHT = "Thought:"


@dataclass(kw_only=True)
class TauUserSimulator(UserSimulator):
    """Follows its instruction through a model, and hangs up with a stop token.

    `strategy`: llm says what the model writes; react lets it think first; verify samples up to
    three times until a supervisor agrees; reflection lets the supervisor write a better response.
    A `temperature` of None is the provider's own. Each of `stop_tokens` hangs up; the model is told
    of the first. `retries` are further requests for a turn that says nothing. `prompt` names a file
    that is told in place of ours, with `{instructions}` and, where it likes, `{stop}` in it.
    """

    strategy: Literal["llm", "react", "verify", "reflection"]
    temperature: float | None
    top_p: float | None
    top_k: int | None
    max_tokens: int
    stop_tokens: list[str]
    retries: int
    prompt: str | None

    uses_llm = True

    _own_prompt: str | None = field(init=False, repr=False, default=None)

    def __post_init__(self) -> None:
        """Check the settings."""
        if self.strategy not in _STRATEGIES:
            raise ConfigError(
                f"user_simulator.strategy={self.strategy} is unknown; use one of "
                f"{', '.join(_STRATEGIES)}"
            )
        if not self.stop_tokens or not all(map(str.strip, self.stop_tokens)):
            raise ConfigError(
                f"user_simulator.stop_tokens={self.stop_tokens} must hold at least one text, and "
                "none that is empty; use [###STOP###]"
            )
        self._sampling().check("user_simulator")
        check_retries(self.retries)
        if self.prompt is not None:
            self._own_prompt = own_prompt("user_simulator.prompt", self.prompt, "instructions")

    @property
    def endings(self) -> Sequence[str]:
        """The stop tokens."""
        return self.stop_tokens

    def knows(self, brief: Brief) -> bool:
        """Whether there are instructions."""
        return bool(brief.instructions)

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        """What the customer says next; thoughts, and what was not said, are in its steps.

        Raises:
            DialogueError: the model wrote nothing that a customer could say.
        """

        async def take(encounter: Encounter) -> Turn:
            return await ask(
                llm,
                encounter,
                sampling=self._sampling(),
                retries=self.retries,
                messages=self.messages(encounter),
                hear=_after_thought if self.strategy == "react" else _whole,
                endings=self.stop_tokens,
            )

        if self.strategy in ("llm", "react"):
            return await take(encounter)
        chat = self.messages(encounter)[1:]
        transcript = "\n".join(
            f"{'Agent' if message.role == 'user' else 'Customer'}: {message.content}"
            for message in chat
        )
        supervisor = Supervisor(llm, encounter, self._sampling(), transcript, self.stop_tokens)
        if self.strategy == "verify":
            return await supervisor.verify(take)
        return await supervisor.reflect(take)

    def messages(self, encounter: Encounter) -> list[Message]:
        """What the model is told: the instruction, a greeting, then the talk with roles swapped.

        Of its own turns react sees the thoughts too.
        """
        chat = [Message("system", self._prompt(encounter))]
        if not encounter.history or encounter.history[0].role is Role.USER:
            chat.append(Message("user", GREETING))
        for turn in encounter.history:
            if turn.role is Role.USER and turn.text is not None:
                chat.append(Message("assistant", self._own(turn)))
            elif turn.text is not None:
                chat.append(Message("user", turn.text or "(silence)"))
        return chat

    def _own(self, turn: Turn) -> str:
        thinks = self.strategy == "react" and turn.steps
        return turn.steps[-1].text if thinks else turn.text or "(silence)"

    def _prompt(self, encounter: Encounter) -> str:
        texts = {
            "instructions": "\n".join(encounter.brief.instructions),
            "stop": self.stop_tokens[0],
        }
        if self._own_prompt is not None:
            return fill_own(self._own_prompt, **texts)
        name = "tau_react.md" if self.strategy == "react" else "tau.md"
        return fill("drl.user_simulator", name, **texts)

    def _sampling(self) -> Sampling:
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            max_tokens=self.max_tokens,
        )


def _whole(text: str) -> Utterance:
    return checked(Utterance("", audible(text)))


def _after_thought(text: str) -> Utterance:
    """The thought, and what follows the last mark of a response.

    tau-bench looks for the mark of the thought first, and so says the thought.
    """
    thought, mark, response = text.rpartition(_RESPONSE)
    if mark:
        return checked(Utterance(thought.replace(_THOUGHT, "").strip(), audible(response)))
    if _THOUGHT in text:
        return Utterance(text, "", f'it held a thought and no "{_RESPONSE}"')
    return _whole(text)
