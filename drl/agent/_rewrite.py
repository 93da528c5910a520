"""A step of any agent in the language of another one: what stays as it is, what is written anew."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from drl.domains.conversation import LONGEST, audible
from drl.types import Step


def rewritten(
    step: Step, read: Callable[[str], Step], write: Callable[[Step], str], *, holds_several: bool
) -> tuple[Step, ...]:
    """The step as outputs of a language; text that reads as what was done stays to the letter.

    A step without calls and reply is an error or an empty output, and stays. `holds_several` tells
    whether one output may hold several calls; none holds calls and a reply.
    """
    if not step.calls and step.reply is None:
        return (step,)
    parts = tuple(_parts(step, holds_several=holds_several))
    if len(parts) == 1 and len(step.text) <= LONGEST and _stands_for(read(step.text), step):
        return parts
    return tuple(replace(part, text=write(part), sampled=None) for part in parts)


def _parts(step: Step, *, holds_several: bool) -> Iterator[Step]:
    """The calls, then the reply. A plan goes with each call where an output holds only one."""
    if step.calls and holds_several:
        yield replace(step, reply=None)
    else:
        for number, call in enumerate(step.calls):
            results = step.results[number : number + 1]
            yield replace(step, calls=(call,), results=results, reply=None)
    if step.reply is not None:
        plan = "" if step.calls and holds_several else step.plan
        results = () if step.calls else step.results
        yield replace(step, plan=plan, calls=(), results=results)


def _stands_for(reading: Step, step: Step) -> bool:
    """Whether what was read is what was done; calls past the limit were read and not done."""
    if step.reply is not None:
        return not reading.calls and audible(reading.reply or "") == step.reply
    return reading.calls[: len(step.calls)] == step.calls
