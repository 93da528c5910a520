"""What a customer says that it cannot know or should keep to itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from drl.domains.conversation import split_private
from drl.evaluation.conduct import mentions
from drl.types import JSON, Role, Task, Turn

_REFERENCE = re.compile(r"\b(?=\w*[A-Z])(?=\w*\d)[A-Z0-9]{6,12}\b")
_CODE = re.compile(r"\{\s{0,9}[\"']\w{1,80}[\"']\s{0,9}:|<\|?/?\w{1,40}\|?>|```")
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_SENTENCE_END = re.compile(r"[.!?\n]+")
_TO_THE_CUSTOMER = re.compile(r"\byou(?:r|rs|rself)?\b", re.IGNORECASE)
_ADDRESSED = 5
"""Words of an instruction that speaks to the customer ("Make sure you get ...") which none says."""
_COPIED = 10
"""Words of any other instruction, said from its beginning to its end, which is reading aloud."""
_THOUGHT = 6
"""Words of a sentence of private reasoning, said from its beginning to its end."""


def unknowable(task: Task, before: Sequence[Turn], turn: Turn) -> Iterator[str]:
    """What is wrong with a customer's turn that follows these; each finding in a few words.

    It may know the instructions and wishes of its brief, and what the agent said.
    """
    text = turn.text or ""
    wishes = [[*w.constraints.values(), *w.first_constraints.values()] for w in task.brief.wishes]
    heard = [t.text or "" for t in before if t.role is Role.AGENT]
    known = "\n".join([*task.brief.instructions, *(v for values in wishes for v in values), *heard])
    for secret in _secrets(task):
        if mentions(text, secret) and not mentions(known, secret):
            yield f"names {secret}, which nobody told it"
    for reference in _REFERENCE.findall(text):
        if reference.casefold() not in known.casefold():
            yield f"gives the reference {reference}, which nobody told it"
    for sentence in _sentences("\n".join(task.brief.instructions)):
        least = _ADDRESSED if _TO_THE_CUSTOMER.search(sentence) else _COPIED
        if _is_said(sentence, text, least):
            yield f'reads its instructions aloud: "{sentence.strip()}"'
    if split_private(text).private:
        yield "thinks aloud"
    for plan in (step.plan for step in turn.steps):
        for sentence in _sentences(_QUOTED.sub("", plan)):
            if _is_said(sentence, text, _THOUGHT):
                yield f'says what it thought: "{sentence.strip()}"'
    for name in _tools(task, before):
        if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text):
            yield f"names the tool {name}"
    if _CODE.search(text):
        yield "writes code or markup"


def _secrets(task: Task) -> list[str]:
    """Values of the goals that only the agent's side can find out."""
    found: dict[str, None] = {}
    for goal in task.goals:
        for value in _leaves([goal.arguments, goal.details]):
            if _is_distinct(value):
                found[value] = None
    return list(found)


def _leaves(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (leaf for part in value.values() for leaf in _leaves(part))
    elif isinstance(value, Sequence):
        yield from (leaf for part in value for leaf in _leaves(part))


def _is_distinct(value: str) -> bool:
    """Whether nobody would say the value by chance: an id, a number to call, a name."""
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    has_space = " " in value.strip()
    is_id = digits >= 1 and letters >= 2 and len(value) >= 5 and not has_space
    is_name = has_space and letters >= 8
    return is_id or is_name or digits >= 6


def _tools(task: Task, dialogue: Sequence[Turn]) -> set[str]:
    """Names of tools that are no words of everyday English."""
    called = {e.call.name for turn in dialogue for e in turn.executed()}
    return {name for name in called | {goal.kind for goal in task.goals} if "_" in name}


def _sentences(text: str) -> list[str]:
    return [part for part in _SENTENCE_END.split(text) if part.strip()]


def _is_said(sentence: str, text: str, least: int) -> bool:
    """Whether the text holds all words of a sentence of at least so many, in order."""
    words = _WORD.findall(sentence.casefold())
    said = f" {' '.join(_WORD.findall(text.casefold()))} "
    return len(words) >= least and f" {' '.join(words)} " in said
