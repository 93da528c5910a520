"""What every page that we write has: it opens without a network and runs no script but its own."""

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import resources
from pathlib import Path

from drl.errors import RunError
from drl.runtime.drafts import drafted_file
from drl.types import JSON

SLOT = re.compile(r"<!--slot:(\w+)-->")
"""Where a template has room for a text, and by which name."""


def read_part(folder: str, name: str) -> str:
    """A file of a folder beside this module: of a template, style or script."""
    return (resources.files("drl.report") / folder / name).read_text(encoding="utf-8")


def joined_script(folder: str, names: Iterable[str]) -> str:
    """Scripts as one, in a scope of their own."""
    parts = "".join(read_part(folder, name) for name in names)
    return f'(() => {{\n"use strict";\n{parts}}})();\n'


def filled(template: str, texts: Mapping[str, str]) -> str:
    """A template with a text in each of its slots."""
    return SLOT.sub(lambda slot: texts[slot[1]], template)


def content_policy(style: str, script: str) -> str:
    """Nothing is loaded, and only this very script and style count."""
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def island(value: JSON) -> bytes:
    """JSON in plain ASCII that cannot end the element it stands in."""
    text = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("ascii")


def write_page(path: Path, pieces: Iterable[bytes], noun: str) -> None:
    """Write a page piece by piece; a reader sees the old file or the whole new one.

    Raises:
        RunError: the file cannot be written; the message calls it by `noun`.
    """
    try:
        with drafted_file(path, is_shared=True) as draft, draft.open("wb") as file:
            for piece in pieces:
                file.write(piece)
    except OSError as error:
        raise RunError(
            f"{path}: the {noun} cannot be written: {error}; free space or choose another folder"
        ) from error


def _finite(value: JSON) -> JSON:
    """The value with null for numbers that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(item) for item in value]
    return value
