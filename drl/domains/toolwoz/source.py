"""Where the published files are read from: a wheel, an unpacked one, or the zip inside it."""

import io
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from drl.domains.josh_train import Files, check_wheel, open_zip, remedy
from drl.errors import DataError
from drl.types import JSON

REMEDY: Final = remedy("drl data toolwoz")
_FOLDER: Final = f"a folder must be an unpacked josh-train 0.1.4 wheel or its checkout; {REMEDY}"
_ARCHIVE: Final = "data/dataset.zip"
_DIALOGUES: Final = "data.json"


class Source:
    """The published files by their path in the wheel; close it after use.

    Raises:
        DataError: nothing usable lies at `path`, or a wheel is not the published one.
    """

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self._archive: Path | None = None
        if path.is_dir():
            self._files = Files(path, _FOLDER, None)
        elif path.is_file():
            self._files = self._open_file(path)
        else:
            raise DataError(f"{path} does not exist; {REMEDY}")

    def close(self) -> None:
        """Let go of the wheel."""
        self._files.close()

    def read(self, name: str) -> bytes:
        """One small file.

        Raises:
            DataError: it is missing or corrupt.
        """
        return self._files.read(name)

    def json(self, name: str) -> JSON:
        """One small JSON file.

        Raises:
            DataError: it is missing or corrupt.
        """
        return self._files.json(name)

    @contextmanager
    def dialogues(self) -> Iterator[tuple[IO[bytes], int]]:
        """A stream of the published dialogues, and its length in bytes.

        Raises:
            DataError: they are missing or corrupt, also while the stream is read.
        """
        unpacked = self.path / "data" / _DIALOGUES
        try:
            if self._archive is None and unpacked.is_file():
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

    def _open_file(self, path: Path) -> Files:
        packed = open_zip(path, REMEDY)
        names = set(packed.namelist())
        if _ARCHIVE in names:
            check_wheel(path, REMEDY)
            return Files(path, _FOLDER, packed)
        packed.close()
        if _DIALOGUES not in names:
            raise DataError(
                f"{path} holds neither {_ARCHIVE} (the wheel) nor {_DIALOGUES} (the zip in it); "
                f"{REMEDY}"
            )
        self._archive = path
        return Files(_beside(path), _FOLDER, None)


def _beside(archive: Path) -> Path:
    """The folder that holds what a bare dataset.zip lacks: tools, splits and databases."""
    for folder in (archive.parent.parent, archive.parent):
        if (folder / "data" / "tools.json").is_file() and (folder / "db").is_dir():
            return folder
    raise DataError(
        f"{archive} holds dialogues only, and no data/tools.json and db/ lie beside it; give the "
        f"wheel or its unpacked folder instead; {REMEDY}"
    )
