"""Loudness and pitch of a voice, second by second.

Axes: N samples, F frames of analysis, S seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from drl.signals.extras import need
from drl.signals.media import SAMPLE_RATE
from drl.signals.sense import Sense
from drl.signals.table import INTENSITY, PITCH
from drl.types import JSON

_LOWEST_HZ, _HIGHEST_HZ = 60.0, 500.0
"""What voices in conversation reach; higher or lower is mostly not a voice."""

_FEWEST_VOICED_S = 0.08
"""Seconds with less voice than this have no pitch: a mean over so little is chance."""

_FLOOR = 1e-5
"""Digital silence counts as -100 dB, since its logarithm is no number."""


class Loudness(Sense):
    """Root mean square of each second, in dB below full scale."""

    def __init__(self) -> None:
        self._seconds: list[NDArray[np.float64]] = []

    def take(self, piece: NDArray[np.float32], second: float) -> None:
        """Measure a block of sound."""
        whole = -(-len(piece) // SAMPLE_RATE)
        square = np.zeros(whole * SAMPLE_RATE)
        square[: len(piece)] = np.square(piece, dtype=np.float64)
        lengths = np.full(whole, SAMPLE_RATE)
        lengths[-1] = len(piece) - (whole - 1) * SAMPLE_RATE
        power = square.reshape(whole, SAMPLE_RATE).sum(axis=1) / lengths
        self._seconds.append(20 * np.log10(np.maximum(np.sqrt(power), _FLOOR)))

    def columns(self) -> Mapping[str, NDArray[np.float64]]:
        """The intensity."""
        return {INTENSITY: np.concatenate(self._seconds) if self._seconds else np.empty(0)}

    def about(self) -> Mapping[str, JSON]:
        """The unit."""
        return {INTENSITY: "root mean square, dB below full scale"}


class SwiftPitch(Sense):
    """Mean fundamental frequency of each second, by the network that swift-f0 ships."""

    def __init__(self) -> None:
        swift = need("swift_f0", "--pitch swift_f0")
        # no spinning threads: they would take the CPU from whatever else runs
        detector = swift.SwiftF0(threads=1, spin=False)
        self._stream = detector.stream(fmin=_LOWEST_HZ, fmax=_HIGHEST_HZ)
        self._means = _VoicedMeans(swift.FRAME_PERIOD)

    def take(self, piece: NDArray[np.float32], second: float) -> None:
        """Measure a block of sound."""
        self._keep(self._stream.push(piece, SAMPLE_RATE))

    def columns(self) -> Mapping[str, NDArray[np.float64]]:
        """The pitch; ends the stream."""
        self._keep(self._stream.flush())
        return {PITCH: self._means.per_second()}

    def about(self) -> Mapping[str, JSON]:
        """Unit and source."""
        return {PITCH: "Hz, mean of the voiced frames, swift-f0"}

    def _keep(self, result: Any) -> None:
        self._means.add(result.timestamps, result.pitch_hz, result.confidence >= 0.5)


class AutocorrelationPitch(Sense):
    """Mean fundamental frequency of each second, by autocorrelation: a rule that needs no model.

    A frame is voiced where it repeats itself: its autocorrelation, each lag divided by that of the
    window (Boersma 1993), has a peak of 0.6. Of peaks nearly as high as the highest, the one of
    the shortest lag counts, since whole multiples of a period repeat too.
    """

    def __init__(self) -> None:
        self._size, self._hop = 1024, 256
        self._window = np.hanning(self._size)
        self._rest = np.empty(0, dtype=np.float32)
        self._num_frames = 0
        self._means = _VoicedMeans(self._hop / SAMPLE_RATE)

    def take(self, piece: NDArray[np.float32], second: float) -> None:
        """Measure a block of sound; what a frame of the next block needs is kept."""
        held = np.concatenate([self._rest, piece])
        if len(held) < self._size:
            self._rest = held
            return
        frames = np.lib.stride_tricks.sliding_window_view(held, self._size)[:: self._hop]
        self._rest = held[len(frames) * self._hop :]
        at = (self._num_frames + np.arange(len(frames))) * self._hop / SAMPLE_RATE
        self._num_frames += len(frames)
        pitch, voiced = self._pitch(frames)
        self._means.add(at, pitch, voiced)

    def columns(self) -> Mapping[str, NDArray[np.float64]]:
        """The pitch."""
        return {PITCH: self._means.per_second()}

    def about(self) -> Mapping[str, JSON]:
        """Unit and source."""
        return {PITCH: "Hz, mean of the voiced frames, autocorrelation"}

    def _pitch(
        self, frames_FN: NDArray[np.float32]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Hz of each frame, and whether it has a voice."""
        shortest, longest = int(SAMPLE_RATE / _HIGHEST_HZ), int(SAMPLE_RATE / _LOWEST_HZ)
        centred = (frames_FN - frames_FN.mean(axis=1, keepdims=True)) * self._window
        likeness = _autocorrelation(centred) / _autocorrelation(self._window[None])
        energy = np.maximum(likeness[:, :1], 1e-12)
        lags_FL = (likeness / energy)[:, shortest:longest]
        highest = lags_FL.max(axis=1, keepdims=True)
        is_peak = np.zeros_like(lags_FL, dtype=bool)
        is_peak[:, 1:-1] = (lags_FL[:, 1:-1] >= lags_FL[:, :-2]) & (
            lags_FL[:, 1:-1] >= lags_FL[:, 2:]
        )
        is_peak &= lags_FL >= 0.9 * highest
        lag = shortest + is_peak.argmax(axis=1)
        loud = np.square(frames_FN).mean(axis=1) > 1e-6  # -60 dB
        return SAMPLE_RATE / lag, is_peak.any(axis=1) & (highest[:, 0] >= 0.6) & loud


def _autocorrelation(frames_FN: NDArray[np.floating]) -> NDArray[np.floating]:
    length = frames_FN.shape[1]
    spectrum = np.fft.rfft(frames_FN, n=2 * length)
    return np.fft.irfft(np.square(np.abs(spectrum)))[:, : length // 2]


class _VoicedMeans:
    """Means over the voiced frames of each second."""

    def __init__(self, frame_s: float) -> None:
        self._fewest = _FEWEST_VOICED_S / frame_s
        self._sums: list[float] = []
        self._counts: list[int] = []

    def add(
        self, at: NDArray[np.float64], pitch: NDArray[np.float64], voiced: NDArray[np.bool_]
    ) -> None:
        """Frames [F]: when, how high, and whether there is a voice at all."""
        if not len(at):
            return
        seconds = at.astype(np.intp)
        missing = int(seconds[-1]) + 1 - len(self._sums)
        self._sums += [0.0] * missing
        self._counts += [0] * missing
        for second in np.unique(seconds).tolist():
            heard = pitch[(seconds == second) & voiced]
            self._sums[second] += float(heard.sum())
            self._counts[second] += len(heard)

    def per_second(self) -> NDArray[np.float64]:
        """Float64 [S], NaN where there was hardly any voice."""
        counts = np.array(self._counts)
        enough = counts >= max(1.0, self._fewest)
        return np.where(enough, np.array(self._sums) / np.maximum(counts, 1), np.nan)
