"""Tells by rules over words which moves one clause makes.

Its words give it to moves in shares that sum to one. Where they tell of none it is judged by its
form: questions ask on, commands advise, accounts tell; and by whether it is to the point, for else
it swerves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from drl.domains.candor.synthetic.acts import Move, Opening
from drl.domains.candor.synthetic.clauses import Clause, to_the_point
from drl.domains.candor.synthetic.lexicon import cue, words, words_of

_CUED: Final = (
    *(Move.CHEER, Move.COMFORT, Move.JOKE, Move.ASK_ON, Move.TELL, Move.ADVISE),
    *(Move.AGREE, Move.DISAGREE),
)
_PLACED: Final = (Move.TELL, Move.ASK_ON)
"""Moves that swerve where they are not to the point."""

_WEAK: Final = 0.4
"""What a weak cue counts where a strong one counts 1."""

_EMPHATIC: Final = {Move.JOKE: 2.0, Move.DISAGREE: 1.5, Move.ADVISE: 1.3, Move.TELL: 0.7}
"""What a strong cue of some moves counts: laughter and rebuffs colour what is said with them."""

_ASIDE_WORDS: Final = 3
"""A clause of up to so many words without a cue is a mere sound."""

_LIKELY: Final = 0.6

_COMMAND: Final = re.compile(
    r"(?:(?:just|maybe|perhaps|first|then|also|well|please|so|and|next time|oh),? )*"
    r"(?:don't |never |always |do not )?"
    r"(?:start|try|get|find|buy|take|practise|practice|join|ask|look|make|keep|use|read|watch|book|"
    r"rent|learn|go|set|begin|build|focus|avoid|remember|consider|check|call|write|compare|decide|"
    r"choose|visit|follow|pick|bring|put|train|spend|plan|save|meet|sign|hire|update|rest|rush|"
    r"overthink|give|see|stay|wear|eat|drink|cut|add|mix|work|stick|move|talk|speak|test|aim)\b"
)
_PLANS: Final = re.compile(r"(?<![\w'])(?:i'd|i would)\b")
_OF_OWN: Final = re.compile(r"(?<![\w'])(?:i|i'm|i've|i'd|i'll|my|we|we've|we're|our|mine|me)\b")
_OF_THE_OTHER: Final = re.compile(r"(?<![\w'])(?:you|your|you're|you've|you'll|yours|yourself)\b")
_ANSWERS: Final = re.compile(
    r"(?:yes|yeah|yep|no|nope|not|never|only|mostly|usually|sometimes|often|rarely|always|once|"
    r"almost|hardly|twice|every|about|because|since|absolutely|definitely|of course|sure|honestly|"
    r"well)\b"
)


@dataclass(frozen=True)
class ClauseReader:
    """Reads clauses of a reply: to what was left open, about its matter.

    `own` are stems of words that belong to the matter, or stood where it was brought up; `laughs`
    tells that there is laughter in the reply.
    """

    met: Opening
    matter: str
    own: frozenset[str]
    laughs: bool

    def read(self, clause: Clause, *, has_left: bool, is_first: bool) -> dict[Move, float]:
        """The shares of one clause; none where it adds nothing.

        Args:
            clause: of the reply.
            has_left: whether the reply has turned to something else.
            is_first: whether nothing was told of before it.
        """
        if not clause.words:
            return {}
        if cue("repeat").strong.search(clause.text):
            return {Move.REPEAT: 1.0}
        if _is_nod(clause):
            return {Move.NOD: 1.0}
        near = to_the_point(clause, self.own, self.matter)
        if has_left and near < 1:
            rest = cue("aside").strong.sub("", clause.text)
            return {Move.SWERVE: 1.0} if len(rest.split()) > 1 else {}
        told = self._cued(clause, near)
        if told:
            return _placed(_sharpened(told), near)
        goes_on = not is_first and not clause.asks and not _OF_OWN.search(clause.text)
        if goes_on and near > 0 and not self.laughs:
            return {}  # it belongs to what was said before it
        return self._by_form(clause, near)

    def _cued(self, clause: Clause, near: float) -> dict[Move, float]:
        found: dict[Move, float] = {}
        for move in _CUED:
            cues = cue(move)
            if clause.asks and move in (Move.TELL, Move.AGREE):
                continue
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
        if clause.asks and self.met is not Opening.WANTS_ADVICE and near < _LIKELY:
            found.pop(Move.ADVISE, None)  # "Have you tried" what has nothing to do with it
        if self.met is Opening.QUESTION and not clause.asks:
            _as_answer(clause, found)
        if self.met is Opening.WANTS_ADVICE and _PLANS.search(clause.text):
            found = {Move.ADVISE: 1.0}
        return {} if clause.asks and max(found.values(), default=0) <= _WEAK else found

    def _by_form(self, clause: Clause, near: float) -> dict[Move, float]:
        if clause.asks:
            asked = _placed({Move.ASK_ON: 1.0}, near)
            return _scaled({**asked, Move.JOKE: 1.0}) if self.laughs else asked
        if self.laughs:
            return {Move.JOKE: 1.0}
        says_much = any(word not in words("function") for word in clause.words)
        is_own = _OF_OWN.search(clause.text) is not None
        is_answer = self.met is Opening.QUESTION and _ANSWERS.match(clause.text) is not None
        is_short = len(clause.words) <= _ASIDE_WORDS and not is_own and not is_answer
        if not says_much or is_short:
            return {Move.NOD: 1.0}
        if is_own or self.met is Opening.QUESTION:
            return _placed({Move.TELL: 1.0}, max(near, _LIKELY) if is_answer else near)
        if self.met is Opening.WANTS_ADVICE:
            return {Move.ADVISE: near, Move.SWERVE: 1 - near}
        if near < _LIKELY and not _OF_THE_OTHER.search(clause.text):
            return {Move.NOD: near, Move.SWERVE: 1 - near}
        return {Move.NOD: 1.0}  # a remark that tells of nothing: no more is certain


def _as_answer(clause: Clause, found: dict[Move, float]) -> None:
    """Yes, no and what one likes are answers where something was asked."""
    if not _ANSWERS.match(clause.text) and not _OF_OWN.search(clause.text):
        return
    rest = clause.text
    for move in (Move.AGREE, Move.DISAGREE):
        for pattern in cue(move):
            rest = pattern.sub("", rest) if pattern else rest
    if any(word not in words("function") for word in words_of(rest)):
        for move in (Move.AGREE, Move.DISAGREE):
            if found.pop(move, None):
                found[Move.TELL] = 1.0
    for move in (Move.CHEER, Move.COMFORT):
        if found.get(move, 0) <= _WEAK:
            found.pop(move, None)


def _is_nod(clause: Clause) -> bool:
    parts = [part.strip() for part in clause.text.split(",")]
    return all(cue("nod").strong.fullmatch(part) for part in parts if part)


def _placed(shares: Mapping[Move, float], near: float) -> dict[Move, float]:
    """The shares, where accounts and questions that are beside the point swerve."""
    away = (1 - near) * sum(shares.get(move, 0) for move in _PLACED)
    placed = {
        move: share * near if move in _PLACED else share
        for move, share in (*shares.items(), (Move.SWERVE, away))
    }
    return {move: share for move, share in placed.items() if share > 0}


def _sharpened(weights: Mapping[Move, float]) -> dict[Move, float]:
    """Shares in which the better told move outweighs the others by more."""
    return _scaled({move: weight**2 for move, weight in weights.items()})


def _scaled(weights: Mapping[Move, float]) -> dict[Move, float]:
    total = sum(weights.values())
    return {move: weight / total for move, weight in weights.items()}
