"""A judge asked until its judgment can be read, within limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from drl.domains.judge.own_prompts import Prompt
from drl.llm.base import LLM, ContextOverflowError, Message, Request, Sampling
from drl.runtime.seeds import derive
from drl.runtime.surrogates import writable
from drl.types import Place

_Verdict = TypeVar("_Verdict")


@dataclass(frozen=True, slots=True)
class Judged(Generic[_Verdict]):
    """What came of asking: the verdict and the text that it was read from.

    Without a verdict, `cause` says why there is none, and `judgment` is the last text.
    """

    verdict: _Verdict | None
    judgment: str
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Asking:
    """How a judge is asked. A judgment that cannot be read is asked for again `retries` times.

    Then it is drawn with another seed, and at `retry_temperature` where `temperature` is lower: at
    0 another seed would give the same text.
    """

    temperature: float
    max_tokens: int
    retries: int
    retry_temperature: float

    async def ask(
        self,
        llm: LLM,
        prompt: Prompt,
        read: Callable[[str], _Verdict | None],
        seeded_by: tuple[str | int, ...],
        place: Place,
    ) -> Judged[_Verdict]:
        """The verdict that `read` finds in the judgment.

        Args:
            llm: the judge.
            prompt: what it is told and shown; without a system prompt none is sent.
            read: gives None for a judgment without a verdict.
            seeded_by: what tells this request from all others of the run.
            place: where in the run it belongs.

        Raises:
            OutageError: it cannot be reached; nothing is known of the dialogue then.
            BudgetError: the next request might pass the budget.
        """
        text, cause = "", ""
        for attempt in range(self.retries + 1):
            request = self._request(prompt, attempt, seeded_by, place)
            try:
                (choice,) = (await llm.complete(request)).choices
            except ContextOverflowError as error:
                return Judged(None, "", str(error))  # it will not get shorter by being asked again
            text = writable(choice.text)
            verdict = read(text)
            if verdict is not None:
                return Judged(verdict, text)
            is_cut = choice.finish_reason == "length"
            cause = f"cut at {self.max_tokens} tokens" if is_cut else "no verdict in the judgment"
        return Judged(None, text, cause)

    def _request(
        self, prompt: Prompt, attempt: int, seeded_by: tuple[str | int, ...], place: Place
    ) -> Request:
        system = [Message("system", prompt.system)] if prompt.system else []
        warmer = max(self.temperature, self.retry_temperature)
        return Request(
            messages=(*system, Message("user", writable(prompt.user))),
            sampling=Sampling(warmer if attempt else self.temperature, self.max_tokens),
            seeds=(derive("judge", *seeded_by, attempt),),
            purpose="judge",
            place=place,
        )
