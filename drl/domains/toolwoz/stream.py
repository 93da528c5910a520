"""Reads a huge JSON object one entry at a time.

The published dialogues are one object of 280 MB. Handing whole entries to the C decoder of the
standard library costs a quarter of the time of an event parser, and memory for one entry only.
"""

import codecs
import json
from collections.abc import Callable, Iterator
from typing import IO, Final

from drl.domains.toolwoz.source import REMEDY
from drl.errors import DataError
from drl.types import JSON

_CHUNK: Final = 1 << 20
_LARGEST_ENTRY: Final = 32 << 20
"""Characters; the largest real entry has 0.1 million. Keeps broken input from filling memory."""

_DECODER: Final = json.JSONDecoder()


def entries(
    stream: IO[bytes], name: str, advance: Callable[[int], None]
) -> Iterator[tuple[str, JSON]]:
    """The (key, value) pairs of the object in `stream`; `advance` hears of the bytes read.

    Raises:
        DataError: the text is not one JSON object whose values are objects or lists.
    """
    reader = _Reader(stream, name, advance)
    reader.expect("{")
    if reader.peek() == "}":
        return
    while True:
        key = reader.value()
        reader.expect(":")
        yield str(key), reader.value()
        if reader.peek() == "}":
            return
        reader.expect(",")


class _Reader:
    """A window on the text that grows at its end and is cut at its front."""

    def __init__(self, stream: IO[bytes], name: str, advance: Callable[[int], None]) -> None:
        self._stream = stream
        self._name = name
        self._advance = advance
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._text = ""
        self._place = 0
        self._ended = False

    def peek(self) -> str:
        """The next character that is not blank; nothing is consumed but blanks."""
        while True:
            rest = self._text
            while self._place < len(rest) and rest[self._place] in " \t\r\n":
                self._place += 1
            if self._place < len(rest):
                return rest[self._place]
            self._grow()

    def expect(self, character: str) -> None:
        """Consume one character."""
        found = self.peek()
        if found != character:
            raise self._broken(f"expected {character!r}, found {found!r}")
        self._place += 1

    def value(self) -> JSON:
        """Consume one text, object or list (other values need not end where they seem to)."""
        if self.peek() not in '"{[':
            raise self._broken(f"found {self.peek()!r} where a value should begin")
        while True:
            try:
                found, self._place = _DECODER.raw_decode(self._text, self._place)
            except ValueError as error:
                if self._ended or len(self._text) - self._place > _LARGEST_ENTRY:
                    raise self._broken(str(error)) from error
                self._grow()
            else:
                return found

    def _grow(self) -> None:
        if self._ended:
            raise self._broken("it ends too early")
        chunk = self._stream.read(_CHUNK)
        self._ended = not chunk
        self._advance(len(chunk))
        try:
            grown = self._decode(chunk, self._ended)
        except UnicodeDecodeError as error:
            raise self._broken(str(error)) from error
        self._text = self._text[self._place :] + grown
        self._place = 0

    def _broken(self, cause: str) -> DataError:
        return DataError(f"{self._name} is not the published JSON: {cause}; {REMEDY}")
