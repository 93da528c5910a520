"""The hash by which tau-bench compares databases.

Objects become tuples of (key, value) pairs in the order of their keys, lists become tuples, and
the hash is the SHA-256 of what Python prints for the whole. So the order of keys does not matter
but that of lists does, and 100 and 100.0 differ.

Source: tau-bench `envs/base.py`, `to_hashable` and `consistent_hash`.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import TypeAlias, cast

from drl.types import JSON

Hashable: TypeAlias = "str | int | float | bool | tuple[Hashable, ...] | None"
"""JSON as nested tuples."""


def full_digest(database: Mapping[str, JSON]) -> str:
    """The hash of a whole database, in time proportional to its size."""
    return sha256(str(frozen(database)).encode()).hexdigest()


def segment(key: str, record: Mapping[str, JSON]) -> bytes:
    """What one record adds to the printed text of its table."""
    return str((key, frozen(record))).encode()


def enclose(segments: Iterable[bytes]) -> bytes:
    """The printed form of a tuple whose members print as `segments`."""
    texts = list(segments)
    return b"(" + b", ".join(texts) + (b",)" if len(texts) == 1 else b")")


def frozen(value: JSON) -> Hashable:
    """The value as nested tuples."""
    if isinstance(value, Mapping):
        return tuple((key, frozen(value[key])) for key in sorted(value))
    if isinstance(value, list | tuple):
        return tuple(frozen(member) for member in value)
    return cast("str | int | float | bool | None", value)
