"""Our own prompts for judges: what a model is told and shown, and how a rule reads that again.

    <conversation>          what was said, up to what is judged
    user: ...
    assistant: ...
    </conversation>
    <reference>             only where a right answer is known
    ...
    </reference>
    <answer>                what is judged; with two assistants <answer_a> and <answer_b>
    ...
    </answer>

Where a dialogue is judged as a whole, the answer is all that the assistant said. Two assistants
have a conversation each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import NamedTuple

from drl.runtime.prompts import fill
from drl.types import Role

_PACKAGE = "drl.domains.judge"
_NAMES = {Role.USER: "user", Role.AGENT: "assistant"}
_JUDGED = {
    True: "how the assistant led the conversation as a whole",
    False: "the last answer; what was said before is only there to understand it",
}
_JUDGED_OF_TWO = {
    True: "how each led its conversation as a whole",
    False: "their last answers; what was said before is only there to understand them",
}
_PART = re.compile(
    r"^<(reference|answer|answer_a|answer_b)>\n(.*?)\n</\1>$", re.DOTALL | re.MULTILINE
)


class Line(NamedTuple):
    """Words of one side."""

    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Shown:
    """What is judged, without the words around it."""

    reference: str
    answers: tuple[str, ...]


class Prompt(NamedTuple):
    """What a judge is told, and what it is shown."""

    system: str
    user: str


def rate(said: Sequence[Line], reference: str, *, whole: bool) -> Prompt:
    """Asks for a rating of the last line of `said`, or of all that the assistant said in it."""
    parts = [
        *_conversation("conversation", said, whole=whole),
        *_reference(reference),
        _block("answer", _answer(said, whole=whole)),
    ]
    return Prompt(_told("rate.md", _JUDGED[whole], reference), "\n".join(parts))


def compare(
    first: Sequence[Line], second: Sequence[Line], reference: str, *, whole: bool
) -> Prompt:
    """Asks which of two assistants did better, the one of `first` being A."""
    parts = [
        *_conversation("conversation_a", first, whole=whole),
        *_conversation("conversation_b", second, whole=whole),
        *_reference(reference),
        _block("answer_a", _answer(first, whole=whole)),
        _block("answer_b", _answer(second, whole=whole)),
    ]
    return Prompt(_told("compare.md", _JUDGED_OF_TWO[whole], reference), "\n".join(parts))


def shown(prompt: str) -> Shown | None:
    """What a prompt of `rate` or `compare` shows; None where it is no such prompt.

    Marks inside of what was said may mislead it.
    """
    found = {part[1]: part[2] for part in _PART.finditer(prompt)}
    both = ("answer",) if "answer" in found else ("answer_a", "answer_b")
    if any(name not in found for name in both):
        return None
    return Shown(found.get("reference", ""), tuple(found[name] for name in both))


def digest() -> str:
    """A hash of the prompts: judgments under other words are no longer the same measure."""
    folder = files(_PACKAGE) / "prompts"
    texts = [(folder / name).read_bytes() for name in ("rate.md", "compare.md", "reference.md")]
    return sha256(b"\0".join(texts)).hexdigest()[:8]


def _told(name: str, judged: str, reference: str) -> str:
    known = f"{fill(_PACKAGE, 'reference.md')}\n\n" if reference else ""
    return fill(_PACKAGE, name, judged=judged, reference=known)


def _conversation(name: str, said: Sequence[Line], *, whole: bool) -> list[str]:
    lines = said if whole else said[:-1]
    text = "\n".join(f"{_NAMES[line.role]}: {line.text}" for line in lines)
    return [_block(name, text)] if lines else []


def _reference(text: str) -> list[str]:
    return [_block("reference", text)] if text else []


def _answer(said: Sequence[Line], *, whole: bool) -> str:
    spoken = [line.text for line in said if line.role is Role.AGENT]
    return "\n".join(spoken if whole else spoken[-1:])


def _block(name: str, text: str) -> str:
    return f"<{name}>\n{text}\n</{name}>"
