"""A supervisor who reads what a customer wants to say before it is said, as tau-bench has it.

`verify` samples anew until the supervisor agrees, `reflection` lets it write a better response.
Whatever was not said stays in the turn's private steps. Source: tau-bench (arXiv:2406.12045),
`envs/user.py`; there the transcript calls the customer the agent and the other way round.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from drl.llm.base import LLM, Message, Sampling
from drl.runtime.prompts import fill
from drl.runtime.seeds import derive
from drl.runtime.surrogates import writable
from drl.types import Role, Step, ToolResult, Turn
from drl.user_simulator._asking import request, turn_of
from drl.user_simulator._fidelity import verbatim
from drl.user_simulator.base import Encounter

Asking = Callable[[Encounter], Awaitable[Turn]]
"""Gives the turn that a customer would take."""

_MOST_SAMPLES = 3
_RESPONSE = "Response:"
_REFUSED = "the supervisor did not agree"


@dataclass(frozen=True, slots=True)
class Supervisor:
    """Asks a model, with the customer's sampling; `transcript` is what both sides said."""

    llm: LLM
    encounter: Encounter
    sampling: Sampling
    transcript: str
    endings: Sequence[str]

    async def verify(self, ask: Asking) -> Turn:
        """The first turn of up to three that is agreed to; else the third."""
        dropped: list[Step] = []
        for number in range(_MOST_SAMPLES - 1):
            turn = await ask(self._again(number))
            if await self._agrees(turn, number):
                return replace(turn, steps=(*dropped, *turn.steps))
            dropped += _not_said(turn)
        turn = await ask(self._again(_MOST_SAMPLES - 1))
        return replace(turn, steps=(*dropped, *turn.steps))

    async def reflect(self, ask: Asking) -> Turn:
        """The turn, or the one that the supervisor writes instead; the first if that is no better.

        Two attempts in all, as in tau-bench.
        """
        first = await ask(self.encounter)
        if await self._agrees(first, 0):
            return first
        text = await self._ask("tau_reflect.md", "reflection", first.text or "")
        reflection, _, response = text.rpartition(_RESPONSE)
        heard = verbatim(response.strip())
        better = Step(text=text, plan=reflection.strip(), reply=heard.public)
        turn = turn_of([*_not_said(first), better], self.endings)
        if heard.fault is None and reflection and await self._agrees(turn, 1):
            return turn
        return replace(first, steps=(*_not_said(Turn(Role.USER, "", (better,))), *first.steps))

    def _again(self, number: int) -> Encounter:
        """The encounter for the sample of this number; its seed is its own."""
        if not number:
            return self.encounter
        return replace(self.encounter, seed=derive(self.encounter.seed, "sample", number))

    async def _agrees(self, turn: Turn, number: int) -> bool:
        answer = await self._ask("tau_verify.md", f"verdict {number}", turn.text or "")
        return "true" in answer.lower()

    async def _ask(self, prompt: str, about: str, response: str) -> str:
        text = fill("drl.user_simulator", prompt, transcript=self.transcript, response=response)
        seed = derive(self.encounter.seed, about)
        asked = request([Message("user", text)], self.sampling, seed, self.encounter)
        completions = await self.llm.complete(asked)
        return writable(completions.choices[0].text)


def _not_said(turn: Turn) -> list[Step]:
    """The steps of a turn that was not taken."""
    return [
        replace(step, reply=None, results=step.results or (ToolResult(None, error=_REFUSED),))
        for step in turn.steps
    ]
