"""A face made into the numbers that a model takes."""

from __future__ import annotations

from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Scaling = Literal["imagenet", "unit", "signed", "raw"]
"""Of pixels: ImageNet's means and deviations, [0, 1], [-1, 1], or 0 to 255 as they are."""

Colours = Literal["rgb", "bgr"]

_MEAN = np.array([0.485, 0.456, 0.406], dtype=np.float32)
_DEVIATION = np.array([0.229, 0.224, 0.225], dtype=np.float32)
_GREY_MEAN, _GREY_DEVIATION = np.float32(0.449), np.float32(0.226)  # means of the three
_BRIGHTNESS = np.array([0.299, 0.587, 0.114], dtype=np.float32)


def prepared(
    cv2: ModuleType,
    face: NDArray[np.uint8],
    *,
    size: int,
    channels: int,
    scaling: Scaling,
    colours: Colours,
) -> NDArray[np.float32]:
    """A face [height, width, 3] in red green blue as [size, size, channels]; 1 channel is grey."""
    small = cv2.resize(np.ascontiguousarray(face), (size, size), interpolation=cv2.INTER_AREA)
    pixels: NDArray[np.floating] = small.astype(np.float32)
    if channels == 1:
        pixels = (pixels @ _BRIGHTNESS)[:, :, None]
    pixels = _scaled(pixels, scaling)
    ordered = pixels[:, :, ::-1] if colours == "bgr" else pixels
    return np.ascontiguousarray(ordered, dtype=np.float32)


def _scaled(pixels: NDArray[np.floating], scaling: Scaling) -> NDArray[np.floating]:
    if scaling == "imagenet":
        if pixels.shape[2] == 1:
            return (pixels / 255 - _GREY_MEAN) / _GREY_DEVIATION
        return (pixels / 255 - _MEAN) / _DEVIATION
    if scaling == "signed":
        return pixels / 127.5 - 1
    return pixels / 255 if scaling == "unit" else pixels
