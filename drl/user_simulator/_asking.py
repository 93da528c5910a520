"""How a customer's turn is had from a model: asked, read, and asked again where it is faulty."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from drl.domains.conversation import LONGEST
from drl.errors import ConfigError, DialogueError
from drl.llm.base import LLM, Message, Request, Sampling
from drl.runtime.prompts import fill
from drl.runtime.seeds import derive
from drl.runtime.surrogates import writable
from drl.types import Role, Step, ToolResult, Turn
from drl.user_simulator._fidelity import Utterance
from drl.user_simulator.base import Encounter


async def ask(
    llm: LLM,
    encounter: Encounter,
    *,
    sampling: Sampling,
    retries: int,
    messages: Sequence[Message],
    hear: Callable[[str], Utterance],
    endings: Sequence[str],
) -> Turn:
    """The customer's turn, asked for again up to `retries` times while it is faulty.

    Each further request names the fault and has a seed of its own. After the last one, what can be
    rescued is said. Faulty outputs stay in the turn's private steps; their result is the fault.

    Raises:
        DialogueError: nothing that was written can be said.
    """
    steps: list[Step] = []
    utterance = Utterance("", "", "nothing was asked")
    for attempt in range(retries + 1):
        asked = messages if not steps else _with_fault(messages, str(utterance.fault))
        seed = encounter.seed if not attempt else derive(encounter.seed, "again", attempt)
        completions = await llm.complete(request(asked, sampling, seed, encounter))
        text = writable(completions.choices[0].text)
        utterance = _heard(text, hear)
        step = Step(text=text, plan=utterance.private)
        if utterance.fault is None:
            return turn_of([*steps, replace(step, reply=utterance.public)], endings)
        steps.append(replace(step, results=(ToolResult(None, error=utterance.fault),)))
    if not utterance.rescued:
        raise DialogueError(
            f"the customer said nothing usable in {retries + 1} tries: {utterance.fault}"
        )
    return turn_of([*steps[:-1], replace(steps[-1], reply=utterance.rescued)], endings)


def turn_of(steps: Sequence[Step], endings: Sequence[str]) -> Turn:
    """The turn that says the last step's reply; with an ending in it, it hangs up."""
    text = steps[-1].reply or ""
    hangs_up = any(ending in text for ending in endings)
    return Turn(role=Role.USER, text=text, steps=tuple(steps), hangs_up=hangs_up)


def check_retries(retries: int) -> None:
    """Refuse a negative number.

    Raises:
        ConfigError: it is one.
    """
    if retries < 0:
        raise ConfigError(
            f"user_simulator.retries={retries} must not be negative; 0 asks only once"
        )


def request(
    messages: Sequence[Message], sampling: Sampling, seed: int, encounter: Encounter
) -> Request:
    """A request of the customer's side for one sample."""
    return Request(
        messages=tuple(replace(m, content=writable(m.content)) for m in messages),
        sampling=sampling,
        seeds=(seed,),
        purpose="user",
        place=encounter.place,
    )


def _with_fault(messages: Sequence[Message], fault: str) -> Sequence[Message]:
    """The same messages; the last one says what was wrong."""
    *before, last = messages
    note = fill("drl.user_simulator", "again.md", fault=fault)
    return [*before, replace(last, content=f"{last.content}\n\n{note}")]


def _heard(text: str, hear: Callable[[str], Utterance]) -> Utterance:
    if len(text) > LONGEST:
        return Utterance("", "", f"it was longer than {LONGEST} characters")
    return hear(text)
