"""The true worth of a reply in a generated conversation: for evaluations, and nothing that trains.

The generator's own rule is read off the words, so replies that it never wrote may have none.
"""

from __future__ import annotations

from collections.abc import Sequence

from drl.domains.candor.synthetic.reading import worth_of
from drl.turn_reward.session import Utterance


def hidden_worth(utterances: Sequence[Utterance], place: int) -> float | None:
    """The hidden reward of the turn at a place; None of words that the generator does not know."""
    return worth_of([utterance.text for utterance in utterances], place)
