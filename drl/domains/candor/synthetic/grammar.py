"""Reads the words of the generator back: the inverse of `wording`, exact on whatever it writes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple

from drl.domains.candor.synthetic.acts import Move, Opening
from drl.domains.candor.synthetic.vocabulary import patterns, topics

_NEWS: Final = {
    Opening.GOOD_NEWS: "good_feeling",
    Opening.BAD_NEWS: "bad_feeling",
}
_STRAIGHT: Final = {0x2018: "'", 0x2019: "'", 0x201C: '"', 0x201D: '"'}
_TOKEN: Final = re.compile(r"\{[^{}]*\}|<\w+>|[^{}<>]+")


class Brought(NamedTuple):
    """What the end of a turn brings up, and what a reply calls it."""

    kind: Opening
    matter: str
    words: str


class Parsed(NamedTuple):
    """A turn in the generator's own words."""

    moves: frozenset[Move]
    """What its reply may be; empty where it has none. Two moves share hardly any words."""
    about: str | None
    """The matter that the reply names."""
    asks: bool
    announces: bool
    """Whether it says that it changes the subject."""
    brought: Brought | None

    @property
    def leaves(self) -> Opening:
        """What is open after the turn."""
        if self.brought:
            return self.brought.kind
        return Opening.QUESTION if self.asks else Opening.NOTHING

    @property
    def matter(self) -> str | None:
        """What the next turn would be about."""
        return self.brought.matter if self.brought else self.about


@cache
def matters() -> frozenset[str]:
    """All that a reply can be about, in lower case."""
    news = (line for kind in _NEWS for line in _both_parts(kind))
    names = (line.rpartition(" | ")[2] for line in news)
    return frozenset(name.lower() for name in (*names, *(topic.name for topic in topics())))


def plain(text: str) -> str:
    """A text in lower case, with straight quotes and single spaces."""
    return " ".join(text.lower().translate(_STRAIGHT).split())


def choices(pattern: str) -> str:
    """A pattern of the word lists as a regular expression over plain words."""
    return "".join(_part(token) for token in _TOKEN.findall(pattern.strip()))


@cache
def parse(text: str) -> Parsed | None:
    """What a turn does, where it is in the generator's words from end to end; else None.

    Args:
        text: of one turn, without the name of its speaker.
    """
    words = plain(text)
    if not words:
        return None
    whole = _reply(words)
    if whole:
        return whole
    for head, brought in endings(words):
        if not head or _rambling().fullmatch(head):
            return Parsed(frozenset(), None, False, False, brought)
        before = _reply(head)
        if before:
            return before._replace(brought=brought)
    return None


def endings(words: str) -> Iterator[tuple[str, Brought]]:
    """Readings of plain words that bring up something at their end, and what stands before it."""
    for kind, ends in _ends().items():
        match = ends.search(words)
        if match:
            brought = Brought(kind, _matter(kind, match), match[0])
            yield words[: match.start()].strip(), brought


def without_rambling(words: str) -> str:
    """Plain words from where they come to the point, behind the generator's rambling."""
    rambling = _rambling().match(words)
    return words[rambling.end() :] if rambling and rambling.end() < len(words) else words


def named(words: str) -> str | None:
    """The first matter that plain words name in full."""
    match = _names().search(words)
    return match[0] if match else None


def _reply(words: str) -> Parsed | None:
    """A reply alone, behind whatever rambling."""
    for rest in dict.fromkeys((words, without_rambling(words))):
        announced = _moves()[Move.SWERVE].match(rest)
        inner = rest[announced.end() :].strip() if announced else rest
        moves = frozenset(
            move
            for move, pattern in _moves().items()
            if move is not Move.SWERVE and pattern.fullmatch(inner)
        )
        if moves:
            asks = Move.ASK_ON in moves
            return Parsed(moves, named(inner), asks, announced is not None, None)
    return None


@cache
def _names() -> re.Pattern[str]:
    longest_first = sorted(matters(), key=len, reverse=True)
    return re.compile(r"\b(?:" + "|".join(map(re.escape, longest_first)) + r")\b")


@cache
def _rambling() -> re.Pattern[str]:
    return re.compile(f"(?:(?:{_either('more')})(?: |$))+")


@cache
def _moves() -> Mapping[Move, re.Pattern[str]]:
    return {move: re.compile(_either(move)) for move in Move}


@cache
def _ends() -> Mapping[Opening, re.Pattern[str]]:
    """What can be brought up, where it stands at the end; each piece of news is a group."""
    found: dict[Opening, re.Pattern[str]] = {}
    for kind in Opening:
        if kind is not Opening.NOTHING:
            body = _news(kind) if kind in _NEWS else f"(?:{_either(kind)})"
            found[kind] = re.compile(rf"(?:^|(?<= )){body}$")
    return found


def _news(kind: Opening) -> str:
    sentences = (line.rpartition(" | ")[0] for line in _both_parts(kind))
    numbered = "|".join(f"(?P<n{at}>{choices(each)})" for at, each in enumerate(sentences))
    return rf"(?:{numbered})\.(?: (?:{_either(_NEWS[kind])}))?"


def _matter(kind: Opening, match: re.Match[str]) -> str:
    if kind not in _NEWS:
        return named(match[0]) or ""
    number = next(int(name[1:]) for name, words in match.groupdict().items() if words is not None)
    return _both_parts(kind)[number].rpartition(" | ")[2].lower()


def _both_parts(name: str) -> Sequence[str]:
    return [line for part in (False, True) for line in patterns(part)[name]]


def _either(name: str) -> str:
    return "|".join(choices(line) for line in _both_parts(name))


def _part(token: str) -> str:
    if token.startswith("{"):
        return "(?:" + "|".join(_inside(each) for each in token[1:-1].split("|")) + ")"
    if token == "<remark>":
        return "[^.!?]+"
    if token.startswith("<"):
        return "[^.!?,:]+?"  # any name: all the known ones in each place take seconds to compile
    return re.escape(token.lower().translate(_STRAIGHT))


def _inside(choice: str) -> str:
    return "".join(_part(token) for token in _TOKEN.findall(choice))
