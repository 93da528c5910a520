"""Prompts that are answered with a single text each: a list, a text file, or a JSONL file.

A text file (.txt) holds one prompt a line. A line of a JSONL file (.jsonl) is an object whose key
`prompt`, or else `input`, holds the prompt, as in TRL and TextRL:

    {"prompt": "The film was", "wanted": "praise"}

The whole row is the task's `world`, so all its keys reach reward=function unchanged. Two of them
may say more: `id`, a text that no other row has (else the row's number, from 0), and `split`.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from drl.dataset._choice import TaskChoice, take_named
from drl.dataset._lines import objects, texts
from drl.dataset.base import Dataset
from drl.errors import ConfigError, DataError
from drl.types import JSON, Brief, Task

_KEYS = ("prompt", "input")
"""Where a row may keep its prompt; the first that it has counts."""

_NO_SPLIT = "all"
"""The split of a row that names none."""


@dataclass(kw_only=True)
class PromptsDataset(TaskChoice, Dataset):
    """A task for each prompt: the customer says it, and there are no goals."""

    prompts: list[str] | None
    path: str | None
    split: str | None

    def __post_init__(self) -> None:
        """Check where the prompts come from, and the choice as far as it needs no data."""
        if (self.prompts is None) == (self.path is None):
            both = "both set" if self.path is not None else "both null"
            raise ConfigError(
                f"dataset.prompts and dataset.path are {both}; give either a list of prompts or a "
                "file with one a line"
            )
        if self.path is not None:
            _check_path(self.path)
        elif not self.prompts:
            raise ConfigError("dataset.prompts=[] holds no prompt; write at least one")
        self.check_choice()

    @property
    def version(self) -> str:
        """The file's name, or "prompts" for a list, and a hash of the content.

        Raises:
            DataError: the file cannot be read.
        """
        if self.path is None:
            name, content = "prompts", json.dumps(self.prompts).encode()
        else:
            path = Path(self.path)
            name, content = path.name, "\n".join(text for _, text in texts(path)).encode()
        return f"{name}-{blake2b(content, digest_size=4).hexdigest()}"

    def load(self) -> Sequence[Task]:
        """The chosen prompts as tasks.

        Of the split (None: of all rows) first `ids` are taken, in the order that `shuffle` draws;
        of those `limit` from number `start` on; of those the shard.

        Raises:
            DataError: a row is not as it should be, or there is none.
            ConfigError: an id or split does not exist, or no prompt is left.
        """
        tasks = self._all()
        split = [name for name, task in tasks.items() if self.split in (None, task.split)]
        if not split:
            counts = Counter(task.split for task in tasks.values())
            known = ", ".join(f"{name} ({count})" for name, count in counts.items())
            raise ConfigError(
                f"dataset.split={self.split} has no prompt; the splits are {known}, and null takes "
                "all of them"
            )
        chosen = take_named(split, self.ids, lambda missing: _unknown(split, missing))
        if not chosen:
            raise ConfigError(
                f"dataset.ids={self.ids} leaves no prompt; name at least one, or set "
                "dataset.ids=null"
            )
        shard = self.take_shard(chosen)
        return [tasks[name] for name in shard]

    def _all(self) -> dict[str, Task]:
        tasks: dict[str, Task] = {}
        first: dict[str, str] = {}
        for number, (where, row) in enumerate(self._rows()):
            task = _task(where, number, row)
            if task.id in first:
                raise DataError(
                    f"{where}: id {task.id} is taken by {first[task.id]}; every prompt needs its "
                    "own, and one without has its number, from 0"
                )
            first[task.id] = where
            tasks[task.id] = task
        if not tasks:
            raise DataError(f"{self.path}: holds no prompt; write one a line")
        return tasks

    def _rows(self) -> Iterator[tuple[str, Mapping[str, JSON]]]:
        """Each row after where it stands."""
        if self.path is None:
            for number, prompt in enumerate(self.prompts or ()):
                yield f"dataset.prompts[{number}]", {"prompt": prompt}
        elif _is_jsonl(self.path):
            yield from objects(Path(self.path), "prompt")
        else:
            for where, text in texts(Path(self.path)):
                yield where, {"prompt": text}


def _check_path(path: str) -> None:
    if not _is_jsonl(path) and Path(path).suffix.lower() != ".txt":
        raise ConfigError(
            f"dataset.path={path} ends in neither .txt (a prompt a line) nor .jsonl (an object a "
            "line); rename or convert it"
        )
    if not Path(path).is_file():
        raise ConfigError(
            f"dataset.path={path} is no file (seen from {Path.cwd()}); name one with a prompt a "
            "line"
        )


def _is_jsonl(path: str) -> bool:
    return Path(path).suffix.lower() == ".jsonl"


def _task(where: str, number: int, row: Mapping[str, JSON]) -> Task:
    key = next((key for key in _KEYS if key in row), None)
    if key is None:
        raise DataError(
            f"{where}: has neither `prompt` nor `input`, only {', '.join(row) or 'nothing'}; name "
            "the key of the prompt so"
        )
    return Task(
        id=_text(where, row, "id") if "id" in row else str(number),
        split=_text(where, row, "split") if "split" in row else _NO_SPLIT,
        brief=Brief((), human_turns=(_text(where, row, key),)),
        goals=(),
        world=row,
    )


def _text(where: str, row: Mapping[str, JSON], key: str) -> str:
    value = row[key]
    if not isinstance(value, str) or not value:
        raise DataError(f"{where}: {key} is {value!r:.80}, and must be a text that is not empty")
    return value


def _unknown(split: Sequence[str], name: str) -> str:
    some = ", ".join(split[:3]) + (", ..." if len(split) > 3 else "")
    return f"dataset.ids={name} is no prompt of the split; ids are {some}"
