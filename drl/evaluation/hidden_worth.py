"""The true worth of a reply in a generated conversation: for evaluations, and nothing that trains.

The generator's own rule, read off the words of the reply and of the turn that it answers.
"""

from __future__ import annotations

from collections.abc import Sequence

from drl.domains.candor.synthetic.reading import worth_of
from drl.turn_reward.session import Utterance


def hidden_worth(utterances: Sequence[Utterance], place: int) -> float | None:
    """The hidden reward of the turn at a place; None where it answers no generated turn."""
    return worth_of(utterances, place)
