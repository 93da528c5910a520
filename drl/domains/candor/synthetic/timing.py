"""When each turn is spoken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def spans(
    utterances: Sequence[str], paces: Sequence[float], random: np.random.Generator
) -> NDArray[np.float64]:
    """Start and stop of every turn, float64 [T, 2] in seconds with two decimals.

    `paces` are the speakers' words a second, a value for each turn. One turn in four or so begins
    before the last one ends; none begins before the last one does.
    """
    words = np.array([len(text.split()) for text in utterances])
    lasting = 0.4 + words / np.array(paces) * random.lognormal(0, 0.15, len(words))
    gaps = np.clip(random.normal(0.3, 0.45, len(words)), -0.6, 2.0)
    gaps[0] = abs(gaps[0]) + 0.5
    gaps[1:] = np.maximum(gaps[1:], 0.2 - lasting[:-1])
    starts = np.cumsum(gaps) + np.concatenate(([0.0], np.cumsum(lasting)[:-1]))
    return np.round(np.stack([starts, starts + lasting], axis=1), 2)
