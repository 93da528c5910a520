"""Stages of a run: runs in folders of their own below it, which go on where they were killed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from drl.runtime.progress import announce
from drl.runtime.run_dir import RunDir, essence
from drl.trainer.base import Parts
from drl.types import JSON

_Result = TypeVar("_Result")

_EVAL_PARTS = ("dataset", "user_simulator", "rollout")
"""What an evaluation may have of its own, as `eval_` and the name."""

# the folder of a stage, up to which it is named by where the whole run lies
_IN_STAGE = re.compile(r"^.*[/\\](?=(round|stage|update)-\d+[/\\]\w)")


def run_stage(parts: Parts, folder: Path, work: Callable[[RunDir], _Result]) -> _Result:
    """Do the work of one stage in its folder, or what is left of it."""
    announce(f"{parts.name}: {'/'.join(folder.parts[-2:])}")
    with RunDir(folder) as run_dir:
        _claim(run_dir, parts.config)
        return work(run_dir)


def _claim(run_dir: RunDir, config: Mapping[str, JSON]) -> None:
    """Claim the folder of a stage; that the whole run lay elsewhere makes no other stage of it."""
    if (run_dir.path / "provenance.json").exists():
        before = run_dir.provenance()["config"]
        if essence(_without_place(before)) == essence(_without_place(config)):
            return
    run_dir.claim(config)


def _without_place(node: JSON) -> JSON:
    """A config in which folders of stages are named from the folder of the whole run on."""
    if isinstance(node, Mapping):
        return {key: _without_place(value) for key, value in node.items()}
    if isinstance(node, str):
        return _IN_STAGE.sub("", node)
    return [_without_place(each) for each in node] if isinstance(node, list) else node


def for_evaluation(parts: Parts) -> Parts:
    """The parts with those of evaluations in their places."""
    config = {key: node for key, node in parts.config.items() if not key.startswith("eval_")}
    for group in _EVAL_PARTS:
        own = parts.config.get(f"eval_{group}")
        if own is not None:
            config[group] = own
    return replace(
        parts,
        config=config,
        dataset=parts.eval_dataset,
        rollout=parts.eval_rollout,
        user_simulator=parts.eval_user_simulator or parts.user_simulator,
    )


def headline(summary: Mapping[str, JSON]) -> dict[str, JSON]:
    """What a table needs of a summary of dialogues."""
    keys = ("n_tasks", "n_trials", "n_errors", "mean_reward", "full_success", "agent_calls")
    return {key: summary.get(key) for key in (*keys, "metrics", "seconds")}
