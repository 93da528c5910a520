"""The protocol of what turns media into columns of the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from drl.types import JSON


class Sense(Protocol):
    """One way of measuring one person; pieces come in the order of time, once.

    Ears take sound: float32 [N] at `media.SAMPLE_RATE` in [-1, 1], blocks that start at whole
    seconds. Eyes take pictures: uint8 [height, width, 3], red green blue.
    """

    def take(self, piece: NDArray[Any], second: float) -> None:
        """Measure a piece that starts at `second`."""
        ...

    def columns(self) -> Mapping[str, NDArray[np.float64]]:
        """By column of the table one value a second, float64 [S]; NaN where there is none."""
        ...

    def about(self) -> Mapping[str, JSON]:
        """What it is, for the file that says how the values came about."""
        ...
