"""A run folder as those read it who come later: what the run was, and parts of it built again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from drl.errors import ConfigError, RunError
from drl.runtime.config import build_as, check_nodes, config_hash
from drl.runtime.run_dir import ADAPTER_OF_RUN, PROVENANCE, ROLLOUTS, RunDir
from drl.types import JSON

_Part = TypeVar("_Part")

_PLACES = frozenset({"data_dir", "root"})
"""Settings that hold the folder of data."""


@dataclass(frozen=True)
class StoredRun:
    """The run in a folder, finished or not; its files are read when they are asked for.

    It is one if `provenance.json` is there, which says all that this class tells. Where the data
    lies in another folder now than when it was made, `data_dir` names that.
    """

    folder: Path
    data_dir: Path | None = None

    @property
    def is_one(self) -> bool:
        """Whether the folder holds a run at all."""
        return (self.folder / PROVENANCE).is_file()

    @property
    def lack(self) -> str | None:
        """What keeps it from being a run with rollouts, for messages; None if it is one."""
        if not self.folder.exists():
            return "does not exist"
        lacking = [name for name in (ROLLOUTS, PROVENANCE) if not (self.folder / name).is_file()]
        return f"has no {' and no '.join(lacking)}" if lacking else None

    @property
    def rollouts(self) -> Path:
        """The file of its trees."""
        return self.folder / ROLLOUTS

    @property
    def adapter(self) -> Path | None:
        """The folder of the adapter that it trained, once that is finished."""
        folder = self.folder / ADAPTER_OF_RUN
        return folder if folder.is_dir() else None

    def why_no_adapter(self) -> str:
        """Why it has none and what to do, for messages that begin with its name.

        Raises:
            RunError: what it was started with cannot be read.
        """
        rounds = [path.parents[1] for path in self.folder.glob(f"round-*/learn/{ADAPTER_OF_RUN}")]
        if rounds:
            last = max(rounds, key=lambda path: int(path.parent.name.removeprefix("round-")))
            return f"is a run of rounds, each with an adapter of its own; name one, such as {last}"
        trainer = self.config.get("trainer")
        if isinstance(trainer, Mapping) and not trainer.keys().isdisjoint(("lora", "learn")):
            return (
                f"has not finished its training, so there is no {ADAPTER_OF_RUN} in it; start it "
                f"again ({self.command}) to finish it"
            )
        return "is a run that trained no adapter; name one with trainer=sft, dpo or kto"

    @cached_property
    def provenance(self) -> Mapping[str, JSON]:
        """What it was started with.

        Raises:
            RunError: the file is missing or damaged.
        """
        return RunDir(self.folder).provenance()

    @cached_property
    def config(self) -> Mapping[str, JSON]:
        """Its resolved config.

        Raises:
            RunError: there is none.
        """
        config = self.provenance.get("config")
        if not isinstance(config, Mapping):
            raise RunError(f"{self.folder / PROVENANCE}: holds no config; name another run")
        if self.data_dir is None or "data_dir" not in config:
            return config
        moved = _moved(config, config["data_dir"], str(self.data_dir))
        assert isinstance(moved, Mapping), "a mapping stays one"
        return moved

    @property
    def name(self) -> str:
        """What its folder is called below outputs/, wherever it lies."""
        return f"{self.config.get('name')}/{config_hash(self.config)}"

    @property
    def data_version(self) -> str | None:
        """The version of the data that it began with; None where it used none."""
        return self._text("data_version")

    @property
    def code(self) -> str | None:
        """A hash of the code that it was started with."""
        return self._text("code")

    @property
    def command(self) -> str:
        """What was typed to start it."""
        return str(self._text("command"))

    def node(self, key: str) -> Mapping[str, JSON]:
        """The settings of one of its parts.

        Raises:
            RunError: the run had none.
        """
        node = self.config.get(key)
        if not isinstance(node, Mapping):
            raise RunError(f"{self.folder}: its config has no {key}; name another run")
        return node

    def part(self, key: str, kind: type[_Part]) -> _Part:
        """One part, built as it was.

        Raises:
            RunError: the run had none, or this code has no such part.
        """
        node = self.node(key)
        try:
            check_nodes({key: node})
            return build_as(key, node, kind)
        except ConfigError as error:
            raise RunError(
                f"{self.folder}: was made by other code than this ({error}); make the run again"
            ) from error

    def _text(self, key: str) -> str | None:
        value = self.provenance.get(key)
        return value if isinstance(value, str) else None


def _moved(node: JSON, before: JSON, now: str) -> JSON:
    """A config whose data lies in another folder than before."""
    if not isinstance(node, Mapping):
        return node
    return {
        key: now if key in _PLACES and value == before else _moved(value, before, now)
        for key, value in node.items()
    }
