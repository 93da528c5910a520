"""The released JOSH data as trees: 926 searches of Llama-3-8B on ToolWOZ, kept in compact form.

<data_dir>/josh_release/
├── manifest.json       version, checksum, the ToolWOZ data that goals were judged on
└── rollouts.jsonl.gz   one tree a line

They come from the josh-train 0.1.4 wheel (MIT). The folder appears in one rename.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from drl.agent.base import Agent
from drl.dataset.base import Dataset
from drl.domains import josh_train
from drl.domains.toolwoz import fetch as toolwoz
from drl.domains.toolwoz import release
from drl.domains.toolwoz.source import Source as Published
from drl.environment.base import Environment
from drl.errors import DataError
from drl.mining._released_trees import World, to_tree
from drl.reward.base import Reward
from drl.runtime import built_once
from drl.runtime.config import build_as, check_nodes
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import JSON

NAME: Final = "josh_release"
"""What the released trees are called wherever a run folder can be named."""

FORMAT: Final = "josh_release-1"
"""Raised whenever the trees change."""

_PLAYED: Final[Mapping[str, Mapping[str, JSON]]] = {
    "environment": {
        "_target_": "drl.environment.toolwoz.ToolWOZEnvironment",
        "mode": "faithful",
    },
    "agent": {
        "_target_": "drl.agent.react.ReactAgent",
        "style": "paper",
        "temperature": 1.0,
        "top_p": None,
        "top_k": None,
        "max_tokens": 256,
        "max_tool_calls": 3,
        "limit_on": "requests",
    },
    "reward": {
        "_target_": "drl.reward.goal_api.GoalApiReward",
        "judge_against": "open",
    },
}
_TREES: Final = "rollouts.jsonl.gz"
_WHAT: Final = "released JOSH data"
_LACKING: Final = josh_train.remedy("drl data josh_release")
_REMEDY: Final = "run `drl data josh_release` to build it anew"


class Origin(NamedTuple):
    """What made the run that the released trees would be of."""

    dataset: Dataset
    environment: Environment
    agent: Agent
    reward: Reward


def fetch(data_dir: Path, source: Path | None = None) -> Path:
    """The folder of the trees, built if it is not there yet; ToolWOZ is fetched with it.

    `source` is a josh-train 0.1.4 wheel or its unpacked folder; without one it is downloaded.

    Raises:
        DataError: the source is missing, corrupt or another one; there is no network; `data_dir`
            cannot be written.
    """

    def build(fresh: Path, work: Path) -> None:
        path = josh_train.download(work, _LACKING) if source is None else source
        toolwoz.fetch(data_dir, path)
        published = Published(path)
        try:
            asyncio.run(_convert(published, data_dir, fresh))
        finally:
            published.close()

    return built_once.built_once(
        data_dir / NAME, _WHAT, is_there=lambda: is_fetched(data_dir), build=build
    )


def is_fetched(data_dir: Path) -> bool:
    """Whether the trees of this version are there and intact."""
    try:
        manifest = read_manifest(data_dir)
        with (data_dir / NAME / _TREES).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == manifest["sha256"]
    except (DataError, OSError):
        return False


def read_manifest(data_dir: Path) -> Mapping[str, JSON]:
    """What is known of the stored trees.

    Raises:
        DataError: they are missing, corrupt or of another version.
    """
    return built_once.read_manifest(data_dir / NAME, FORMAT, _WHAT, _REMEDY)


def read_trees(data_dir: Path) -> Iterator[DialogueTree]:
    """The stored trees, one at a time.

    Raises:
        DataError: they are missing or corrupt.
    """
    path = data_dir / NAME / _TREES
    try:
        with gzip.open(path, "rb") as lines:
            for line in lines:
                yield from_line(line)
    except (OSError, EOFError) as error:
        raise DataError(f"{path} is missing or corrupt ({error}); {_REMEDY}") from error


def parts(data_dir: Path) -> Origin:
    """The tasks that the trees are about, and who played and judged them.

    Sampling settings of the agent are not known; they are not needed to write as it does.
    """
    toolwoz_of_training: Mapping[str, JSON] = {
        "_target_": "drl.dataset.toolwoz.ToolWOZDataset",
        "root": str(data_dir),
        "split": "training_fnames",
        "ids": None,
        "exclude_unwinnable": False,
        "shuffle": None,
        "start": 0,
        "limit": None,
        "shard": 0,
        "num_shards": 1,
    }
    check_nodes({**_PLAYED, "dataset": toolwoz_of_training})
    return Origin(
        dataset=build_as("dataset", toolwoz_of_training, Dataset),
        environment=build_as("environment", _PLAYED["environment"], Environment),
        agent=build_as("agent", _PLAYED["agent"], Agent),
        reward=build_as("reward", _PLAYED["reward"], Reward),
    )


async def _convert(published: Published, data_dir: Path, folder: Path) -> None:
    dataset, environment, agent, reward = parts(data_dir)
    tasks = {task.id: task for task in dataset.load()}
    world = World(agent, environment, reward)
    with (
        (folder / _TREES).open("wb") as file,
        gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed,
    ):
        for rollout in release.rollouts(published):
            task = tasks.get(rollout.dialogue_id)
            if task is None:
                raise DataError(
                    f"{published.path}: rollout {rollout.dialogue_id} is of no ToolWOZ task of the "
                    "training split; the wheel or the stored data is another one"
                )
            packed.write(to_line(await to_tree(rollout, task, world)) + b"\n")
    with (folder / _TREES).open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    built_once.write_manifest(folder, FORMAT, {"data_version": dataset.version, "sha256": digest})
