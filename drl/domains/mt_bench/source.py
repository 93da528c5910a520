"""Where the published files are read from: the source archive of josh-train 0.1.4, the zip inside
it, or a folder of FastChat."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from drl.domains.josh_train import check_archive
from drl.domains.mt_bench.store import FILES, PUBLISHED_SHA256
from drl.errors import DataError

REMEDY: Final = (
    "get josh_train-0.1.4.tar.gz from a package index, or a checkout of FastChat, and run "
    "`drl data mt_bench --from PATH`"
)
_ZIP: Final = "mtbencheval.zip"
_PLACES: Final = (
    "mt_bench/question.jsonl",
    "judge_prompts.jsonl",
    "mt_bench/reference_answer/gpt-4.jsonl",
)
"""The files in the order of `FILES`, below the folder that holds all data of the judge."""
_DATA_FOLDERS: Final = ("", "data", "llm_judge/data", "fastchat/llm_judge/data")
"""Where that folder may be, seen from what a user names."""
_IN_ZIP: Final = "mtbencheval/FastChat/fastchat/llm_judge/data"


def read_files(path: Path) -> dict[str, str]:
    """The three files by name, as text.

    An archive or zip must hold the published ones; a folder may hold others, which then are data of
    another version.

    Raises:
        DataError: they are not there, corrupt, or not the published ones.
    """
    if path.is_dir():
        zipped = path / _ZIP
        return _of_zip(zipped.read_bytes(), zipped) if zipped.is_file() else _of_folder(path)
    if not path.is_file():
        raise DataError(f"{path} does not exist; {REMEDY}")
    if zipfile.is_zipfile(path):
        return _of_zip(path.read_bytes(), path)
    return _of_zip(_zip_in_archive(path), path)


def _zip_in_archive(path: Path) -> bytes:
    """The zip that is a member of the archive; nothing is unpacked to disk."""
    check_archive(path, REMEDY)
    try:
        with tarfile.open(path) as archive:
            member = archive.extractfile(f"josh_train-0.1.4/{_ZIP}")
            if member is None:
                raise DataError(f"{_ZIP} in {path} is no file; {REMEDY}")
            return member.read()
    except (KeyError, OSError, tarfile.TarError, zlib.error) as error:
        raise DataError(f"cannot read {_ZIP} in {path}: {error}; {REMEDY}") from error


def _of_zip(content: bytes, path: Path) -> dict[str, str]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            read = [archive.read(f"{_IN_ZIP}/{place}") for place in _PLACES]
    except (KeyError, OSError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{path}: is not {_ZIP} of josh-train 0.1.4 ({error}); {REMEDY}") from error
    _check(dict(zip(FILES, read, strict=True)), path)
    return _decoded(read, path)


def _check(contents: Mapping[str, bytes], path: Path) -> None:
    for name, content in contents.items():
        found = hashlib.sha256(content).hexdigest()
        if found != PUBLISHED_SHA256[name]:
            raise DataError(
                f"{name} in {path} has sha256 {found}, the published one has "
                f"{PUBLISHED_SHA256[name]}; {REMEDY}"
            )


def _of_folder(path: Path) -> dict[str, str]:
    for below in _DATA_FOLDERS:
        places = [path / below / place for place in _PLACES]
        if all(place.is_file() for place in places):
            try:
                return _decoded([place.read_bytes() for place in places], path)
            except OSError as error:
                raise DataError(f"{path}: cannot be read ({error}); {REMEDY}") from error
    raise DataError(
        f"{path}: holds neither {_ZIP} nor {', '.join(_PLACES)} (also not below "
        f"{_DATA_FOLDERS[-1]}); {REMEDY}"
    )


def _decoded(contents: list[bytes], path: Path) -> dict[str, str]:
    try:
        return {name: text.decode() for name, text in zip(FILES, contents, strict=True)}
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: a file is not UTF-8 ({error}); {REMEDY}") from error
