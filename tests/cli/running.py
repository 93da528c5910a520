"""The `drl` command as a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = os.environ.get("DRL_DATA", "data")


def drl(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """What a command did, with the data of the tests."""
    command = [sys.executable, "-c", "from drl.cli.main import main; main()", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=300)


def error_of(done: subprocess.CompletedProcess[str]) -> str:
    """The one line in which a command says what is wrong."""
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.strip().splitlines()
    return line
