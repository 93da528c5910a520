"""The lines of users' files: as texts, or as JSON objects."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drl.domains.own.plain import NotJsonError, to_plain
from drl.errors import DataError


def texts(path: Path) -> Iterator[tuple[str, str]]:
    """The lines that hold more than white space, each after where it stands, as `file:line`.

    A byte order mark and CRLF do no harm, and only line feeds end a line.

    Raises:
        DataError: the file cannot be read, or is not UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); check dataset.path") from error
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        where = f"{path}:{number}"
        try:
            text = line.decode().removesuffix("\r")
        except UnicodeDecodeError as error:
            raise DataError(
                f"{where}: byte {error.start + 1} is not UTF-8; save the file as UTF-8"
            ) from error
        if text.strip():
            yield where, text


def objects(path: Path, noun: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The JSON object of each line, after where it stands.

    Args:
        path: a JSONL file.
        noun: what an object stands for, as complaints say it.

    Raises:
        DataError: as `texts`, or a line is no JSON object of plain values.
    """
    form = f"write one {noun} a line, as one JSON object"
    for where, text in texts(path):
        try:
            read = json.loads(text.strip())
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: is not JSON ({error}); {form}") from error
        if not isinstance(read, dict):
            raise DataError(f"{where}: is no JSON object; {form}")
        try:
            to_plain(read)
        except NotJsonError as error:
            raise DataError(f"{where}: {error}; write plain JSON values only") from error
        yield where, read
