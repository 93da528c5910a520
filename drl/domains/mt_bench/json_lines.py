"""Files with a JSON object a line, which FastChat keeps everything in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from drl.errors import DataError
from drl.types import JSON


def objects(text: str, name: str, remedy: str) -> Iterator[tuple[Mapping[str, JSON], str]]:
    """The object of each line that is not blank, with where it stands, as `name:line`.

    A byte order mark before the first, as Windows' editors write it, means nothing.

    Raises:
        DataError: a line is no JSON object; `remedy` says what to do.
    """
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{where}: is not JSON ({error}); {remedy}") from error
        if not isinstance(row, dict):
            raise DataError(f"{where}: is no JSON object; {remedy}")
        yield row, where
