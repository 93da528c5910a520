"""Tells by rules over words which moves a text makes, whoever wrote it.

Every clause is given to the moves that its words tell of, in shares that sum to one. A clause that
tells of none is judged by its form: questions ask on, commands advise, accounts tell; and by
whether it is to the point, for else it swerves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from drl.domains.candor.synthetic.acts import Move, Opening
from drl.domains.candor.synthetic.clauses import Clause, clauses, to_the_point
from drl.domains.candor.synthetic.lexicon import cue, words, words_of

_CUED: Final = (
    *(Move.CHEER, Move.COMFORT, Move.JOKE, Move.ASK_ON, Move.TELL, Move.ADVISE),
    *(Move.AGREE, Move.DISAGREE),
)
_WEAK: Final = 0.4
"""What a weak cue counts where a strong one counts 1."""

_EMPHATIC: Final = {Move.JOKE: 2.0, Move.DISAGREE: 1.5, Move.ADVISE: 1.3, Move.TELL: 0.7}
"""What a strong cue of some moves counts: laughter and rebuffs colour what is said with them."""

_ASIDE_WORDS: Final = 3
"""A clause of up to so many words without a cue is a mere sound."""

_COMMAND: Final = re.compile(
    r"(?:(?:just|maybe|perhaps|first|then|also|well|please|so|and|next time|oh),? )*"
    r"(?:don't |never |always |do not )?"
    r"(?:start|try|get|find|buy|take|practise|practice|join|ask|look|make|keep|use|read|watch|book|"
    r"rent|learn|go|set|begin|build|focus|avoid|remember|consider|check|call|write|compare|decide|"
    r"choose|visit|follow|pick|bring|put|train|spend|plan|save|meet|sign|hire|update|rest|rush|"
    r"overthink)\b"
)
_OF_OWN: Final = re.compile(r"(?<![\w'])(?:i|i'm|i've|i'd|i'll|my|we|we've|we're|our|mine|me)\b")
_ANSWERS: Final = re.compile(
    r"(?:yes|yeah|yep|no|nope|not|never|only|mostly|usually|sometimes|often|rarely|always|once|"
    r"twice|every|about|because|since|absolutely|definitely|of course|sure|honestly|well)\b"
)
_ANSWERED: Final = frozenset({Opening.QUESTION, Opening.WANTS_ADVICE})


@dataclass(frozen=True, slots=True)
class Told:
    """The moves of a text in shares that sum to one."""

    shares: Mapping[Move, float]
    strayed: str = ""
    """The end of the text, where it leaves the matter after a reply; it has no share."""
    asks_back: bool = False
    """Whether it asks on once it has answered."""


@dataclass(frozen=True)
class Reader:
    """Reads replies to one turn: to what it left open, about its matter."""

    met: Opening
    matter: str
    own: frozenset[str]
    _laughs: bool = field(default=False)

    def read(self, text: str) -> Told:
        """The moves of a plain text."""
        parts = clauses(text)
        reader = Reader(self.met, self.matter, self.own, bool(cue("joke").strong.search(text)))
        votes: list[tuple[Clause, Mapping[Move, float]]] = []
        has_left = False
        for clause in parts:
            has_left = has_left or cue("aside").strong.search(clause.text) is not None
            shares = reader.clause(clause, has_left=has_left, is_first=not votes)
            if shares:
                votes.append((clause, shares))
                has_left = has_left or (not clause.asks and _strays(shares))
        last = len(votes)
        while last and _strays(votes[last - 1][1]):
            last -= 1
        strayed = " ".join(str(clause) for clause, _ in votes[last:]) if last else ""
        return self._told(_summed([each for _, each in (votes[:last] or votes)]), strayed)

    def _told(self, totals: dict[Move, float], strayed: str) -> Told:
        if totals.keys() - {Move.NOD, Move.SWERVE}:
            totals.pop(Move.NOD, None)  # a nod before a reply is no move of its own
        asks_back = False
        answer = Move.ADVISE if self.met is Opening.WANTS_ADVICE else Move.TELL
        if self.met in _ANSWERED and totals.get(answer, 0) >= 0.5 and Move.ASK_ON in totals:
            asks_back = totals.pop(Move.ASK_ON) > 0.5
        return Told(_scaled(totals) or {Move.NOD: 1.0}, strayed, asks_back)

    def clause(self, clause: Clause, *, has_left: bool, is_first: bool) -> dict[Move, float]:
        """The shares of one clause; none where it is a mere sound."""
        if not clause.words:
            return {}
        if cue("repeat").strong.search(clause.text):
            return {Move.REPEAT: 1.0}
        if _is_nod(clause):
            return {Move.NOD: 1.0}
        if has_left:
            on_point = to_the_point(clause, self.own, self.matter) == 1
            rest = cue("aside").strong.sub("", clause.text)
            if not on_point:
                return {Move.SWERVE: 1.0} if len(rest.split()) > 1 else {}
        told = self._cued(clause)
        if told:
            return _sharpened(told)
        goes_on = not is_first and not clause.asks and not _OF_OWN.search(clause.text)
        if goes_on and to_the_point(clause, self.own, self.matter) > 0 and not self._laughs:
            return {}  # it belongs to what was said before it
        return self._by_form(clause)

    def _cued(self, clause: Clause) -> dict[Move, float]:
        found: dict[Move, float] = {}
        for move in _CUED:
            if clause.asks and move in (Move.TELL, Move.AGREE):
                continue
            cues = cue(move)
            if cues.strong.search(clause.text):
                found[move] = _EMPHATIC.get(move, 1.0)
            elif cues.weak and cues.weak.search(clause.text):
                found[move] = _WEAK
        if found.get(Move.JOKE, 0) > 1:
            return {Move.JOKE: 1.0}
        if Move.DISAGREE in found:
            found.pop(Move.AGREE, None)
        if Move.ADVISE not in found and _COMMAND.match(clause.text):
            found[Move.ADVISE] = 1.0
        if self.met is Opening.QUESTION:
            self._as_answer(clause, found)
        own = found.get(Move.TELL)
        if own or (clause.asks and max(found.values(), default=0) <= _WEAK):
            away = 1 - to_the_point(clause, self.own, self.matter)
            if own:
                found[Move.TELL] = own * (1 - away)
                found[Move.SWERVE] = own * away
            else:
                found.clear()
        return {move: weight for move, weight in found.items() if weight > 0}

    def _as_answer(self, clause: Clause, found: dict[Move, float]) -> None:
        """Yes, no and what one likes are answers where something was asked."""
        rest = words_of(cue(Move.AGREE).strong.sub("", clause.text))
        has_more = any(word not in words("function") | words("common") for word in rest)
        is_answer = _ANSWERS.match(clause.text) or _OF_OWN.search(clause.text)
        if clause.asks or not is_answer:
            return
        if has_more or found.get(Move.AGREE) == _WEAK:
            for move in (Move.AGREE, Move.DISAGREE):
                if found.pop(move, None):
                    found[Move.TELL] = 1.0
        for move in (Move.CHEER, Move.COMFORT):
            if found.get(move, 0) <= _WEAK:
                found.pop(move, None)

    def _by_form(self, clause: Clause) -> dict[Move, float]:
        near = to_the_point(clause, self.own, self.matter)
        if clause.asks:
            return {Move.ASK_ON: near, Move.SWERVE: 1 - near}
        if self._laughs:
            return {Move.JOKE: 1.0}
        says_much = [word for word in clause.words if word not in words("function")]
        is_own = _OF_OWN.search(clause.text) is not None
        is_answer = self.met is Opening.QUESTION and _ANSWERS.match(clause.text) is not None
        if not says_much or (len(clause.words) <= _ASIDE_WORDS and not is_own and not is_answer):
            return {Move.NOD: 0.5}
        if is_answer:
            near = max(near, 0.6)
        return {Move.TELL: near, Move.SWERVE: 1 - near}


def _strays(shares: Mapping[Move, float]) -> bool:
    return shares.get(Move.SWERVE, 0) > 0.5


def _summed(votes: Sequence[Mapping[Move, float]]) -> dict[Move, float]:
    totals: dict[Move, float] = {}
    for shares in votes:
        for move, share in shares.items():
            totals[move] = totals.get(move, 0) + share
    return totals


def _is_nod(clause: Clause) -> bool:
    parts = [part.strip() for part in clause.text.split(",")]
    return all(cue("nod").strong.fullmatch(part) for part in parts if part)


def _sharpened(weights: Mapping[Move, float]) -> dict[Move, float]:
    """Shares in which the better told move outweighs the others by more."""
    return _scaled({move: weight**2 for move, weight in weights.items()})


def _scaled(weights: Mapping[Move, float]) -> dict[Move, float]:
    total = sum(weights.values())
    return {move: weight / total for move, weight in weights.items() if weight > 0}
