"""A folder of compressed texts with a manifest that knows their checksums.

The manifest's `content_sha256` is of all texts in the order in which they were written, so that
it stays the same where the compression does not.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from drl.errors import DataError
from drl.runtime.built_once import write_manifest
from drl.types import JSON


def content_sha256(texts: Mapping[str, str]) -> str:
    """The hash by which contents are told apart."""
    digest = hashlib.sha256()
    for text in texts.values():
        digest.update(text.encode())
    return digest.hexdigest()


def write_packed(folder: Path, version: str, texts: Mapping[str, str]) -> None:
    """Write texts by the names of their files into an empty folder, and the manifest.

    Raises:
        OSError: they cannot be written.
    """
    checksums: dict[str, JSON] = {}
    for name, text in texts.items():
        packed = gzip.compress(text.encode(), compresslevel=6, mtime=0)
        checksums[name] = hashlib.sha256(packed).hexdigest()
        (folder / name).write_bytes(packed)
    known = {"content_sha256": content_sha256(texts), "files": checksums}
    write_manifest(folder, version, known)


def read_packed(folder: Path, name: str, manifest: Mapping[str, JSON], remedy: str) -> str:
    """One of the texts.

    Raises:
        DataError: it is missing or corrupt; `remedy` says what to do.
    """
    path = folder / name
    try:
        packed = path.read_bytes()
        expected = cast(Mapping[str, JSON], manifest["files"])[name]
        intact = hashlib.sha256(packed).hexdigest() == expected
    except (OSError, KeyError, TypeError) as error:
        raise DataError(f"{path} is missing or corrupt ({error}); {remedy}") from error
    if not intact:
        raise DataError(f"{path} is corrupt (its checksum is wrong); {remedy}")
    return gzip.decompress(packed).decode()
