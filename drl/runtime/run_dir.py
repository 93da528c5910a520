"""A run folder: who may write in it, what it was started with, and its small files.

One process at a time holds a run folder. `provenance.json` is written once; a start with another
config in that folder is refused, so that results never mix.
"""

from __future__ import annotations

import json
import logging
import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import distributions
from pathlib import Path
from typing import Literal, TypeVar

from filelock import FileLock, Timeout
from omegaconf import OmegaConf

from drl.errors import RunError
from drl.runtime.run_file import replace_file
from drl.types import JSON

Config = Mapping[str, JSON]
_Part = TypeVar("_Part")

_LOG = logging.getLogger(__name__)

PROVENANCE = "provenance.json"
"""What a run was started with; a folder that has it holds a run."""

ROLLOUTS = "rollouts.jsonl"
"""The trees of a run, as `drl.tree.store` keeps them."""

_OF_EACH_START = frozenset({PROVENANCE, ".hydra", ".lock"})
"""What a folder holds as soon as a run was started in it."""

ADAPTER_OF_RUN = Path("checkpoints") / "final"
"""Where a run keeps the adapter that it trained, below its folder."""

SIDE_KEYS = frozenset({"data_dir", "root", "calls", "prefix_cache_mb"})
"""Settings of where things lie, and of what calls may cost or keep: they make no other run."""


class RunDir:
    """A locked folder for one config.

    `leads` is False in all but the first of several processes that do one run together, as torchrun
    and accelerate number them by RANK. The others do not lock the folder, and must not write there.

    Raises:
        RunError: the folder cannot be written, is in use, or belongs to another config.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.leads = os.environ.get("RANK", "0") == "0"
        self._lock = FileLock(path / ".lock", timeout=0)

    def __enter__(self) -> RunDir:
        make_folder(self.path)
        if not self.leads:
            return self
        try:
            self._lock.acquire()
        except Timeout as error:
            raise RunError(
                f"{self.path}: another run is writing there; wait for it, or choose another folder "
                "with hydra.run.dir=DIR"
            ) from error
        except OSError as error:
            raise _unwritable(self.path, error) from error
        return self

    def __exit__(self, *failure: object) -> None:
        self._lock.release()

    def claim(self, config: Config) -> None:
        """Write down what this run is, or check that it is the run that began here.

        A run that was refused before it kept anything does not bind the next one.
        """
        if not self.leads:
            return
        if (self.path / PROVENANCE).exists():
            before = self.provenance()
            changed = differences(essence(before["config"]), essence(config))
            if not changed:
                return
            if self._holds_results():
                raise RunError(
                    f"{self.path}: holds a run with another config ({', '.join(changed[:5])} "
                    "differ); choose another folder with hydra.run.dir=DIR"
                )
        if (self.path / ROLLOUTS).exists():
            raise RunError(
                f"{self.path}: holds rollouts but no {PROVENANCE}, so what they came from is "
                "unknown; choose another folder with hydra.run.dir=DIR"
            )
        hydra = self.path / ".hydra"
        hydra.mkdir(exist_ok=True)
        self.write(".hydra/config.yaml", OmegaConf.to_yaml(OmegaConf.create(dict(config))))
        self.write_json(PROVENANCE, _provenance(config))

    def _holds_results(self) -> bool:
        return any(entry.name not in _OF_EACH_START for entry in self.path.iterdir())

    def provenance(self) -> dict[str, JSON]:
        """What the run was started with.

        Raises:
            RunError: the file is damaged.
        """
        file = self.path / PROVENANCE
        try:
            return dict(json.loads(file.read_text()))
        except (ValueError, TypeError, OSError) as error:
            raise RunError(
                f"{file}: cannot be read ({error}), so what this folder holds is unknown; choose "
                "another folder with hydra.run.dir=DIR"
            ) from error

    def warn_of_other_code(self, num_kept: int) -> None:
        """Say so if results that are kept were made by other code than what runs now."""
        if num_kept and self.provenance().get("code") != code_digest():
            _LOG.warning(
                "%d results in %s are kept, but the code has changed since; remove the folder, or "
                "choose another with hydra.run.dir=DIR, to start anew",
                num_kept,
                self.path,
            )

    def seconds_so_far(self) -> float:
        """Seconds that earlier starts of this run summed up; one that was killed is not in it."""
        summary = self.path / "summary.json"
        if not summary.exists():
            return 0.0
        try:
            return float(json.loads(summary.read_text())["seconds"])
        except (ValueError, KeyError, TypeError, OSError) as error:
            _LOG.warning("%s: cannot be read (%r); it is written anew", summary, error)
            return 0.0

    def claim_data(self, version: str, kind: Literal["data", "reward"] = "data") -> None:
        """Write down the version of the data, or check that it is the one the run began with.

        The same for users' own reward functions.

        Raises:
            RunError: it is another one; results of two versions never mix.
        """
        provenance = self.provenance()
        before = provenance.setdefault(f"{kind}_version", version)
        if before != version:
            raise RunError(
                f"{self.path}: began on {kind} {before}, but {version} is there now; bring the old "
                f"{kind} back, or choose another folder with hydra.run.dir=DIR"
            )
        self.write_json(PROVENANCE, provenance)

    def write(self, name: str, text: str) -> Path:
        """Replace a small file as a whole, so that a reader never meets half of it."""
        target = self.path / name
        replace_file(target, text.encode())
        return target

    def write_json(self, name: str, value: Mapping[str, JSON]) -> Path:
        """Replace a small JSON file as a whole."""
        return self.write(name, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def make_folder(path: Path) -> None:
    """Make a run folder, with its parents.

    Raises:
        RunError: it cannot be made there.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> RunError:
    return RunError(
        f"{path}: cannot be written ({error.strerror}); choose another folder with "
        "hydra.run.dir=DIR (hydra.sweep.dir=DIR for a sweep)"
    )


