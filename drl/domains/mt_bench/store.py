"""The local copy of MT-Bench: its three files, packed, with their checksums.

<root>/mt_bench/
├── manifest.json       version, checksums
└── files.json.gz       question.jsonl, judge_prompts.jsonl and gpt-4.jsonl as they were published
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from drl.errors import DataError
from drl.runtime.built_once import read_manifest, write_manifest
from drl.types import JSON

FORMAT: Final = "mt_bench-1"
"""Raised whenever the copy or its content changes."""

FILES: Final = ("question.jsonl", "judge_prompts.jsonl", "gpt-4.jsonl")
"""Questions, judge prompts, and the reference answers."""

PUBLISHED_SHA256: Final[Mapping[str, str]] = {
    "question.jsonl": "119565adbab82227089cefdb44c8d7e2cf04dc0a0ec233634c82e7d4e2a944f7",
    "judge_prompts.jsonl": "fd283293406d024f44c174b094ef48031d0687a4682fd3a56b29b138f80281b6",
    "gpt-4.jsonl": "f957a5bc977badb66885ec970e6cd08527845780313f0995764260e5777b9b3f",
}
"""Of the published files; others carry their own hash in their version."""

FOLDER: Final = "mt_bench"
WHAT: Final = "MT-Bench data"
REMEDY: Final = "run `drl data mt_bench` to build it anew"
_PACKED: Final = "files.json.gz"


@dataclass(frozen=True, slots=True)
class Kept:
    """The texts of the files by name."""

    version: str
    texts: Mapping[str, str]


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Keep the three files in an empty folder.

    Raises:
        OSError: it cannot be written.
    """
    packed = gzip.compress(json.dumps(dict(texts)).encode(), compresslevel=6, mtime=0)
    (folder / _PACKED).write_bytes(packed)
    checksums = {name: hashlib.sha256(texts[name].encode()).hexdigest() for name in FILES}
    known: dict[str, JSON] = {
        "content_sha256": checksums,
        "packed_sha256": hashlib.sha256(packed).hexdigest(),
    }
    write_manifest(folder, FORMAT, known)


def read(folder: Path) -> Kept:
    """What `write` left in `folder`.

    Raises:
        DataError: it is missing, of another version, or corrupt.
    """
    manifest = read_manifest(folder, FORMAT, WHAT, REMEDY)
    path = folder / _PACKED
    try:
        packed = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} is missing ({error.strerror}); {REMEDY}") from error
    if hashlib.sha256(packed).hexdigest() != manifest.get("packed_sha256"):
        raise DataError(f"{path} is corrupt (its checksum is wrong); {REMEDY}")
    texts = json.loads(gzip.decompress(packed))
    return Kept(_version(manifest.get("content_sha256")), texts)


def _version(checksums: JSON) -> str:
    """How results name the data: the published files, or the hash of what they are instead."""
    if checksums == PUBLISHED_SHA256:
        return FORMAT
    text = json.dumps(checksums, sort_keys=True)
    return f"{FORMAT}+{hashlib.sha256(text.encode()).hexdigest()[:8]}"
