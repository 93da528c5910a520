"""josh-train 0.1.4 in an environment of its own, to measure against; never imported by drl."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from drl.errors import BenchmarkError

CACHE: Final = Path(__file__).parents[1] / "outputs" / ".bench"
"""Kept between benchmarks; nothing else lives in it."""

_DISTRIBUTION: Final = "josh-train==0.1.4"
_NEEDS: Final = ("numpy", "pandas", "pandasql", "tiktoken", "python-dotenv", "colorama")
"""What its environment imports; the distribution itself names far more."""


def python() -> Path:
    """The interpreter of the environment, which is made first if need be.

    Raises:
        BenchmarkError: it cannot be made.
    """
    home = CACHE / "josh_train"
    interpreter, ready = home / "bin" / "python", home / "ready"
    if not ready.exists():
        shutil.rmtree(home, ignore_errors=True)
        home.parent.mkdir(parents=True, exist_ok=True)
        install = [str(interpreter), "-m", "pip", "install", "--quiet"]
        install += ["--disable-pip-version-check"]
        _run([sys.executable, "-m", "venv", str(home)])
        _run([*install, *_NEEDS])
        _run([*install, "--no-deps", _DISTRIBUTION])
        ready.touch()
    return interpreter


def files() -> Path:
    """The folder with its data/ and db/, which its code expects as working directory."""
    script = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(_run([str(python()), "-c", script]).strip())


def run(script: Path, text: str) -> str:
    """What a script of ours prints that runs in the environment and reads `text`.

    Raises:
        BenchmarkError: it fails.
    """
    return _run([str(python()), str(script)], folder=files(), text=text)


def _run(command: list[str], *, folder: Path | None = None, text: str = "") -> str:
    done = subprocess.run(
        command, cwd=folder, input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BenchmarkError(f"{' '.join(command[:4])} ... failed: {done.stderr.strip()[-500:]}")
    return done.stdout
