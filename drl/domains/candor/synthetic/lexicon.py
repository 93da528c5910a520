"""Words by which any text is read: cues of moves, words of a matter, words that tell nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Final, NamedTuple

from drl.domains.candor.synthetic.grammar import choices
from drl.domains.candor.synthetic.vocabulary import topics

_WORD: Final = re.compile(r"[a-zà-ÿ]+(?:'[a-z]+)?")
_GAP: Final = re.escape("* ")
_ENDINGS: Final = ("ing", "ers", "ed", "es", "er", "s", "e", "y")
_SHORTEST: Final = 3
"""Letters that are left of a word at least."""


class Cue(NamedTuple):
    """What tells of a move: plainly, and only where nothing else speaks."""

    strong: re.Pattern[str]
    weak: re.Pattern[str] | None


def words_of(text: str) -> Sequence[str]:
    """The words of a plain text."""
    return _WORD.findall(text)


@cache
def stem(word: str) -> str:
    """A word without its ending, roughly: played, plays and playing are one."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > _SHORTEST and word[-1] == word[-2] else word


@cache
def cue(name: str) -> Cue:
    """The cues of a section of the word list `cues`."""
    lines = _sections("cues")[name]
    weak = [line[1:] for line in lines if line.startswith("~")]
    strong = [line for line in lines if not line.startswith("~")]
    return Cue(_any_of(strong), _any_of(weak) if weak else None)


@cache
def words(section: str) -> frozenset[str]:
    """The words of a section of the word list `plain_words`."""
    return frozenset(" ".join(_sections("plain_words")[section]).split())


@cache
def tells_nothing() -> frozenset[str]:
    """Stems of words that say nothing about a subject; relatives tell something of questions."""
    return frozenset(stem(word) for word in words("function") | words("common"))


@cache
def kindred(matter: str) -> frozenset[str]:
    """Stems of the words that belong to a matter, its name's among them."""
    own = words_of(matter)
    found = {stem(word) for word in (*own, *_kindred().get(matter, ()))}
    return frozenset(found - {stem(word) for word in words("function")})


@cache
def strange_to(matter: str) -> frozenset[str]:
    """Stems of words that belong to other pastimes, and not to this matter.

    The words of news are everybody's.
    """
    others = (kindred(topic.name.lower()) for topic in topics())
    found = frozenset(stem for each in others for stem in each)
    return found - kindred(matter) - tells_nothing()


@cache
def _kindred() -> Mapping[str, Sequence[str]]:
    lines = (line.partition(" | ") for line in _lines("kindred"))
    return {matter.lower(): belonging.split() for matter, _, belonging in lines}


def _any_of(lines: Sequence[str]) -> re.Pattern[str]:
    either = "|".join(choices(line).replace(_GAP, r"(?:\S+ ){0,3}") for line in lines)
    return re.compile(rf"(?<![\w'])(?:{either})(?![\w'])")


@cache
def _sections(name: str) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    into: list[str] = []
    for line in _lines(name):
        if line.startswith("["):
            into = found.setdefault(line.strip("[]"), [])
        else:
            into.append(line)
    return found


def _lines(name: str) -> Sequence[str]:
    folder = files("drl.domains.candor.synthetic") / "word_lists"
    text = (folder / f"{name}.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
