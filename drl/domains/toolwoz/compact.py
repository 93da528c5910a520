"""The compact form on disk: what it holds, how it is written and how it is checked.

<root>/toolwoz/
├── manifest.json       version, checksums
├── world.json.gz       databases, tool definitions, splits
└── dialogues.tsv.gz    one line a dialogue: id, tab, its record as JSON
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from drl.runtime import built_once
from drl.runtime.packed import read_packed, write_packed
from drl.types import JSON

FORMAT: Final = "toolwoz-2"
"""Raised whenever the compact form or its content changes."""

CONTENT_SHA256: Final = "cbd17e7b833c00a97e55321e966b407c6071937dd462c743983c27ae0f4cf659"
"""Of the published content in this form; other content carries its own hash in its version."""

FOLDER: Final = "toolwoz"
WHAT: Final = "ToolWOZ data"
_WORLD: Final = "world.json.gz"
_DIALOGUES: Final = "dialogues.tsv.gz"
_REMEDY: Final = "run `drl data toolwoz` to build it anew"


@dataclass(frozen=True, slots=True)
class Compact:
    """The compact form in memory; dialogues stay text until one is asked for."""

    version: str
    world: Mapping[str, JSON]
    dialogues: Mapping[str, str]


def write(folder: Path, world: Mapping[str, JSON], dialogues: Mapping[str, str]) -> None:
    """Write all files of the form into an empty folder.

    Raises:
        OSError: they cannot be written.
    """
    lines = "".join(f"{name}\t{text}\n" for name, text in sorted(dialogues.items()))
    texts = {_WORLD: encode(world), _DIALOGUES: lines.rstrip("\n")}
    write_packed(folder, FORMAT, texts)


def read(folder: Path) -> Compact:
    """The form that `write` left in `folder`.

    Raises:
        DataError: it is missing, of another version, or corrupt.
    """
    manifest = read_manifest(folder)
    world, lines = (read_packed(folder, name, manifest, _REMEDY) for name in (_WORLD, _DIALOGUES))
    parts = (line.partition("\t") for line in lines.split("\n"))
    dialogues = {dialogue_id: text for dialogue_id, _, text in parts}
    return Compact(version(manifest), json.loads(world), dialogues)


def read_manifest(folder: Path) -> Mapping[str, JSON]:
    """The manifest of a compact form of this version.

    Raises:
        DataError: it is missing, of another version, or corrupt.
    """
    return built_once.read_manifest(folder, FORMAT, WHAT, _REMEDY)


def version(manifest: Mapping[str, JSON]) -> str:
    """How results name the data."""
    content = str(manifest["content_sha256"])
    return FORMAT if content == CONTENT_SHA256 else f"{FORMAT}+{content[:8]}"


def encode(value: JSON | Mapping[str, JSON]) -> str:
    """JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
