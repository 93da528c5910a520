"""Recordings and models that tests make: tones, one-coloured films, a classifier of colours."""

import struct
import wave
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from drl.domains.candor.signals import FACES

RATE = 16_000
INSTALL = "needs the extra signals: pip install 'drl[signals]'"


def needs(*modules: str) -> None:
    """Skip the test where an optional package is missing, and say what brings it."""
    for module in modules:
        pytest.importorskip(module, reason=f"{module} is not installed; {INSTALL}")


def tone(hz: float, seconds: float, level: float = 0.3) -> NDArray[np.float64]:
    """A voice-like tone with overtones, which fall off with their number."""
    at = np.arange(round(seconds * RATE)) / RATE
    parts = [np.sin(2 * np.pi * hz * k * at) / k for k in range(1, 8)]
    return level * np.sum(parts, axis=0) / 2


def silence(seconds: float) -> NDArray[np.float64]:
    return np.zeros(round(seconds * RATE))


def write_wav(path: Path, *channels: NDArray[np.float64]) -> Path:
    samples = np.stack(channels, axis=1)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(len(channels))
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((samples * 32767).astype("<i2").tobytes())
    return path


def write_film(
    path: Path, pictures: list[NDArray[np.uint8]], *, rate: int = 4, voice: NDArray | None = None
) -> Path:
    """A film without loss of colour, `rate` pictures a second, with sound where given."""
    import av

    with av.open(str(path), "w") as container:
        video = container.add_stream("ffv1", rate=rate)
        video.height, video.width = pictures[0].shape[:2]
        video.pix_fmt = "bgr0"
        audio = (
            None if voice is None else container.add_stream("pcm_s16le", rate=RATE, layout="mono")
        )
        for picture in pictures:
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(format="bgr0")
            container.mux(video.encode(frame))
        container.mux(video.encode())
        if audio is not None and voice is not None:
            samples = (voice * 32767).astype("<i2")[None]
            sound = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            sound.sample_rate = RATE
            container.mux(audio.encode(sound))
            container.mux(audio.encode())
    return path


def plain(colour: tuple[int, int, int], size: int = 64) -> NDArray[np.uint8]:
    return np.full((size, size, 3), colour, dtype=np.uint8)


def write_colour_model(path: Path, weights: NDArray[np.float32], size: int | str = 8) -> Path:
    """An ONNX model: the mean of each colour, times `weights` [3, outputs].

    Written byte by byte, as the format's protocol buffers say, so that tests need no package that
    writes models.
    """
    nodes = (
        _node("GlobalAveragePool", ["picture"], ["means"])
        + _node("Flatten", ["means"], ["flat"])
        + _node("MatMul", ["flat", "weights"], ["logits"])
    )
    tensor = b"".join(_number(1, side) for side in weights.shape) + _number(2, 1)
    tensor += _bytes(8, b"weights") + _bytes(9, weights.astype("<f4").tobytes())
    graph = nodes + _bytes(2, b"colours") + _bytes(5, tensor)
    graph += _bytes(11, _value("picture", [1, 3, size, size]))
    graph += _bytes(12, _value("logits", [1, weights.shape[1]]))
    path.write_bytes(_number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 13)))
    return path


def colour_weights() -> NDArray[np.float32]:
    """Red is anger and green is happiness, by four logits; black leaves all classes equal."""
    weights = np.zeros((3, len(FACES)), dtype=np.float32)
    weights[0, FACES.index("anger")] = 4
    weights[1, FACES.index("happiness")] = 4
    return weights


def _node(kind: str, inputs: list[str], outputs: list[str]) -> bytes:
    names = b"".join(_bytes(1, name.encode()) for name in inputs)
    names += b"".join(_bytes(2, name.encode()) for name in outputs)
    return _bytes(1, names + _bytes(4, kind.encode()))


def _value(name: str, shape: list[int | str]) -> bytes:
    sides = b"".join(
        _bytes(1, _number(1, side) if isinstance(side, int) else _bytes(2, side.encode()))
        for side in shape
    )
    return _bytes(1, name.encode()) + _bytes(2, _bytes(1, _number(1, 1) + _bytes(2, sides)))


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, value: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    parts = []
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    return struct.pack(f"{len(parts) + 1}B", *parts, value)
