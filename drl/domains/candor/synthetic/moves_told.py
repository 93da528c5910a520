"""Tells by rules over words which moves a text makes, whoever wrote it.

Each clause that makes a move has one vote (`drl.domains.candor.synthetic.clause_moves`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from drl.domains.candor.synthetic.acts import Move, Opening
from drl.domains.candor.synthetic.clause_moves import ClauseReader
from drl.domains.candor.synthetic.clauses import Clause, clauses
from drl.domains.candor.synthetic.lexicon import cue

_ANSWERS_TO: Final = {Opening.QUESTION: Move.TELL, Opening.WANTS_ADVICE: Move.ADVISE}
_MOSTLY: Final = 0.5


@dataclass(frozen=True, slots=True)
class Told:
    """The moves of a text in shares that sum to one."""

    shares: Mapping[Move, float]
    strayed: str = ""
    """The end of the text, where it leaves the matter after a reply; it has no share."""
    asks_back: bool = False
    """Whether it asks on once it has answered."""


@dataclass(frozen=True)
class _Vote:
    clause: Clause
    shares: Mapping[Move, float]

    @property
    def strays(self) -> bool:
        return self.shares.get(Move.SWERVE, 0) > _MOSTLY


def moves_told(text: str, met: Opening, matter: str, own: frozenset[str]) -> Told:
    """The moves of a plain text.

    Args:
        text: the reply.
        met: what was left open.
        matter: what that was about.
        own: stems of words that belong to the matter or stood where it was brought up.
    """
    votes = _votes(text, ClauseReader(met, matter, own, _laughs(text)))
    replies = len(votes)
    while replies and votes[replies - 1].strays:
        replies -= 1
    if not replies:
        return _told(votes, met)
    told = _told(votes[:replies], met)
    strayed = " ".join(str(vote.clause) for vote in votes[replies:])
    return Told(told.shares, strayed, told.asks_back)


def _votes(text: str, reader: ClauseReader) -> Sequence[_Vote]:
    votes: list[_Vote] = []
    has_left = False
    for clause in clauses(text):
        has_left = has_left or cue("aside").strong.search(clause.text) is not None
        shares = reader.read(clause, has_left=has_left, is_first=not votes)
        if shares:
            votes.append(_Vote(clause, _kind(shares, clause, votes, reader.met)))
            has_left = has_left or (votes[-1].strays and not clause.asks)
    return votes


def _kind(
    shares: Mapping[Move, float], clause: Clause, before: Sequence[_Vote], met: Opening
) -> Mapping[Move, float]:
    """Praise comforts who has just been comforted; only congratulations would hurt."""
    has_comforted = any(vote.shares.get(Move.COMFORT, 0) > _MOSTLY for vote in before)
    congratulates = cue("congratulates").strong.search(clause.text) is not None
    if met is not Opening.BAD_NEWS or not has_comforted or congratulates:
        return shares
    swapped = dict(shares)
    swapped[Move.COMFORT] = swapped.pop(Move.CHEER, 0) + swapped.get(Move.COMFORT, 0)
    return {move: share for move, share in swapped.items() if share > 0}


def _told(votes: Sequence[_Vote], met: Opening) -> Told:
    totals: dict[Move, float] = {}
    for vote in votes:
        for move, share in vote.shares.items():
            totals[move] = totals.get(move, 0) + share
    if totals.keys() - {Move.NOD, Move.SWERVE}:
        totals.pop(Move.NOD, None)  # a nod before a reply is no move of its own
    answer = _ANSWERS_TO.get(met)
    has_answered = answer is not None and totals.get(answer, 0) >= _MOSTLY
    asks_back = has_answered and totals.pop(Move.ASK_ON, 0) > _MOSTLY
    total = sum(totals.values())
    shares = {move: share / total for move, share in totals.items()}
    return Told(shares or {Move.NOD: 1.0}, asks_back=asks_back)


def _laughs(text: str) -> bool:
    return cue(Move.JOKE).strong.search(text) is not None
