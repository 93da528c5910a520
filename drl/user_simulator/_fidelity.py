"""Rules that keep a customer who speaks through a model a customer.

What is private stays private; the customer does not speak as the agent; nobody hangs up before
the agent has spoken, nor in the turn that asks for an action or agrees to one. What text shows of
all that is judged in `drl.domains.conversation`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from drl.domains.conversation import (
    LONGEST,
    audible,
    consents,
    own_words,
    role_flip,
    split_private,
    without_flips,
)
from drl.types import Role, Turn
from drl.user_simulator.base import END_OF_CONVERSATION


class Utterance(NamedTuple):
    """An output of a customer's model: its thoughts, what is said, and what is wrong with it.

    `rescued` is what can be said of a faulty output when it is not asked for again; may be empty.
    """

    private: str
    public: str
    fault: str | None = None
    rescued: str = ""


def faithful(text: str, history: Sequence[Turn]) -> Utterance:
    """The output read by the rules."""
    private, public = split_private(text)
    public = audible(own_words(public))
    is_end = END_OF_CONVERSATION in public
    public, _, _ = public.partition(END_OF_CONVERSATION)  # nothing is said after hanging up
    public = public.strip()
    heard = last_words(history)
    may_end = heard is not None and not consents(public, heard)
    ending = f" {END_OF_CONVERSATION}" if is_end and may_end else ""
    if not public and is_end and not may_end:
        return Utterance(private, "", "it hung up before the agent had said anything")
    said = (public + ending).strip()
    if role_flip(public):
        rescued = (without_flips(public) + ending).strip()
        return Utterance(private, said, "it spoke as the agent would do", rescued)
    return checked(Utterance(private, said))


def verbatim(text: str) -> Utterance:
    """The output as it is."""
    return checked(Utterance("", text))


def checked(utterance: Utterance) -> Utterance:
    """With a fault where there is nothing to hear, or no end of it."""
    if not utterance.public.strip():
        return utterance._replace(fault="it held no words for the agent to hear")
    if len(utterance.public) > LONGEST:
        return utterance._replace(fault=f"it was longer than {LONGEST} characters")
    return utterance


def last_words(history: Sequence[Turn]) -> str | None:
    """What the agent said last; None if it has not spoken."""
    said = (turn.text for turn in reversed(history) if turn.role is Role.AGENT)
    return next((text for text in said if text is not None), None)


def without_commands(text: str) -> str:
    """The agent's words without the word that only a customer can use."""
    while END_OF_CONVERSATION in text:  # taking it out may lay another one bare
        text = text.replace(END_OF_CONVERSATION, "")
    return text.strip()
