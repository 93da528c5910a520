"""Where trees come from: a run folder, or the released JOSH data, with all that tells of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, cast

from omegaconf import OmegaConf

from drl.agent.base import Agent
from drl.dataset.base import Dataset, data_version
from drl.environment.base import Environment
from drl.errors import ConfigError, DataError, RunError
from drl.mining import release
from drl.mining._chances import read_chances
from drl.mining._recorded_agent import RecordedAgent
from drl.runtime.config import build_as, check_nodes, config_hash, plug_in_of
from drl.runtime.run_dir import RunDir
from drl.tree.chance import Chance
from drl.tree.dialogue_tree import DialogueTree
from drl.tree.store import FILE_NAME, read_trees
from drl.types import JSON, Task, Toolbox

_CONFIG = Path(".hydra") / "config.yaml"
_NEEDED = (FILE_NAME, "provenance.json", str(_CONFIG))
_PLACES = frozenset({"data_dir", "root"})
"""Settings that hold the folder of data."""

_Kind = TypeVar("_Kind")


@dataclass(frozen=True, kw_only=True)
class Source:
    """Saved trees, the tasks they are about, and who made them.

    `name` is short and holds no path. `agent` is the one that played. `mode`, `simulator`, `llm`
    and `command` are for people to read.
    """

    name: str
    agent: Agent
    data_version: str
    mode: str
    simulator: str
    llm: str
    command: str
    tasks: Mapping[str, Task] = field(repr=False)
    environment: Environment = field(repr=False)
    read: Callable[[], Iterator[DialogueTree]] = field(repr=False)
    known_chances: Mapping[tuple[str, int], Mapping[int, Chance]] = field(repr=False)
    _toolboxes: dict[str, Toolbox] = field(init=False, repr=False, default_factory=dict)

    def trees(self) -> Iterator[DialogueTree]:
        """The trees, one at a time; each call reads them anew, in the same order.

        Those of a run come by task id and trial, in whatever order its rollouts finished.

        Raises:
            DataError: there are none, all are broken, or one is of a task that the data lacks.
        """
        num_trees = num_broken = 0
        for tree in self.read():
            self._task(tree.task_id)
            num_trees += 1
            num_broken += tree.is_broken
            yield tree
        if num_trees == num_broken:
            found = f"all {num_trees} trees are broken" if num_trees else "there are no trees"
            raise DataError(
                f"{self.name}: {found}, and rows are made of dialogues that came to an end; start "
                "the run again to finish it"
            )

    def toolbox(self, task_id: str) -> Toolbox:
        """The tools that the agent had in a task.

        Raises:
            DataError: the data lacks the task.
        """
        if task_id not in self._toolboxes:
            self._toolboxes[task_id] = self.environment.open(self._task(task_id)).toolbox
        return self._toolboxes[task_id]

    def split(self, task_id: str) -> str:
        """The split that a task belongs to.

        Raises:
            DataError: the data lacks the task.
        """
        return self._task(task_id).split

    def chances(self, task_id: str, trial: int) -> Mapping[int, Chance]:
        """What `drl resample` found out about the nodes of a tree; empty if nobody asked."""
        return self.known_chances.get((task_id, trial), {})

    def _task(self, task_id: str) -> Task:
        task = self.tasks.get(task_id)
        if task is None:
            raise DataError(
                f"{self.name}: its trees are of task {task_id}, which its dataset does not hold "
                "now; bring the old data back, or make the run again"
            )
        return task


def open_source(name: str | Path, data_dir: Path) -> Source:
    """The trees of a run folder, or of the word `josh_release`; data is looked for in `data_dir`.

    Raises:
        RunError: the folder holds no run, or one of parts that this code does not have.
        DataError: the run was made on another version of the data than is there now.
    """
    return _released(data_dir) if str(name) == release.NAME else _of_run(Path(name), data_dir)


def find_run(name: str, below: Path) -> Path | None:
    """The folder of the run that rows name as their origin; None if it is not below `below`."""
    if (below / name / FILE_NAME).is_file():
        return below / name
    for path in sorted(below.rglob(f".hydra/{_CONFIG.name}")):
        folder = path.parent.parent
        if (folder / FILE_NAME).is_file() and _name(_read_config(folder)) == name:
            return folder
    return None


def _of_run(folder: Path, data_dir: Path) -> Source:
    lacking = [needed for needed in _NEEDED if not (folder / needed).is_file()]
    if lacking:
        raise RunError(
            f"{folder}: has no {' and no '.join(lacking)}, so it holds no trees of a run; name the "
            f"folder of a run with rollouts, outputs/NAME/HASH, or {release.NAME}"
        )
    stored = _read_config(folder)
    config = _moved(stored, stored["data_dir"], str(data_dir))
    assert isinstance(config, Mapping), "a mapping stays one"
    provenance = RunDir(folder).provenance()
    try:
        dataset = _part(config, "dataset", Dataset)
        environment = _part(config, "environment", Environment)
        agent = _part(config, "agent", Agent)
    except ConfigError as error:
        raise RunError(
            f"{folder}: was made by other code than this ({error}); make the run again"
        ) from error
    tasks = {task.id: task for task in dataset.load()}
    version = data_version(dataset, environment)
    if provenance.get("data_version") != version:
        raise DataError(
            f"{folder}: its trees are of data {provenance.get('data_version')}, but {version} is "
            "there now, and rows never mix two versions; make the run again, or bring the old data "
            "back"
        )
    return Source(
        name=_name(config),
        agent=agent,
        data_version=version,
        mode=environment.mode,
        simulator=_described(config.get("user_simulator")),
        llm=_described(config.get("llm")),
        command=str(provenance.get("command")),
        tasks=tasks,
        environment=environment,
        read=lambda: read_trees(folder / FILE_NAME),
        known_chances=read_chances(folder),
    )


def _released(data_dir: Path) -> Source:
    release.fetch(data_dir)
    manifest = release.read_manifest(data_dir)
    dataset, environment, agent, _ = release.parts(data_dir)
    tasks = {task.id: task for task in dataset.load()}
    if manifest["data_version"] != dataset.version:
        raise DataError(
            f"{data_dir / release.NAME}: its goals were judged on data "
            f"{manifest['data_version']}, but {dataset.version} is there now; remove that folder "
            "and run `drl data josh_release`"
        )
    return Source(
        name=release.NAME,
        agent=RecordedAgent(agent),
        data_version=f"{release.FORMAT}, {dataset.version}",
        mode=environment.mode,
        simulator="josh-train's goal simulator (model not stated)",
        llm="Meta-Llama-3-8B-Instruct, of June 2024",
        command="drl data josh_release",
        tasks=tasks,
        environment=environment,
        read=lambda: release.read_trees(data_dir),
        known_chances={},
    )


def _name(config: Mapping[str, JSON]) -> str:
    """What the folder of a run is called below outputs/, wherever it lies."""
    return f"{config['name']}/{config_hash(config)}"


def _read_config(folder: Path) -> dict[str, JSON]:
    """The run's own config.

    Raises:
        RunError: the file cannot be read.
    """
    path = folder / _CONFIG
    try:
        config = OmegaConf.to_container(OmegaConf.load(path))
    except (OSError, ValueError) as error:
        raise RunError(f"{path}: cannot be read ({error}); make the run again") from error
    if not isinstance(config, dict) or "data_dir" not in config:
        raise RunError(f"{path}: is no config of a run; make the run again")
    return cast(dict[str, JSON], config)


def _moved(node: JSON, before: JSON, now: str) -> JSON:
    """A config whose data lies in another folder than before."""
    if not isinstance(node, Mapping):
        return node
    return {
        key: now if key in _PLACES and value == before else _moved(value, before, now)
        for key, value in node.items()
    }


def _part(config: Mapping[str, JSON], key: str, kind: type[_Kind]) -> _Kind:
    """One part of a run, built as it was.

    Raises:
        ConfigError: this code has no such part, or it has other settings.
        RunError: the run had none.
    """
    node = config.get(key)
    if not isinstance(node, Mapping):
        raise RunError(f"the run has no {key}, so its trees cannot become rows; name another run")
    check_nodes({key: node})
    return build_as(key, node, kind)


def _described(node: JSON) -> str:
    """A part and its settings in one line."""
    if not isinstance(node, Mapping):
        return "none"
    settings = [f"{key}={value}" for key, value in node.items() if key not in {"_target_", "root"}]
    name = plug_in_of(node)
    return f"{name} ({', '.join(settings)})" if settings else name
