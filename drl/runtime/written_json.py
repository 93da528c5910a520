"""JSON as models write it: read strictly, so that whatever is read can be stored and sent."""

import json
from collections.abc import Mapping, Sequence
from math import isfinite

from drl.types import JSON

DEEPEST = 50
"""Levels that a value may nest; a stored tree holds fewer than 200 in all."""


def leading_object(text: str) -> tuple[dict[str, JSON], str]:
    """The JSON object that a text begins with, and what follows it.

    Raises:
        ValueError: it begins with none, or with one that holds what no file can.
    """
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError as error:
        raise ValueError("it nests too deep (recursion)") from error
    if not isinstance(value, dict):
        raise ValueError("it must be one JSON object")
    _check_depth(value)
    # Half a surrogate pair is legal in JSON but is no text: nothing could store it.
    json.dumps(value, ensure_ascii=False).encode()
    return value, text[end:]


def only_object(text: str) -> dict[str, JSON]:
    """The JSON object that a text is, but for white space around it.

    Raises:
        ValueError: the text is something else or more.
    """
    value, rest = leading_object(text.lstrip())
    if rest.strip():
        raise ValueError(f"more follows the JSON object: {' '.join(rest.split())[:40]!r}")
    return value


def to_text(value: JSON, *, ascii_only: bool = False, indent: int | None = None) -> str:
    """A value on one line, or indented."""
    return json.dumps(value, ensure_ascii=ascii_only, default=_plain, indent=indent)


def _plain(value: JSON) -> JSON:
    """Mappings and sequences of other kinds as those that `json` knows."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence):
        return list(value)
    raise TypeError(f"{value!r} is not a JSON value")


def _check_depth(value: JSON) -> None:
    level: list[JSON] = [value]
    for _ in range(DEEPEST):
        inner: list[JSON] = []
        for part in level:
            if isinstance(part, dict):
                inner += part.values()
            elif isinstance(part, list):
                inner += part
        if not inner:
            return
        level = inner
    raise ValueError(f"it nests deeper than {DEEPEST} levels")


def _no_number(constant: str) -> float:
    raise ValueError(f"{constant} is not a JSON value")


def _finite(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits[:20]} is too large")
    return number


def _whole(digits: str) -> int:
    if len(digits) > 100:
        raise ValueError(f"{digits[:20]} is too large")
    return int(digits)


_DECODER = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite, parse_int=_whole)
