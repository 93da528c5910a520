"""What a run folder holds for a comparison: values by task, and what they were got under."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hydra.utils import get_class

from drl.agent.base import Agent
from drl.dataset.base import Dataset
from drl.errors import DataError, DrlError, RunError
from drl.evaluation.intervals import chances_of_all
from drl.evaluation.matrix import user_result
from drl.evaluation.summary import tally
from drl.rollout.base import Rollout
from drl.runtime.stored_run import StoredRun
from drl.tree.dialogue_tree import FULL_SCORE, DialogueTree
from drl.tree.store import read_trees
from drl.types import JSON, Task

Kind = Literal["policy", "search", "ceiling"]
"""What the values are of: an agent alone, the best of several dialogues, one that is told goals."""

Trials = Mapping[str, Sequence[float]]
"""Task id -> one value per trial."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """One run: its measures by task and trial, and under what conditions they came about.

    `task_ids` are the tasks that its config asks for, and `num_missing` counts rollouts that it
    asks for and that are not there; where that cannot be known, what is there was asked for.
    `notes` say what is left out of `values`.
    """

    name: str
    config: Mapping[str, JSON]
    kind: Kind
    data_version: str | None
    code: str | None
    task_ids: frozenset[str]
    num_trials: int
    num_missing: int
    num_broken: int
    num_unscored: int
    values: Mapping[str, Trials]
    notes: tuple[str, ...] = ()


def read_result(folder: Path, tasks: Sequence[Task] | None = None) -> RunResult:
    """The result of the run in a folder, finished or not.

    Args:
        folder: with `rollouts.jsonl` and `provenance.json`.
        tasks: those that the run plays; None loads them by its config. Where they cannot be had,
            the measures that need them are left out.

    Raises:
        RunError: it holds no run, or no scored rollout.
        DataError: its rollouts cannot be read.
    """
    run = StoredRun(folder)
    if run.lack:
        raise RunError(f"{folder}: {run.lack}, so there is no run to compare; name another")
    notes: list[str] = []
    if tasks is None:
        try:
            tasks = _tasks(run)
        except DrlError as error:
            notes.append(f"measures of how dialogues were led are left out: {error}")
    return _result_of(run, tasks, notes)


def _result_of(run: StoredRun, tasks: Sequence[Task] | None, notes: Sequence[str]) -> RunResult:
    """What its rollouts amount to.

    Raises:
        RunError: none of them is scored.
    """
    result = _sum_up(read_trees(run.rollouts), tasks)
    if not result.values["mean_reward"]:
        raise RunError(
            f"{run.folder}: none of its {sum(result.played.values())} rollouts is scored "
            f"({result.num_broken} broken), so there is nothing to compare; see its report"
        )
    played = result.played
    asked = _trials(run.config) or max(played.values())
    task_ids = frozenset(played if tasks is None else (task.id for task in tasks))
    return RunResult(
        name=str(run.folder),
        config=run.config,
        kind=_kind(run.folder, run.config),
        data_version=run.data_version,
        code=run.code,
        task_ids=task_ids,
        num_trials=asked,
        num_missing=sum(max(0, asked - played[task]) for task in task_ids),
        num_broken=result.num_broken,
        num_unscored=result.num_unscored,
        values=result.values,
        notes=tuple(notes),
    )


@dataclass(frozen=True, slots=True)
class _Sums:
    values: Mapping[str, Trials]
    played: Counter[str]
    num_broken: int
    num_unscored: int


def _sum_up(trees: Iterable[DialogueTree], tasks: Sequence[Task] | None) -> _Sums:
    """All measures where the tasks are known, else those that trees alone tell."""
    if tasks is None:
        result = user_result(trees)
        values: dict[str, Trials] = {
            name: result.measures[name] for name in ("mean_reward", "full_success", "agent_calls")
        }
        num_broken, num_unscored = result.num_errors, result.num_unscored
    else:
        total = tally(tasks, trees)
        full = {
            task: [float(s >= FULL_SCORE) for s in scores] for task, scores in total.scores.items()
        }
        values = {"mean_reward": total.scores, "full_success": full, "agent_calls": total.calls}
        values |= total.measures
        num_broken, num_unscored = total.num_errors, total.num_unscored
    played = Counter({task: len(calls) for task, calls in values["agent_calls"].items()})
    return _Sums(_with_pass_hat_k(values), played, num_broken, num_unscored)


def _with_pass_hat_k(values: Mapping[str, Trials]) -> dict[str, Trials]:
    """The measures and, after full success, the chances that 2, 3, ... tries all succeed."""
    full = values["full_success"]
    num_trials = max(map(len, full.values()), default=0)
    chances = {f"pass^{k}": chances_of_all(full, k) for k in range(2, num_trials + 1)}
    first = {name: values[name] for name in ("mean_reward", "full_success")}
    return {**first, **chances, **{name: v for name, v in values.items() if name not in first}}


def _tasks(run: StoredRun) -> Sequence[Task]:
    """The tasks of a run, if the data is still the one that it was played on.

    Raises:
        ConfigError, DataError, RunError: it is not, or cannot be read.
    """
    dataset = run.part("dataset", Dataset)
    tasks = dataset.load()
    version = run.data_version
    # the version of the tools may follow, where users brought them
    if dataset.version not in (version or "").split(", "):
        raise DataError(
            f"it was played on data {version or 'unknown'}, but {dataset.version} is there now"
        )
    return tasks


def _kind(folder: Path, config: Mapping[str, JSON]) -> Kind:
    """By the classes that played: a run that was killed has no summary to ask."""
    rollout, agent = (_class_of(folder, config, group) for group in ("rollout", "agent"))
    if issubclass(rollout, Rollout) and rollout.is_search:
        return "search"
    return "ceiling" if issubclass(agent, Agent) and agent.sees_goals else "policy"


def _class_of(folder: Path, config: Mapping[str, JSON], group: str) -> type:
    node = config.get(group)
    target = node.get("_target_") if isinstance(node, Mapping) else None
    try:
        return get_class(str(target))
    except (ImportError, ValueError) as error:
        raise RunError(
            f"{folder}: its {group} {target} is not there ({error}), so it is not known whether it "
            "is a search or a policy; name another run"
        ) from error


def _trials(config: Mapping[str, JSON]) -> int | None:
    trainer = config.get("trainer")
    trials = trainer.get("trials") if isinstance(trainer, Mapping) else None
    return trials if isinstance(trials, int) else None
