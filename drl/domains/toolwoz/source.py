"""Where the published files are read from: a wheel, an unpacked one, or the zip inside it."""

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from drl.errors import DataError
from drl.types import JSON

WHEEL_SHA256: Final = "e905d1d28e28cb809011d3b5651ecb45eda5721df08cd1126d50c4990af205fa"
"""Of josh_train-0.1.4-py3-none-any.whl."""

REMEDY: Final = (
    "get josh_train-0.1.4-py3-none-any.whl from a package index "
    "(`pip download --no-deps josh-train==0.1.4`) and run `drl data toolwoz --from PATH`"
)
_ARCHIVE: Final = "data/dataset.zip"
_DIALOGUES: Final = "data.json"


class Source:
    """The published files by their path in the wheel; close it after use.

    Raises:
        DataError: nothing usable lies at `path`, or a wheel is not the published one.
    """

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self._folder: Path | None = None
        self._wheel: zipfile.ZipFile | None = None
        self._archive: Path | None = None
        if path.is_dir():
            self._folder = path
        elif path.is_file():
            self._open_file(path)
        else:
            raise DataError(f"{path} does not exist; {REMEDY}")

    def close(self) -> None:
        """Let go of the wheel."""
        if self._wheel is not None:
            self._wheel.close()

    def read(self, name: str) -> bytes:
        """One small file.

        Raises:
            DataError: it is missing or corrupt.
        """
        try:
            if self._wheel is not None:
                return self._wheel.read(name)
            assert self._folder is not None
            return (self._folder / name).read_bytes()
        except (KeyError, OSError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(
                f"cannot read {name} in {self.path}: {error}; a folder must be an unpacked "
                f"josh-train 0.1.4 wheel or its checkout; {REMEDY}"
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
            raise DataError(f"{name} in {self.path} is not JSON: {error}; {REMEDY}") from error

    @contextmanager
    def dialogues(self) -> Iterator[tuple[IO[bytes], int]]:
        """A stream of the published dialogues, and its length in bytes.

        Raises:
            DataError: they are missing or corrupt, also while the stream is read.
        """
        unpacked = None if self._folder is None else self._folder / "data" / _DIALOGUES
        try:
            if self._archive is None and unpacked is not None and unpacked.is_file():
                with unpacked.open("rb") as stream:
                    yield stream, unpacked.stat().st_size
                return
            packed = self._archive or io.BytesIO(self.read(_ARCHIVE))
            with zipfile.ZipFile(packed) as archive, archive.open(_DIALOGUES) as stream:
                yield stream, archive.getinfo(_DIALOGUES).file_size
        except (KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise DataError(
                f"cannot read the dialogues in {self.path}: {error}; {REMEDY}"
            ) from error

    def _open_file(self, path: Path) -> None:
        try:
            packed = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError) as error:
            raise DataError(f"{path} is not a readable zip or wheel: {error}; {REMEDY}") from error
        names = set(packed.namelist())
        if _ARCHIVE in names:
            check_wheel(path)
            self._wheel = packed
            return
        packed.close()
        if _DIALOGUES not in names:
            raise DataError(
                f"{path} holds neither {_ARCHIVE} (the wheel) nor {_DIALOGUES} (the zip in it); "
                f"{REMEDY}"
            )
        self._archive = path
        self._folder = _beside(path)


def check_wheel(path: Path) -> None:
    """Refuse any wheel but the published one.

    Raises:
        DataError: its checksum is another.
    """
    with path.open("rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != WHEEL_SHA256:
        raise DataError(
            f"{path} has sha256 {found}, josh-train 0.1.4 has {WHEEL_SHA256}: it is corrupt or "
            f"another version; {REMEDY}"
        )


def _beside(archive: Path) -> Path:
    """The folder that holds what a bare dataset.zip lacks: tools, splits and databases."""
    for folder in (archive.parent.parent, archive.parent):
        if (folder / "data" / "tools.json").is_file() and (folder / "db").is_dir():
            return folder
    raise DataError(
        f"{archive} holds dialogues only, and no data/tools.json and db/ lie beside it; give the "
        f"wheel or its unpacked folder instead; {REMEDY}"
    )
