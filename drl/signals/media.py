"""Sound and pictures of a recording, in pieces, whatever container and codec it has (by PyAV).

Times are seconds from the start of the file; where a stream starts later or has gaps, as calls
over a network do, the missing sound is silence. Memory does not grow with the length.

Axes: C channels, N samples.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drl.errors import DataError
from drl.signals.extras import need

SAMPLE_RATE = 16_000
"""Of all sound here, in Hz: what the packaged models listen to."""

BLOCK_S = 30
"""Seconds of sound that are held at a time."""

_GAP_S = 0.25
"""Time stamps that are later than this are a gap, and not rounding."""

_LONGER_SIDE = 640
"""Pixels that pictures are scaled down to: enough to find the face of someone at a camera."""


class Picture(NamedTuple):
    """One frame: uint8 [height, width, 3], red green blue, and when it was shown."""

    second: float
    pixels: NDArray[np.uint8]


@dataclass(slots=True)
class Media:
    """A file that can be read.

    `num_broken` counts the packets that could not be decoded so far and were left out.
    """

    path: Path
    num_channels: int
    has_pictures: bool
    num_broken: int = 0

    def sound(self) -> Iterator[NDArray[np.float32]]:
        """Blocks [C, N] in [-1, 1] of `BLOCK_S` seconds each; the last one may be shorter.

        Raises:
            DataError: the file has no sound, or cannot be read.
        """
        if not self.num_channels:
            raise DataError(f"{self.path}: has no sound; leave it out or give the recording's own")
        size, held, length = BLOCK_S * SAMPLE_RATE, list[NDArray[np.float32]](), 0
        for piece in self._pieces():
            held.append(piece)
            length += piece.shape[1]
            if length < size:
                continue
            joined = np.concatenate(held, axis=1)
            whole = length // size * size
            yield from np.split(joined[:, :whole], length // size, axis=1)
            held, length = [joined[:, whole:]], length - whole
        if length:
            yield np.concatenate(held, axis=1)

    def pictures(self, per_second: float) -> Iterator[Picture]:
        """At most so many pictures a second, upright and scaled down, in the order of time.

        Raises:
            DataError: the file cannot be read.
        """
        tick = -1
        with _opened(self.path) as (av, container):
            (stream, *_) = container.streams.video
            origin = _origin(av, container)
            for frame in self._frames(av, container, stream):
                if frame.time is None:
                    continue
                second = max(0.0, float(frame.time) - origin)
                if int(second * per_second) > tick:
                    tick = int(second * per_second)
                    yield Picture(second, _pixels(frame))

    def _pieces(self) -> Iterator[NDArray[np.float32]]:
        """Sound as it is decoded, at our rate, silence where there are gaps."""
        num_samples = 0
        with _opened(self.path) as (av, container):
            (stream, *_) = container.streams.audio
            origin = _origin(av, container)
            resampler = av.AudioResampler(format="fltp", layout=stream.layout, rate=SAMPLE_RATE)
            for frame in self._frames(av, container, stream):
                late = 0.0 if frame.time is None else frame.time - origin
                late -= num_samples / SAMPLE_RATE
                if late > _GAP_S:
                    silence = np.zeros((self.num_channels, round(late * SAMPLE_RATE)), np.float32)
                    num_samples += silence.shape[1]
                    yield silence
                for part in resampler.resample(frame):
                    num_samples += part.samples
                    yield part.to_ndarray()
            for part in resampler.resample(None):
                yield part.to_ndarray()

    # PyAV is optional, so its containers and frames have no types here
    def _frames(self, av: ModuleType, container: Any, stream: Any) -> Iterator[Any]:
        for packet in container.demux(stream):
            try:
                frames = packet.decode()
            except av.error.InvalidDataError:
                self.num_broken += 1
            else:
                yield from frames


def open_media(path: Path) -> Media:
    """A recording and what is in it.

    Raises:
        ConfigError: PyAV is not installed.
        DataError: the file cannot be read, or has neither sound nor pictures.
    """
    with _opened(path) as (_, container):
        sounds, videos = container.streams.audio, container.streams.video
        media = Media(path, sounds[0].channels if sounds else 0, bool(videos))
    if not sounds and not videos:
        raise DataError(f"{path}: has neither sound nor pictures; give a recording")
    return media


@contextmanager
def _opened(path: Path) -> Iterator[tuple[ModuleType, Any]]:
    av = need("av", f"reading {path.name}")
    try:
        with av.open(str(path)) as container:
            yield av, container
    except (av.error.FFmpegError, OSError) as error:
        raise DataError(
            f"{path}: is no recording that can be read ({error}); convert it to wav or mp4"
        ) from error


def _origin(av: ModuleType, container: Any) -> float:
    """When the file starts by its own clock, in seconds."""
    return (container.start_time or 0) / av.time_base


def _pixels(frame: Any) -> NDArray[np.uint8]:
    scale = min(1.0, _LONGER_SIDE / max(frame.width, frame.height))
    small = frame.reformat(
        width=max(1, round(frame.width * scale)),
        height=max(1, round(frame.height * scale)),
        format="rgb24",
    )
    return np.rot90(small.to_ndarray(), k=round(frame.rotation / 90))
