"""The compact form on disk: what it holds, how it is written and how it is checked.

<root>/tau_bench/
├── manifest.json       version, checksums
├── retail.json.gz      databases, tasks, policy, tools, and what the labels do
├── airline.json.gz
└── *.jsonl             dialogues for agents to be shown, where the source has them

It holds the data as the source has it; `drl.domains.tau.forms` makes a form of it. `gold` tells for
each form, split and task what became of its labels when they were replayed.
"""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from drl.domains.tau.forms import Form
from drl.runtime import built_once
from drl.runtime.packed import read_packed, write_packed
from drl.types import JSON

FORMAT: Final = "tau_bench-1"
"""Raised whenever the compact form, its content, or what forms make of it changes."""

WHEEL_CONTENT: Final = "2402175450892c833e9944f5ab029098165bbd1a5171fb862eddba45b298e509"
"""The hash of what the josh-train 0.1.4 wheel holds."""

FOLDER: Final = "tau_bench"
WHAT: Final = "tau-bench data"
REMEDY: Final = "run `drl data tau_bench` to build it anew"


class Content(NamedTuple):
    """Files by name: the data, as texts to be packed, and demonstrations, which stay as they are.

    Demonstrations belong to agents, so the version of the data does not tell of them.
    """

    texts: Mapping[str, str]
    demonstrations: Mapping[str, bytes]


def texts(domains: Mapping[str, Mapping[str, JSON]]) -> Mapping[str, str]:
    """The content of all files by their name."""
    return {_file(name): json.dumps(domain) for name, domain in domains.items()}


def write(folder: Path, content: Content) -> None:
    """Write the form into an empty folder.

    Raises:
        OSError: it cannot be written.
    """
    for name, data in content.demonstrations.items():
        (folder / name).write_bytes(data)
    write_packed(folder, FORMAT, content.texts)


def read(folder: Path, domain: str, manifest: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """A domain, as `write` left it in `folder`.

    Raises:
        DataError: it is missing or corrupt.
    """
    return json.loads(read_packed(folder, _file(domain), manifest, REMEDY))


def read_manifest(folder: Path) -> Mapping[str, JSON]:
    """The manifest of a compact form of this version.

    Raises:
        DataError: it is missing, of another version, or corrupt.
    """
    return built_once.read_manifest(folder, FORMAT, WHAT, REMEDY)


def version(manifest: Mapping[str, JSON], form: Form) -> str:
    """How results name the data: its form, where it is from, and a hash of both and the content."""
    content = str(manifest["content_sha256"])
    origin = "wheel" if content == WHEEL_CONTENT else "checkout"
    told = hashlib.sha256(f"{FORMAT} {content}".encode()).hexdigest()
    return f"{form}-{origin}-{told[:8]}"


def _file(domain: str) -> str:
    return f"{domain}.json.gz"
