"""The vocabulary: phrases of either part of the data, and how a phrase is drawn from a pattern.

A pattern is a line in `word_lists/`: `{a|b}` is a or b, `<name>` a word given at the draw.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

import numpy as np

_CHOICE: Final = re.compile(r"\{([^{}]*)\}")
_NAME: Final = re.compile(r"<(\w+)>")
_SENTENCE_START: Final = re.compile(r"(^|[.!?] )([a-z])")


class Topic(NamedTuple):
    """A pastime as a gerund, and a remark on it for training and for held-out conversations."""

    name: str
    trained: str
    held_out: str


@cache
def topics() -> Sequence[Topic]:
    """All pastimes."""
    return [Topic(*(part.strip() for part in line.split("|"))) for line in _lines("topics")]


@cache
def patterns(held_out: bool) -> Mapping[str, Sequence[str]]:
    """Patterns by name, of the held-out or of the training part; the parts share none."""
    wanted = "held out" if held_out else "training"
    found: dict[str, list[str]] = {}
    into: list[str] = []
    for line in (*_lines("moves"), *_lines("openings")):
        if line.startswith("["):
            name, _, part = line.strip("[]").partition(" ")
            into = found.setdefault(name, []) if part == wanted else []
        else:
            into.append(line)
    return found


def phrase(pattern: str, random: np.random.Generator, **names: str) -> str:
    """A pattern with its choices made and its names put in; sentences begin with a capital."""

    def choose(match: re.Match[str]) -> str:
        choices = match[1].split("|")
        return choices[int(random.integers(len(choices)))]

    text = _NAME.sub(lambda match: names[match[1]], _CHOICE.sub(choose, pattern))
    return _SENTENCE_START.sub(lambda match: match[1] + match[2].upper(), text.strip())


def _lines(name: str) -> list[str]:
    text = (files("drl.domains.candor.synthetic") / "word_lists" / f"{name}.txt").read_text(
        encoding="utf-8"
    )
    return [line for line in text.splitlines() if line and not line.startswith("#")]
