"""Turns in which a dialogue broke, and what they say of it."""

import logging
from typing import Final

from drl.errors import DialogueError
from drl.types import Failure, Role, Step, Turn

OVERFLOW: Final = "context_overflow"
"""The stage of a failure that ends a dialogue which is graded as far as it went."""

_LOG = logging.getLogger(__name__)


def overflown(role: Role, error: Exception) -> Turn:
    """The turn for which a model's context was too small."""
    return Turn(role, "", failure=Failure(OVERFLOW, str(error)))


def refuse_unwritable(*texts: str | None) -> None:
    """Half a character (a lone surrogate) can be in no file: such a turn broke.

    Raises:
        UnicodeEncodeError: a text holds one.
    """
    for text in texts:
        (text or "").encode()


def broken(role: Role, steps: tuple[Step, ...], stage: str, error: Exception) -> Turn:
    """The turn in which a dialogue broke; the traceback of a fault in the code goes to the log."""
    cause = f"{type(error).__name__}: {error}"
    fault = None if isinstance(error, DialogueError) else error
    _LOG.warning("a dialogue broke in %s: %s", stage, cause, exc_info=fault)
    return Turn(role, "", steps, failure=Failure(stage, cause))
