"""Opening sources of trees: a run folder, or the released JOSH data."""

from __future__ import annotations

from pathlib import Path

from drl.agent.base import Agent
from drl.dataset.base import Dataset, data_version
from drl.environment.base import Environment
from drl.errors import DataError, RunError
from drl.mining import release
from drl.mining._chances import read_chances
from drl.mining._recorded_agent import RecordedAgent
from drl.mining.source import Source
from drl.runtime.config import described
from drl.runtime.run_dir import PROVENANCE
from drl.runtime.stored_run import StoredRun
from drl.tree.store import read_trees


def open_source(name: str | Path, data_dir: Path) -> Source:
    """The trees of a run folder, or of the word `josh_release`; data is looked for in `data_dir`.

    Raises:
        RunError: the folder holds no run, or one of parts that this code does not have.
        DataError: the run was made on another version of the data than is there now.
    """
    return _released(data_dir) if str(name) == release.NAME else _of_run(Path(name), data_dir)


def find_run(name: str, below: Path) -> Path | None:
    """The folder of the run that rows name as their origin; None if it is not below `below`."""
    direct = StoredRun(below / name)
    if direct.rollouts.is_file():
        return direct.folder
    for path in sorted(below.rglob(PROVENANCE)):
        run = StoredRun(path.parent)
        if run.rollouts.is_file() and run.name == name:
            return run.folder
    return None


def _of_run(folder: Path, data_dir: Path) -> Source:
    run = StoredRun(folder, data_dir)
    if run.lack:
        raise RunError(
            f"{folder}: {run.lack}, so it holds no trees of a run; name the folder of a run with "
            f"rollouts, outputs/NAME/HASH, or {release.NAME}"
        )
    dataset = run.part("dataset", Dataset)
    environment = run.part("environment", Environment)
    agent = run.part("agent", Agent)
    tasks = {task.id: task for task in dataset.load()}
    version = data_version(dataset, environment)
    if run.data_version != version:
        raise DataError(
            f"{folder}: its trees are of data {run.data_version}, but {version} is there now, and "
            "rows never mix two versions; make the run again, or bring the old data back"
        )
    return Source(
        name=run.name,
        place=str(folder),
        agent=agent,
        data_version=version,
        mode=environment.mode,
        simulator=described(run.config.get("user_simulator")),
        llm=described(run.config.get("llm")),
        command=run.command,
        tasks=tasks,
        environment=environment,
        read=lambda: read_trees(run.rollouts),
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
        place=str(data_dir / release.NAME),
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
