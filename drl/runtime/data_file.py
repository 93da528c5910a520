"""Small files below `data_dir`: written as a whole, and only where they say something new.

So data that is complete can be used from a disk that cannot be written.
"""

from __future__ import annotations

from pathlib import Path

from drl.errors import DataError
from drl.runtime.drafts import drafted_file


def keep_text(path: Path, text: str) -> None:
    """Make a file hold a text, its folder included; one that does is left alone.

    Raises:
        DataError: it cannot be written.
    """
    data = text.encode()
    try:
        if path.is_file() and path.read_bytes() == data:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with drafted_file(path, is_shared=True) as draft:
            draft.write_bytes(data)
    except OSError as error:
        raise unwritable(path, error) from error


def unwritable(path: Path, error: OSError) -> DataError:
    """What to tell of a place for data that cannot be written."""
    return DataError(
        f"{path}: cannot be written ({error.strerror}); make room, or choose another folder with "
        "data_dir=DIR; what is in it is kept"
    )