def essence(config: JSON) -> JSON:
    """The config as far as it makes a run what it is."""
    if isinstance(config, Mapping):
        return {key: essence(v) for key, v in config.items() if key not in SIDE_KEYS}
    return config


def score_of(parts: Mapping[str, _Part]) -> _Part | None:
    """What grades finished dialogues: `score`, or where none was chosen, `reward`."""
    score = parts.get("score")
    return parts.get("reward") if score is None else score


def code_digest() -> str:
    """A hash of all Python files of drl as they are on disk, committed or not."""
    package = Path(__file__).parents[1]
    digest = blake2b(digest_size=8)
    for file in sorted(package.rglob("*.py")):
        digest.update(str(file.relative_to(package)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def differences(before: JSON, now: JSON, prefix: str = "") -> list[str]:
    """Dotted keys at which two configs differ."""
    if not (isinstance(before, Mapping) and isinstance(now, Mapping)):
        return [] if before == now else [prefix.rstrip(".") or "config"]
    keys = sorted(before.keys() | now.keys())
    return [d for k in keys for d in differences(before.get(k), now.get(k), f"{prefix}{k}.")]


def _provenance(config: Config) -> dict[str, JSON]:
    packages = {d.name: d.version for d in distributions()}
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join([*_program(), *sys.argv[1:]]),
        "config": config,
        "code": code_digest(),
        "git_commit": _git("rev-parse", "HEAD"),
        "git_diff": _git("diff", "HEAD"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": dict(sorted(packages.items())),
    }


def _program() -> list[str]:
    """What was typed before the arguments, without the machine's paths."""
    name = Path(sys.argv[0]).name
    return ["drl"] if name == "drl" else ["python", "run.py"]


def _git(*arguments: str) -> str | None:
    """What git says about the code that runs; None outside a checkout."""
    here = Path(__file__).parent
    try:
        done = subprocess.run(["git", "-C", str(here), *arguments], capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace").strip() if done.returncode == 0 else None
