"""What a user's reward function returned, read as rewards of a text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import SupportsFloat, cast

import numpy as np
from numpy.typing import ArrayLike

from drl.types import RewardEvent


class NoRewardError(ValueError):
    """A value that is no reward; the message says what it is."""


def events_of(value: object, source: str, length: int) -> tuple[RewardEvent, ...]:
    """The rewards of a text, without those of 0.

    A number rewards the text as a whole. A list of (end_character, amount) rewards places inside:
    each amount is earned with the first `end_character` characters, which `detail` calls
    `character`. A mapping names several of either kind.

    Args:
        value: what the function returned.
        source: the name of a reward that has none of its own.
        length: characters of the text.

    Raises:
        NoRewardError: it is none of these.
    """
    if not isinstance(value, Mapping):
        return tuple(_events(value, source, length, "it"))
    found: list[RewardEvent] = []
    for name, part in value.items():
        if not isinstance(name, str) or not name:
            raise NoRewardError(f"it names a reward {name!r:.80}; names are texts")
        found += _events(part, name, length, f"its reward {name}")
    return tuple(found)


def _events(value: object, source: str, length: int, subject: str) -> Iterator[RewardEvent]:
    """The events of a number or of a list of places."""
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        amount = _number(value, subject)
        if amount:
            yield RewardEvent(amount, source)
        return
    for place, pair in enumerate(value):
        here = f"item {place} of {'it' if subject == 'it' else subject}"
        if not isinstance(pair, Sequence) or isinstance(pair, str | bytes) or len(pair) != 2:
            raise NoRewardError(
                f"{here} is {pair!r:.80}, and not a pair of a character and an amount"
            )
        end = pair[0]
        if not isinstance(end, int) or isinstance(end, bool) or not 0 <= end <= length:
            raise NoRewardError(
                f"{here} ends at character {end!r:.80}, which is no whole number from 0 to "
                f"{length}, the length of the text"
            )
        amount = _number(pair[1], f"the amount of {here}")
        if amount:
            yield RewardEvent(amount, source, {"character": end})


def _number(value: object, subject: str) -> float:
    """A finite number; those of numpy and torch too, if they are single ones."""
    if value is None:
        raise NoRewardError(f"{subject} is None, and not a number")
    if not isinstance(value, SupportsFloat):
        raise NoRewardError(f"{subject} is {value!r:.80} ({type(value).__name__}), and no number")
    shape = np.shape(cast(ArrayLike, value))  # also of what is no array
    if shape:
        raise NoRewardError(f"{subject} is an array of shape {list(shape)}, and no number")
    amount = float(value)
    if not math.isfinite(amount):
        raise NoRewardError(f"{subject} is {amount}, and not a finite number")
    return amount
