"""The rollouts that josh-train 0.1.4 was published with: 926 searches by Llama-3-8B (June 2024).

Each is a list of paths: what the agent's model saw and wrote down to one node of the search, and
whether the node led to a reward. They come in the order of the search: harvest after harvest, and
each harvest's tree from its root down, first children first.
"""

import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Final, Literal

from drl.domains.toolwoz.source import REMEDY, Source
from drl.errors import DataError

NUM_ROLLOUTS: Final = 926
_ARCHIVE: Final = "data/llama3-josh-toolwoz-for-KTO.zip"
_RETURN: Final = "APIRETURN "

Kind = Literal["said", "wrote", "returned", "gave_up"]
"""Words of the customer, an output of the agent's model, a tool's return, an end without reply."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One message of a path; a return is JSON without the word before it."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Path:
    """The dialogue down to one node of a search.

    `successful`: some rewarded branch of its harvest runs through it. `golden`: the search went on
    through it.
    """

    entries: tuple[Entry, ...]
    successful: bool
    golden: bool


@dataclass(frozen=True, slots=True)
class Rollout:
    """All paths of one search; `full` tells whether it reached all goals."""

    dialogue_id: str
    paths: tuple[Path, ...]
    full: bool


def rollouts(source: Source) -> Iterator[Rollout]:
    """The released rollouts, by dialogue id.

    Raises:
        DataError: they are missing, corrupt, or not those of josh-train 0.1.4.
    """
    packed = source.read(_ARCHIVE)
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            names = sorted(name for name in archive.namelist() if name.endswith(".json"))
            if len(names) != NUM_ROLLOUTS:
                raise DataError(
                    f"{_ARCHIVE} of {source.path} holds {len(names)} rollouts, not {NUM_ROLLOUTS}; "
                    f"{REMEDY}"
                )
            for name in names:
                yield _rollout(PurePosixPath(name).name, archive.read(name))
    except (zipfile.BadZipFile, zlib.error, ValueError, KeyError, TypeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(
            f"{_ARCHIVE} of {source.path} is not laid out like josh-train 0.1.4 ({error!r}); "
            f"{REMEDY}"
        ) from error


def _rollout(name: str, text: bytes) -> Rollout:
    read = json.loads(text)
    paths = tuple(
        Path(tuple(map(_entry, messages)), bool(successful), bool(golden))
        for messages, successful, golden in read["training_paths"]
    )
    return Rollout(name.removeprefix("sim_"), paths, bool(read["100_percent_reached"]))


def _entry(message: dict[str, str]) -> Entry:
    role, text = message["role"], message["content"]
    if role == "user" and text.startswith(_RETURN):
        return Entry("returned", text.removeprefix(_RETURN))
    kinds: dict[str, Kind] = {"user": "said", "assistant": "wrote", "system": "gave_up"}
    return Entry(kinds[role], text)
