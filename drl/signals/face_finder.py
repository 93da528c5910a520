"""Finding the face in a picture: the largest one, since it is the person at the camera."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from drl.errors import ConfigError
from drl.signals.extras import need

_SMALLEST_SHARE = 0.08
"""Of a picture's shorter side: smaller faces are posters and people behind."""

_SURE = 0.7
"""Faces that YuNet is less sure of are not taken."""


class FaceFinder(Protocol):
    """Cuts the face out of a picture."""

    def find(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
        """The face of a picture [height, width, 3]; None where there is none."""
        ...


def face_finder(choice: str) -> FaceFinder:
    """The finder that `--face-detector` names: cascade, none, or the file of a YuNet model.

    Raises:
        ConfigError: there is no such file, or OpenCV cannot use it or is not installed.
    """
    if choice == "cascade":
        return CascadeFinder()
    return WholePicture() if choice == "none" else YuNetFinder(Path(choice))


class WholePicture(FaceFinder):
    """Takes the picture for the face, for recordings that are cropped already."""

    def find(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
        """The picture itself."""
        return picture


class CascadeFinder(FaceFinder):
    """The cascade for frontal faces that OpenCV 4 ships (Viola and Jones 2001)."""

    def __init__(self) -> None:
        self._cv2 = need("cv2", "--face-detector cascade")
        if "CascadeClassifier" not in vars(self._cv2):
            raise ConfigError(
                f"--face-detector cascade: OpenCV {self._cv2.__version__} has no cascades any "
                "more; pip install 'opencv-python-headless<5', or give the file of a YuNet model"
            )
        file = Path(self._cv2.data.haarcascades) / "haarcascade_frontalface_default.xml"
        self._cascade = self._cv2.CascadeClassifier(str(file))

    def find(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
        """The largest of the faces that look into the camera."""
        grey = self._cv2.cvtColor(np.ascontiguousarray(picture), self._cv2.COLOR_RGB2GRAY)
        smallest = max(20, round(_SMALLEST_SHARE * min(grey.shape)))
        boxes = self._cascade.detectMultiScale(grey, 1.1, 5, minSize=(smallest, smallest))
        return _largest(picture, [tuple(map(int, box)) for box in boxes])


class YuNetFinder(FaceFinder):
    """A YuNet model that the user has, run by OpenCV (Wu, Peng and Yu 2023)."""

    def __init__(self, file: Path) -> None:
        if not file.is_file():
            raise ConfigError(
                f"--face-detector {file}: there is no such file; choose cascade, none, or the ONNX "
                "file of a YuNet model"
            )
        self._cv2 = need("cv2", f"--face-detector {file}")
        try:
            self._detector = self._cv2.FaceDetectorYN.create(str(file), "", (320, 320), _SURE)
        except self._cv2.error as error:
            raise ConfigError(
                f"--face-detector {file}: OpenCV cannot load it ({error}); give the ONNX file of a "
                "YuNet model, or choose cascade"
            ) from error

    def find(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
        """The largest face that the model is sure of."""
        height, width = picture.shape[:2]
        self._detector.setInputSize((width, height))
        _, faces = self._detector.detect(np.ascontiguousarray(picture[:, :, ::-1]))
        boxes = [] if faces is None else faces[:, :4].round().astype(int).tolist()
        smallest = _SMALLEST_SHARE * min(height, width)
        return _largest(picture, [tuple(box) for box in boxes if box[3] >= smallest])


def _largest(picture: NDArray[np.uint8], boxes: list[tuple[int, ...]]) -> NDArray[np.uint8] | None:
    """The picture within the largest box (left, top, width, height), as far as it reaches."""
    if not boxes:
        return None
    left, top, width, height = max(boxes, key=lambda box: box[2] * box[3])
    face = picture[max(0, top) : top + height, max(0, left) : left + width]
    return face if face.size else None
