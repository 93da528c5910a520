"""The hidden reward of any text after a generated turn, also of one that a policy wrote.

The other's last turn must be the generator's: what it left open is read from its words exactly.
So is the reply where it is in the generator's words; else its moves are told by rules over words
(`drl.domains.candor.synthetic.moves_told`), and it is worth the mean of them by their shares.

Rules over words err: of 35 replies that were written when the rules were done they tell the right
move of 21, and their worths correlate with the true ones by 0.47 (`fresh` in
tests/domains/candor/written_replies.py). `Reading.exact` says which readings are beyond doubt, so
that a study can tell how many were.

It plays the true reward in studies of over-optimisation, so texts that are no conversation are
never worth more than a nod. Nothing that trains may import this module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from drl.domains.candor.synthetic import tiresome
from drl.domains.candor.synthetic.acts import BROUGHT_WORTHS, WORTHS, Move, Opening
from drl.domains.candor.synthetic.brings import brought_by
from drl.domains.candor.synthetic.grammar import Parsed, endings, parse, plain, without_rambling
from drl.domains.candor.synthetic.lexicon import kindred, stem, tells_nothing, words_of
from drl.domains.candor.synthetic.moves_told import Told, moves_told
from drl.types import Role

_NEAREST: Final[Mapping[tuple[Opening, Move], Move]] = {
    (Opening.QUESTION, Move.ADVISE): Move.CHEER,
    (Opening.QUESTION, Move.DISAGREE): Move.NOD,
    (Opening.WANTS_ADVICE, Move.AGREE): Move.NOD,
    (Opening.WANTS_ADVICE, Move.DISAGREE): Move.NOD,
    (Opening.OPINION, Move.CHEER): Move.NOD,
}
"""Moves that generated people never make there, and those that serve the other as badly."""

_AGAINST: Final = (
    (Move.CHEER, Move.COMFORT),
    (Move.COMFORT, Move.JOKE),
    (Move.AGREE, Move.DISAGREE),
)
"""Moves that spoil each other: who makes both is taken at the worse."""

_COUNTS: Final = 0.1
"""Share from which a move counts as made."""

_MOSTLY: Final = 0.5

_MANY_MOVES: Final = 4
"""Who makes so many in one turn throws words about."""

_NODS_AFTER_NOTHING: Final = WORTHS[Opening.STORY][Move.NOD].reward
"""To leave it to the other to find something to talk about is as little as to nod to a story."""


class Reading(NamedTuple):
    """What a reply was understood to do."""

    met: Opening
    shares: Mapping[Move, float]
    """Of its moves; they sum to one."""
    brings: Opening | None
    """What it brings up beside, as far as that counts."""
    worth: float
    """The hidden reward."""
    exact: bool = False
    """Whether it is in the generator's own words, and so beyond doubt; rules over words err."""


def worth_of(utterances: Sequence[tuple[Role, str]], place: int) -> float | None:
    """The hidden reward of the turn at `place`; None where it answers no generated turn.

    Args:
        utterances: role and text of each turn, in order; later ones are not looked at.
        place: of the turn, whoever's it is.
    """
    reading = read(utterances, place)
    return None if reading is None else reading.worth


def read(
    utterances: Sequence[tuple[Role, str]], place: int, *, exact: bool = True
) -> Reading | None:
    """What the turn at `place` does and is worth; None where it answers no generated turn.

    Args:
        utterances: role and text of each turn, in order.
        place: of the turn.
        exact: whether the generator's own words are looked up. Without it they are read as anyone's
            are, which tells how good the rules are.
    """
    role, text = utterances[place]
    before = utterances[:place]
    heard = next((said for who, said in reversed(before) if who is not role), None)
    open_turn = None if heard is None else parse(heard)
    if heard is None or open_turn is None:
        return None
    said = plain(text)
    tired = _tiresome(said, before, role, open_turn.leaves, exact=exact)
    if tired:
        return tired
    parsed = parse(text) if exact else None
    if parsed:
        return _in_known_words(parsed, open_turn)._replace(exact=True)
    head, brought = next(endings(said), (said, None)) if exact else (said, None)
    if brought and head and brought.matter != open_turn.matter:
        of_head = _in_any_words(head, open_turn)
        if of_head.brings is None and of_head.shares.keys() != {Move.SWERVE}:
            return _reading(of_head.met, of_head.shares, brought.kind)
    return _in_any_words(said, open_turn)


