"""A customer whose model coaches it to keep to what a human said in the same task."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from drl.llm.base import LLM, Message, Sampling
from drl.runtime.prompts import fill
from drl.types import Brief, Role, Turn
from drl.user_simulator._asking import ask, check_retries
from drl.user_simulator._fidelity import Utterance, faithful, verbatim, without_commands
from drl.user_simulator.base import END_OF_CONVERSATION, Encounter, UserSimulator

_QUOTE = re.compile(r"\**suggested quote\**\s*:\**", re.IGNORECASE)


@dataclass(kw_only=True)
class GuideUserSimulator(UserSimulator):
    """Says what the coach suggests; its advice stays private. Varies less than the goal user.

    `fidelity` and `retries` are those of the goal user; without a quote it is asked again.
    """

    temperature: float
    top_p: float | None
    top_k: int | None
    max_tokens: int
    fidelity: bool
    retries: int

    uses_llm = True

    def __post_init__(self) -> None:
        """Check the settings."""
        self._sampling().check("user_simulator")
        check_retries(self.retries)

    def knows(self, brief: Brief) -> bool:
        """Whether there are instructions, or a human dialogue to keep to."""
        return bool(brief.instructions or brief.human_turns)

    async def speak(self, encounter: Encounter, llm: LLM) -> Turn:
        """What the customer says next; the advice is in its steps.

        Raises:
            DialogueError: the model suggested nothing that a customer could say.
        """

        def hear(text: str) -> Utterance:
            return self._quoted(text, encounter)

        return await ask(
            llm,
            encounter,
            sampling=self._sampling(),
            retries=self.retries,
            messages=self.messages(encounter),
            hear=hear,
            endings=self.endings,
        )

    def messages(self, encounter: Encounter) -> list[Message]:
        """The coach's instructions as one message."""
        brief = encounter.brief
        prompt = fill(
            "drl.user_simulator",
            "guide.md",
            instructions="\n".join(brief.instructions),
            original="\n".join(_original(brief)) or "(not known)",
            transcript="\n".join(self._lines(encounter.history)) or "(not yet begun)",
            end=END_OF_CONVERSATION,
        )
        return [Message("user", prompt)]

    def _lines(self, history: Sequence[Turn]) -> Iterator[str]:
        for turn in history:
            if turn.text is None:
                continue
            if turn.role is Role.USER:
                yield f"customer: {turn.text}"
            else:
                yield f"agent: {without_commands(turn.text) if self.fidelity else turn.text}"

    def _quoted(self, text: str, encounter: Encounter) -> Utterance:
        """The advice, and what follows the last mark of a quote, on one line without quotes."""
        marks = list(_QUOTE.finditer(text))
        if not marks:
            return Utterance(text, "", 'it held no line that begins with "Suggested quote:"')
        advice = text[: marks[-1].start()].strip()
        quote = " ".join(re.sub('["“”]', "", text[marks[-1].end() :]).split())
        heard = faithful(quote, encounter.history) if self.fidelity else verbatim(quote)
        return heard._replace(private="\n".join(filter(None, (advice, heard.private))))

    def _sampling(self) -> Sampling:
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            top_k=self.top_k,
            max_tokens=self.max_tokens,
        )


def _original(brief: Brief) -> Iterator[str]:
    """The human dialogue, line by line, as far as it was kept."""
    for said, answered in zip_longest(brief.human_turns, brief.human_replies):
        for speaker, words in (("customer", said), ("agent", answered)):
            if words is not None:
                yield f"{speaker}: {' '.join(words.split())}"
