"""The local copy of MT-Bench: its three files as they were published, compressed.

<root>/mt_bench/
├── manifest.json             version, checksums
├── question.jsonl.gz         80 questions of two turns
├── judge_prompts.jsonl.gz    what judges are told
└── gpt-4.jsonl.gz            reference answers to 30 of the questions
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from drl.runtime.built_once import read_manifest
from drl.runtime.packed import read_packed, write_packed

FORMAT: Final = "mt_bench-1"
"""Raised whenever the copy or its content changes."""

FILES: Final = ("question.jsonl", "judge_prompts.jsonl", "gpt-4.jsonl")
"""Questions, judge prompts, and the reference answers."""

PUBLISHED_SHA256: Final[Mapping[str, str]] = {
    "question.jsonl": "119565adbab82227089cefdb44c8d7e2cf04dc0a0ec233634c82e7d4e2a944f7",
    "judge_prompts.jsonl": "fd283293406d024f44c174b094ef48031d0687a4682fd3a56b29b138f80281b6",
    "gpt-4.jsonl": "f957a5bc977badb66885ec970e6cd08527845780313f0995764260e5777b9b3f",
}
"""Of the published files."""

CONTENT_SHA256: Final = "9f32b5b482549be09c3f15788038f5812ed43b21e5f625193317498093782678"
"""Of all three together; other content carries its own hash in its version."""

FOLDER: Final = "mt_bench"
WHAT: Final = "MT-Bench data"
REMEDY: Final = "run `drl data mt_bench` to build it anew"


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
    write_packed(folder, FORMAT, {_packed(name): texts[name] for name in FILES})


def read(folder: Path) -> Kept:
    """What `write` left in `folder`.

    Raises:
        DataError: it is missing, of another version, or corrupt.
    """
    manifest = read_manifest(folder, FORMAT, WHAT, REMEDY)
    texts = {name: read_packed(folder, _packed(name), manifest, REMEDY) for name in FILES}
    content = str(manifest.get("content_sha256"))
    return Kept(FORMAT if content == CONTENT_SHA256 else f"{FORMAT}+{content[:8]}", texts)


def _packed(name: str) -> str:
    return f"{name}.gz"
