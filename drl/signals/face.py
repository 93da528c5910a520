"""The listener's face, second by second: found, read, and averaged over the second's pictures.

Axes: S seconds, C classes of faces.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from drl.signals.face_finder import FaceFinder
from drl.signals.face_reader import FaceReader
from drl.signals.sense import Sense
from drl.signals.table import FACE_COLUMNS
from drl.types import JSON


class Face(Sense):
    """Eight probabilities a second, empty where no picture of it shows a face."""

    def __init__(self, finder: FaceFinder, reader: FaceReader) -> None:
        self._finder = finder
        self._reader = reader
        self._sums: dict[int, NDArray[np.float64]] = {}
        self._counts: dict[int, int] = {}
        self._length = 0

    def take(self, piece: NDArray[np.uint8], second: float) -> None:
        """Look at one picture."""
        at = int(second)
        self._length = max(self._length, at + 1)
        face = self._finder.find(piece)
        probabilities = None if face is None else self._reader.read(face)
        if probabilities is not None:
            self._sums[at] = self._sums.get(at, 0.0) + probabilities
            self._counts[at] = self._counts.get(at, 0) + 1

    def columns(self) -> Mapping[str, NDArray[np.float64]]:
        """A column for each class."""
        means_SC = np.full((self._length, len(FACE_COLUMNS)), np.nan)
        for second, total in self._sums.items():
            means_SC[second] = total / self._counts[second]
        return {name: means_SC[:, place] for place, name in enumerate(FACE_COLUMNS)}

    def about(self) -> Mapping[str, JSON]:
        """The model."""
        return self._reader.about()
