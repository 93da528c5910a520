"""Small files of a run, which are replaced as a whole: a reader never meets half of one."""

from __future__ import annotations

from pathlib import Path

from drl.errors import RunError
from drl.runtime.drafts import drafted_file


def replace_file(path: Path, data: bytes) -> None:
    """Make a file hold these bytes; its folder is made where it is missing.

    Raises:
        RunError: it cannot be written; what was there before is left as it was.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with drafted_file(path, is_shared=False) as draft:
            draft.write_bytes(data)
    except OSError as error:
        raise RunError(
            f"{path}: cannot be written ({error.strerror}); make room and start the same command "
            "again"
        ) from error
