"""Values of users' Python code as plain JSON: what a tool returned, or what a state holds.

Sets come sorted, mappings with text keys and whole numbers without a point, so that equal values
give equal JSON in every process.
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from hashlib import sha256
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticSerializationError, to_jsonable_python

from drl.types import JSON

Stand = Callable[[object], object]
"""What to put in place of an object that has no JSON form."""

_EXACT = 2**53
_MOST_BITS = 332  # a hundred digits; numbers without end break whoever reads the file
"""Up to here a float that is whole is that very integer."""


class NotJsonError(ValueError):
    """A value that JSON cannot hold; the message says where in it and what it is."""


def to_plain(value: object, stand_in: Stand | None = None) -> JSON:
    """A value as JSON: dataclasses, pydantic models, sets, dates, enums and the like included.

    Raises:
        NotJsonError: it holds something that has no such form, a number that is not finite, or
            itself.
    """
    try:
        return _plain(value, "", stand_in)
    except RecursionError as error:
        raise NotJsonError("it contains itself, or is nested too deeply") from error


def digest(state: object) -> str:
    """A hash of a state; equal states give equal hashes. Plain objects count by their attributes.

    Raises:
        NotJsonError: it holds something that has neither a JSON form nor attributes.
    """
    text = json.dumps(to_plain(state, _attributes), sort_keys=True)
    return sha256(text.encode()).hexdigest()


def _plain(value: object, where: str, stand_in: Stand | None) -> JSON:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return _plain(value.value, where, stand_in)
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, int):
        return _whole(value, where)
    if isinstance(value, float):
        return _number(value, where)
    if isinstance(value, Mapping):
        return _mapping(value, where, stand_in)
    if isinstance(value, set | frozenset):
        members = [_plain(member, where, stand_in) for member in value]
        return sorted(members, key=lambda member: json.dumps(member, sort_keys=True))
    if isinstance(value, list | tuple):
        return [_plain(item, f"{where}[{i}]", stand_in) for i, item in enumerate(value)]
    return _object(value, where, stand_in)


def _whole(value: int, where: str) -> int:
    if value.bit_length() > _MOST_BITS:
        raise NotJsonError(f"{_named(where)} is a number of more than {_MOST_BITS} bits")
    return int(value)


def _object(value: object, where: str, stand_in: Stand | None) -> JSON:
    if isinstance(value, BaseModel):
        return _plain(value.model_dump(), where, stand_in)
    if is_dataclass(value) and not isinstance(value, type):
        own = {field.name: getattr(value, field.name) for field in fields(value)}
        return _mapping(own, where, stand_in)
    cause = None
    if not isinstance(value, Iterator):  # which may never end, and can be read only once
        try:
            return _plain(to_jsonable_python(value), where, stand_in)
        except (PydanticSerializationError, UnicodeDecodeError) as error:
            cause = error
    if stand_in is not None:
        return _plain(stand_in(value), where, stand_in)
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    raise NotJsonError(f"{_named(where)} is of type {kind}") from cause


def _mapping(value: Mapping[Any, object], where: str, stand_in: Stand | None) -> JSON:
    plain: dict[str, JSON] = {}
    for key, item in value.items():
        name = _plain(key, f"a key of {_named(where)}", stand_in)
        name = name if isinstance(name, str) else json.dumps(name)
        if name in plain:
            raise NotJsonError(f"{_named(where)} has two keys that read {name}")
        plain[name] = _plain(item, f"{where}.{name}", stand_in)
    return plain


def _text(value: str, where: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise NotJsonError(f"{_named(where)} holds half a character") from error
    return str(value)


def _number(value: float, where: str) -> int | float:
    if not math.isfinite(value):
        raise NotJsonError(f"{_named(where)} is {value}, which JSON does not have")
    return int(value) if value.is_integer() and abs(value) < _EXACT else float(value)


def _named(where: str) -> str:
    return where.lstrip(".") or "it"


def _attributes(value: object) -> object:
    try:
        return {"": type(value).__qualname__, **vars(value)}
    except TypeError as error:
        raise NotJsonError(f"a {type(value).__qualname__} has no attributes to hash") from error
