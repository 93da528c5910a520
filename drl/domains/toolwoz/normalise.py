"""How ToolWOZ reads the text of an argument or a cell, and which values say nothing.

Three readings exist: `verbatim` and `fold` are those of the published benchmark (it reads its own
tables verbatim and folds only what an agent sends), `normalise` is the one reading that the
repaired rules use on both sides.
"""

import re
from typing import Final, Literal

from drl.types import JSON

Rules = Literal["faithful", "fixed"]
"""Whether the published behaviour is kept, bugs included, or repaired."""

_SAYS_NOTHING: Final = frozenset(
    {"", "dont care", "don't care", "dontcare", "do n't care", "not mentioned"}
)
_APOSTROPHES: Final = re.compile("['’‘`´]")


def is_empty(value: JSON) -> bool:
    """Whether a value sets no constraint, whichever words annotators used to say so."""
    return isinstance(value, str) and value in _SAYS_NOTHING


def verbatim(text: str) -> str:
    """The text as it is."""
    return text


def fold(text: str) -> str:
    """Lower case without straight apostrophes."""
    return text.lower().replace("'", "")


def normalise(text: str) -> str:
    """Lower case without any apostrophe, with single blanks."""
    return " ".join(_APOSTROPHES.sub("", text.lower()).split())


def normalise_value(value: JSON) -> JSON:
    """`normalise` for text; numbers become text, since models often send 6 for "6"."""
    if isinstance(value, str):
        return normalise(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value:g}"
    return value
