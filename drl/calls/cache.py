"""The response cache: one entry per sample, so that no answered call is ever asked again.

An sqlite file that several runs may share. The key covers all that decides an answer: the model's
identity, messages, tools, sampling and, above temperature 0, the seed. With each sample stands what
its request took, so that whoever is spared it knows what it would have cost.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import pydantic_core
from filelock import FileLock
from pydantic import TypeAdapter, ValidationError

from drl.errors import DataError, RunError
from drl.llm.base import LLM, Completion, Request, Usage

FILE_NAME = "responses.sqlite"
_FORMAT = "2"
"""Part of every key: entries of another format are as good as not there."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A sample, and what the request took that brought it together with `samples` in all.

    `began` is the Unix time at which the request left; `seconds` later it was answered.
    """

    completion: Completion
    samples: int
    usage: Usage
    began: float
    seconds: float


_KEPT = TypeAdapter(Kept)


def prompt_key(llm: LLM, request: Request) -> bytes:
    """What a request and its model have in common with all others of the same prompt."""
    parts = (
        _FORMAT,
        llm.identity,
        request.messages,
        request.tools,
        request.tool_choice,
        request.sampling,
    )
    return blake2b(pydantic_core.to_json(parts, inf_nan_mode="strings"), digest_size=16).digest()


def sample_key(prompt: bytes, request: Request, seed: int) -> bytes:
    """The key of one sample; without randomness all seeds share one."""
    if request.sampling.temperature == 0:
        return prompt
    return blake2b(prompt + b"%d" % seed, digest_size=16).digest()


class ResponseCache:
    """Answers by key. Without a path it keeps nothing.

    Raises:
        RunError: the file cannot be opened or written.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._db: sqlite3.Connection | None = None

    def __enter__(self) -> ResponseCache:
        if self.path is not None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                # sqlite does not wait for another process that is making the file a WAL one
                with FileLock(self.path.with_suffix(".lock"), timeout=30):
                    self._open(self.path)
            except (sqlite3.Error, OSError) as error:
                self._close()
                raise self._broken(error) from error
        return self

    def _open(self, path: Path) -> None:
        # the caller may sit in any thread, but only one uses it at a time
        self._db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self._db.execute("PRAGMA journal_mode=WAL")
        self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS samples (key BLOB PRIMARY KEY, value BLOB NOT NULL)"
            " WITHOUT ROWID"
        )

    def __exit__(self, *failure: object) -> None:
        self._close()

    def get(self, keys: Sequence[bytes]) -> list[Kept | None]:
        """The samples that were answered before, None for the others."""
        if self._db is None:
            return [None] * len(keys)
        marks = ",".join("?" * len(keys))
        try:
            rows = self._db.execute(
                f"SELECT key, value FROM samples WHERE key IN ({marks})", list(keys)
            ).fetchall()
        except sqlite3.Error as error:
            raise self._broken(error) from error
        found = {key: self._read(value) for key, value in rows}
        return [found.get(key) for key in keys]

    def put(self, samples: Iterable[tuple[bytes, Kept]]) -> None:
        """Keep samples; of equal keys the first stays."""
        if self._db is None:
            return
        rows = [(key, pydantic_core.to_json(sample)) for key, sample in samples]
        try:
            self._db.executemany("INSERT OR IGNORE INTO samples VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise self._broken(error) from error

    def _read(self, value: bytes) -> Kept:
        try:
            return _KEPT.validate_json(value)
        except ValidationError as error:
            raise DataError(
                f"{self.path}: an answer in it cannot be read; remove the file, or set "
                "calls.cache=false"
            ) from error

    def _close(self) -> None:
        if self._db is not None:
            self._db.close()
            self._db = None

    def _broken(self, error: Exception) -> RunError:
        return RunError(
            f"{self.path}: the response cache cannot be used ({error}); remove the file, make "
            "room, or set calls.cache=false"
        )
