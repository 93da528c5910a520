"""Reading the emotion of a face: a model of the user's, run by ONNX Runtime.

Axes: C classes in the order of `FACES`, O outputs of the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.signals import FACES
from drl.errors import ConfigError
from drl.signals.extras import need
from drl.signals.face_pixels import Colours, Scaling, prepared
from drl.signals.faces import columns_of, read_labels
from drl.types import JSON


class FaceReader(Protocol):
    """Tells the emotion of a face."""

    def read(self, face: NDArray[np.uint8]) -> NDArray[np.float64] | None:
        """Probabilities [C] that sum to 1, of a face [height, width, 3]; None where it cannot."""
        ...

    def about(self) -> Mapping[str, JSON]:
        """What it is."""
        ...


@dataclass(frozen=True, kw_only=True)
class OnnxSettings:
    """How a model wants its faces.

    `labels` are what its outputs stand for, as `read_labels` reads them. `scaling` of pixels:
    imagenet subtracts ImageNet's means and divides by its deviations, unit is [0, 1], signed
    [-1, 1], raw 0 to 255. `size` in pixels where the model itself does not say.
    """

    file: Path
    labels: str
    scaling: Scaling
    colours: Colours
    size: int | None


class OnnxFaceReader(FaceReader):
    """A classifier of faces with one picture in and one row of numbers out.

    Pictures may go in as channels first or last, in colour or grey. Numbers that are no
    probabilities are taken for logits.
    """

    def __init__(self, settings: OnnxSettings) -> None:
        """Load the model and try it once, so that what does not fit shows before the work."""
        self._settings = settings
        self._kept, self._places = columns_of(read_labels(settings.labels))
        self._num_labels = len(read_labels(settings.labels))
        self._cv2 = need("cv2", "--face")
        runtime = need("onnxruntime", f"--face {settings.file}")
        self._failures = _failures(runtime)
        self._session = self._load(runtime)
        (self._input, *_) = self._session.get_inputs()
        self._channels_first, self._channels, self._size = self._shape()
        self._try()

    def read(self, face: NDArray[np.uint8]) -> NDArray[np.float64] | None:
        """The probabilities of a face; None where the model answers with no numbers."""
        outputs = self._outputs(face)[self._kept]
        if not np.isfinite(outputs).all():
            return None
        if outputs.min() < 0 or abs(outputs.sum() - 1) > 0.01:
            outputs = np.exp(outputs - outputs.max())
        probabilities = np.zeros(len(FACES))
        probabilities[self._places] = outputs / outputs.sum()
        return probabilities

    def about(self) -> Mapping[str, JSON]:
        """The model's file and how faces go into it."""
        chosen = self._settings
        missing = [face for place, face in enumerate(FACES) if place not in self._places]
        return {
            "face_model": chosen.file.name,
            "face_scaling": chosen.scaling,
            "face_size": self._size,
            "faces_it_does_not_know": missing,
        }

    # ONNX Runtime is optional, so its sessions have no types here
    def _load(self, runtime: ModuleType) -> Any:
        if not self._settings.file.is_file():
            raise ConfigError(
                f"--face {self._settings.file}: there is no such file; give an ONNX model of "
                "facial emotions, or fer"
            )
        options = runtime.SessionOptions()
        options.intra_op_num_threads = 1
        try:
            return runtime.InferenceSession(
                str(self._settings.file), options, providers=["CPUExecutionProvider"]
            )
        except self._failures as error:
            raise self._unfit(f"ONNX Runtime cannot load it ({error})") from error

    def _shape(self) -> tuple[bool, int, int]:
        """Whether channels come first, how many they are, and the side of the picture."""
        shape = self._input.shape
        if len(shape) != 4:
            raise self._unfit(f"its input has the shape {shape}, not that of pictures")
        channels_first = shape[1] in (1, 3)
        channels = shape[1] if channels_first else shape[3]
        side = shape[2] if channels_first else shape[1]
        if channels not in (1, 3):
            raise self._unfit(f"its input has the shape {shape}, without 1 or 3 channels")
        size = side if isinstance(side, int) else self._settings.size
        if size is None:
            raise self._unfit("it takes pictures of any size; choose one with --face-size")
        return channels_first, channels, size

    def _try(self) -> None:
        grey = np.full((self._size, self._size, 3), 128, dtype=np.uint8)
        try:
            outputs = self._outputs(grey)
        except self._failures as error:
            raise self._unfit(f"it does not run ({error})") from error
        if outputs.shape != (self._num_labels,):
            raise self._unfit(
                f"it has {outputs.size} outputs and --face-labels names {self._num_labels}"
            )

    def _outputs(self, face: NDArray[np.uint8]) -> NDArray[np.float64]:
        pixels = prepared(
            self._cv2,
            face,
            size=self._size,
            channels=self._channels,
            scaling=self._settings.scaling,
            colours=self._settings.colours,
        )
        if self._channels_first:
            pixels = np.ascontiguousarray(pixels.transpose(2, 0, 1))
        batch = pixels[None]
        (outputs, *_) = self._session.run(None, {self._input.name: batch})
        return np.asarray(outputs, dtype=np.float64).reshape(-1)

    def _unfit(self, fault: str) -> ConfigError:
        return ConfigError(
            f"--face {self._settings.file}: {fault}; give a classifier of faces with one picture "
            "in and a number for each class out"
        )


def _failures(runtime: ModuleType) -> tuple[type[Exception], ...]:
    """The errors of ONNX Runtime, which have no base of their own."""
    found = vars(runtime.capi.onnxruntime_pybind11_state).values()
    return tuple(kind for kind in found if isinstance(kind, type) and issubclass(kind, Exception))
