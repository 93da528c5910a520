"""Puts a planned conversation into words.

The words of a move are drawn by the move and its matter alone; whether they are welcome is a thing
of what was said before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from drl.domains.candor.synthetic.acts import Move, Opening
from drl.domains.candor.synthetic.plan import Matter, PlannedTurn
from drl.domains.candor.synthetic.settings import Length
from drl.domains.candor.synthetic.vocabulary import patterns, phrase, topics

_SAYS_SO: Final = 0.7
"""How often a change of subject is announced as one; else only the subject tells."""

_IS_POLITE: Final = 0.5
"""How often somebody acknowledges the last turn before bringing up something new."""

_FEELS: Final = 0.6
"""How often news come with what they make one feel."""

_LONG_WORDS: Final = (3.1, 0.55)
"""Mean and deviation of the logarithm of the words in a long turn: 25 on average."""


class Speech:
    """The words of one conversation."""

    def __init__(self, held_out: bool, length: Length, random: np.random.Generator) -> None:
        self._held_out = held_out
        self._length = length
        self._random = random
        self._brought: list[str] = []

    def utterances(self, turns: Sequence[PlannedTurn]) -> list[str]:
        """What is said in each turn."""
        said: list[str] = []
        for turn in turns:
            brought = self._bring(turn)
            self._brought.append(brought)
            parts = [self._reply(turn, brought), "" if turn.move is Move.REPEAT else brought]
            text = " ".join(part for part in parts if part)
            said.append(self._padded(text) if self._length is Length.LONG else text)
        return said

    def _bring(self, turn: PlannedTurn) -> str:
        if turn.repeats is not None:
            return self._brought[turn.repeats]
        matter = turn.brings
        if matter is None:
            return ""
        known = patterns(self._held_out)[matter.kind]
        if matter.kind in (Opening.GOOD_NEWS, Opening.BAD_NEWS):
            news = phrase(known[matter.number].rpartition(" | ")[0], self._random) + "."
            return f"{news} {self._feeling(matter.kind)}".strip()
        topic = topics()[matter.number]
        remark = topic.held_out if self._held_out else topic.trained
        return phrase(self._one_of(known), self._random, topic=topic.name, remark=remark)

    def _reply(self, turn: PlannedTurn, brought: str) -> str:
        if turn.move is Move.GO_ON:
            is_polite = self._random.random() < _IS_POLITE
            return self._say(Move.GO_ON, "") if is_polite else ""
        if turn.move is Move.REPEAT:
            return f"{self._say(Move.REPEAT, '')} {_within(brought)}"
        matter = "" if turn.about is None else self._name(turn.about)
        if turn.move is not Move.SWERVE:
            return self._say(turn.move, matter)
        words = self._say(Move.ASK_ON if turn.asks else Move.TELL, matter)
        if self._random.random() < _SAYS_SO:
            return f"{self._say(Move.SWERVE, '')} {_within(words)}"
        return words

    def _say(self, move: Move, matter: str) -> str:
        return phrase(self._one_of(patterns(self._held_out)[move]), self._random, it=matter)

    def _one_of(self, known: Sequence[str]) -> str:
        return known[int(self._random.integers(len(known)))]

    def _name(self, matter: Matter) -> str:
        """What a reply calls it."""
        if matter.kind in (Opening.GOOD_NEWS, Opening.BAD_NEWS):
            return patterns(self._held_out)[matter.kind][matter.number].rpartition(" | ")[2]
        return topics()[matter.number].name

    def _feeling(self, kind: Opening) -> str:
        if self._random.random() > _FEELS:
            return ""
        name = "good_feeling" if kind is Opening.GOOD_NEWS else "bad_feeling"
        return phrase(self._one_of(patterns(self._held_out)[name]), self._random)

    def _padded(self, text: str) -> str:
        """A long turn rambles before it comes to its point, which stays its end."""
        wanted = self._random.lognormal(*_LONG_WORDS)
        more: list[str] = []
        while len(text.split()) + sum(len(each.split()) for each in more) < wanted - 6:
            more.append(phrase(self._one_of(patterns(self._held_out)["more"]), self._random))
        return " ".join([*more, text])


def _within(sentence: str) -> str:
    """A sentence as it goes on after a comma or colon."""
    is_name = sentence.startswith(("I ", "I'", "I,"))
    return sentence if is_name else sentence[:1].lower() + sentence[1:]