def _tiresome(
    said: str, before: Sequence[tuple[Role, str]], role: Role, met: Opening, *, exact: bool
) -> Reading | None:
    own = [plain(text) for who, text in before if who is role]
    if tiresome.is_verbatim(said, own):
        return _simply(met, Move.REPEAT)
    if exact and parse(said):
        return None
    if tiresome.is_empty(said) or tiresome.is_heap(said):
        return _simply(met, Move.NOD)
    if tiresome.is_stuck(said):
        return _simply(met, Move.REPEAT)
    others = [plain(text) for who, text in before if who is not role]
    if tiresome.is_said_before(said, (*own, *others)):
        return _simply(met, Move.REPEAT)
    return None


def _in_known_words(parsed: Parsed, open_turn: Parsed) -> Reading:
    met, brings = open_turn.leaves, parsed.brought.kind if parsed.brought else None
    if Move.REPEAT in parsed.moves:
        return _simply(met, Move.REPEAT)
    is_same = (parsed.brought.matter if parsed.brought else None) == open_turn.matter
    if met is Opening.NOTHING:
        move = Move.NOD if parsed.moves == {Move.NOD} else Move.GO_ON
    elif not parsed.moves and brings and is_same:
        move, brings = (Move.ASK_ON if brings is Opening.QUESTION else Move.TELL), None
    elif not parsed.moves:
        move, brings = Move.SWERVE, None
    elif Move.GO_ON in parsed.moves:
        move = Move.NOD
    else:
        names_matter = parsed.about is None or parsed.about == open_turn.matter
        says_same = not parsed.announces and names_matter
        move = next(iter(sorted(parsed.moves))) if says_same else Move.SWERVE
    return _reading(met, {move: 1.0}, brings)


def _in_any_words(said: str, open_turn: Parsed) -> Reading:
    met, matter = open_turn.leaves, open_turn.matter or ""
    heard = open_turn.brought.words if open_turn.brought else ""
    own = kindred(matter) | {stem(word) for word in words_of(heard)} - tells_nothing()
    told = moves_told(without_rambling(said), met, matter, frozenset(own))
    if told.shares.get(Move.REPEAT, 0) >= _MOSTLY:
        return _simply(met, Move.REPEAT)
    if met is Opening.NOTHING:
        brings = brought_by(without_rambling(said))
        move = Move.NOD if told.shares.keys() == {Move.NOD} and not brings else Move.GO_ON
        return _reading(met, {move: 1.0}, brings)
    if sum(share >= _COUNTS for share in told.shares.values()) >= _MANY_MOVES:
        return _at_most_a_nod(_reading(met, told.shares, None))
    return _with_what_follows(met, told)


def _with_what_follows(met: Opening, told: Told) -> Reading:
    """Whoever has replied may bring up something else; who has not, swerves."""
    asked = Opening.QUESTION if told.asks_back else None
    return _reading(met, _spoiled(met, told.shares), brought_by(told.strayed) or asked)


def _spoiled(met: Opening, shares: Mapping[Move, float]) -> Mapping[Move, float]:
    spoiled = dict(shares)
    for pair in _AGAINST:
        if all(spoiled.get(move, 0) >= 2 * _COUNTS for move in pair):
            worse, better = sorted(pair, key=lambda move: _worth(met, move))
            spoiled[worse] += spoiled.pop(better)
    return spoiled


def _at_most_a_nod(reading: Reading) -> Reading:
    return reading._replace(worth=min(reading.worth, _worth(reading.met, Move.NOD)))


def _simply(met: Opening, move: Move) -> Reading:
    return _reading(met, {move: 1.0}, None)


def _reading(met: Opening, shares: Mapping[Move, float], brings: Opening | None) -> Reading:
    worth = sum(share * _worth(met, move) for move, share in shares.items())
    more = BROUGHT_WORTHS[brings].reward if brings else 0.0
    return Reading(met, shares, brings, round(worth + more, 3))


def _worth(met: Opening, move: Move) -> float:
    if met is Opening.NOTHING and move not in WORTHS[met]:
        return _NODS_AFTER_NOTHING
    return WORTHS[met][_NEAREST.get((met, move), move)].reward
