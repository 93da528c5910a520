"""Heads of all arms and seeds, learned in groups; a group that is finished is not learned again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from drl.errors import RunError
from drl.runtime.drafts import drafted_file
from drl.runtime.lines import LineFile
from drl.runtime.metrics import METRICS, add_metrics, keep_metrics
from drl.runtime.progress import progress_bar
from drl.runtime.seeds import derive
from drl.turn_reward.fit import Epoch, Fitted, fit
from drl.turn_reward.head import Params, apply_members, member
from drl.turn_reward.member import Member
from drl.turn_reward.scaling import ScoreScaling
from drl.turn_reward.settings import HeadSettings, TrainingSettings
from drl.types import JSON

if TYPE_CHECKING:
    from drl.trainer._reward_model_arms import Arm
    from drl.trainer._reward_model_data import Material

HEADS = Path("checkpoints") / "heads"
"""Where the heads of every group lie, below the run folder."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Learned:
    """The head of one arm and seed, as it was in its best epoch."""

    arm: Arm
    seed: int
    head: HeadSettings
    params: Params
    scaling: ScoreScaling
    best_epoch: int
    best_val: float


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How heads are learned. `seeds`: heads of each arm. `at_once`: of one group, at most."""

    head: HeadSettings
    training: TrainingSettings
    seeds: int
    at_once: int
    score_range: tuple[float, float]
    seed: int


@dataclass(frozen=True, eq=False)
class _Group:
    """Heads of one kind that learn at once."""

    head: HeadSettings
    arms: Sequence[Arm]
    members: Sequence[Member]
    file: Path


def learn_heads(
    arms: Sequence[Arm],
    material: Material,
    plan: Plan,
    folder: Path,
    *,
    num_before: int,
    start: Params | None,
) -> list[Learned]:
    """All heads; those of finished groups are read from the run folder.

    Args:
        arms: all of them.
        material: what there is to learn from.
        plan: how.
        folder: of the run.
        num_before: lines of `metrics.jsonl` that are not about heads.
        start: weights of the run's kind of head, with which all of that kind begin.

    Raises:
        DataError: an objective reads what no session has.
        RunError: the folder cannot be written or read.
    """
    groups = list(_groups(arms, material, plan, folder / HEADS))
    finished = [_read(group) for group in groups]
    num_kept = num_before + sum(each[1] for each in finished if each is not None)
    keep_metrics(folder / METRICS, num_kept)
    found: list[Learned] = []
    with (
        LineFile(folder / METRICS) as lines,
        progress_bar(
            "Learning heads", len(groups), sum(each is not None for each in finished)
        ) as bar,
    ):
        for group, kept in zip(groups, finished, strict=True):
            if kept is None:
                tell = _Telling(group, lines, num_kept)
                fitted = _fit(group, material, plan, start, tell)
                _write(group, fitted, tell.num_epochs)
                num_kept += tell.num_epochs
                bar.advance()
            else:
                fitted = kept[0]
            found += _learned(group, fitted)
    return found


def rewards_of(learned: Sequence[Learned], material: Material, split: str) -> list[np.ndarray]:
    """The rewards of each session of a split, float [S, T] each, by heads of one kind."""
    stacked = {
        name: torch.stack([each.params[name] for each in learned]).to(material.corpus.device)
        for name in learned[0].params
    }
    found: list[np.ndarray] = []
    for part in material.corpus.in_parts(material.numbers[split]):
        batch = material.corpus.batch(part)
        with torch.no_grad():
            rewards_SN = apply_members(learned[0].head, stacked, batch).double().cpu()
        lengths = batch.layout.lengths_B.tolist()
        found += [rewards.numpy() for rewards in rewards_SN.split(lengths, dim=1)]
    return found


class _Telling:
    """Writes a line of `metrics.jsonl` for every epoch of a group: means over an arm's seeds."""

    def __init__(self, group: _Group, lines: LineFile, num_before: int) -> None:
        self._lines, self._num_before = lines, num_before
        self._numbers: dict[str, list[int]] = {}
        for number, each in enumerate(group.members):
            self._numbers.setdefault(each.name, []).append(number)
        self.num_epochs = 0

    def __call__(self, epoch: Epoch) -> None:
        """Hear of an epoch."""
        self.num_epochs = epoch.number
        told: dict[str, float] = {}
        for name, numbers in self._numbers.items():
            told[f"{name}/train"] = float(epoch.train_M[numbers].mean())
            told[f"{name}/val"] = float(epoch.val_M[numbers].mean())
            told[f"{name}/val_session"] = float(epoch.val_session_M[numbers].mean())
            told[f"{name}/val_local"] = float(epoch.val_local_M[numbers].mean())
        add_metrics(self._lines, self._num_before + epoch.number, told)


def _groups(arms: Sequence[Arm], material: Material, plan: Plan, folder: Path) -> Iterator[_Group]:
    """Arms by their kind of head, in parts of bounded size that only the config decides."""
    by_head: dict[HeadSettings, list[Arm]] = {}
    for arm in arms:
        by_head.setdefault(arm.head(plan.head), []).append(arm)
    number = 0
    for head, mine in by_head.items():
        pairs = [(arm, seed) for arm in mine for seed in range(plan.seeds)]
        for start in range(0, len(pairs), plan.at_once):
            part = pairs[start : start + plan.at_once]
            members = [
                _member(arm, material, derive(plan.seed, "head", seed)) for arm, seed in part
            ]
            yield _Group(head, [arm for arm, _ in part], members, folder / f"{number:03d}.json")
            number += 1


def _member(arm: Arm, material: Material, seed: int) -> Member:
    truth = material.truth if arm.shuffled is None else material.shuffled(arm.shuffled, seed)
    return Member(
        name=arm.name,
        objective=arm.objective,
        seed=seed,
        learning_rate=arm.learning_rate,
        truth=truth,
    )


def _fit(
    group: _Group,
    material: Material,
    plan: Plan,
    start: Params | None,
    tell: Callable[[Epoch], None],
) -> Fitted:
    return fit(
        material.corpus,
        group.members,
        head=group.head,
        training=plan.training,
        score_range=plan.score_range,
        seed=plan.seed,
        start=start if group.head == plan.head else None,
        tell=tell,
    )


def _learned(group: _Group, fitted: Fitted) -> Iterator[Learned]:
    for number, (arm, each) in enumerate(zip(group.arms, group.members, strict=True)):
        yield Learned(
            arm=arm,
            seed=each.seed,
            head=group.head,
            params=member(fitted.params, number),
            scaling=fitted.scalings[number],
            best_epoch=fitted.best_epoch[number],
            best_val=fitted.best_val[number],
        )


def _write(group: _Group, fitted: Fitted, num_epochs: int) -> None:
    """Keep a finished group: its weights first, then the file that says that they are there."""
    about: dict[str, JSON] = {
        "head": asdict(group.head),
        "members": [{"arm": each.name, "seed": each.seed} for each in group.members],
        "scalings": [asdict(scaling) for scaling in fitted.scalings],
        "best_epoch": list(fitted.best_epoch),
        "best_val": list(fitted.best_val),
        "num_epochs": num_epochs,
    }
    weights = {name: weight.contiguous() for name, weight in fitted.params.items()}
    try:
        group.file.parent.mkdir(parents=True, exist_ok=True)
        with drafted_file(_weights(group), is_shared=False) as draft:
            save_file(weights, draft)
        with drafted_file(group.file, is_shared=False) as draft:
            draft.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"{group.file}: cannot be written ({error}); make room and start the same command again"
        ) from error


def _read(group: _Group) -> tuple[Fitted, int] | None:
    """A finished group and how many epochs it took; None where it is still to be learned."""
    if not group.file.is_file():
        return None
    try:
        about: Mapping[str, JSON] = json.loads(group.file.read_text(encoding="utf-8"))
        params = load_file(_weights(group))
        scalings = tuple(ScoreScaling(**each) for each in _list(about["scalings"]))
        epochs = tuple(int(each) for each in _list(about["best_epoch"]))
        vals = tuple(float(each) for each in _list(about["best_val"]))
        return Fitted(params, scalings, epochs, vals), int(str(about["num_epochs"]))
    except (OSError, ValueError, KeyError, TypeError, SafetensorError) as error:
        raise RunError(
            f"{group.file}: cannot be read ({error}); remove {group.file.parent} to learn the "
            "heads anew"
        ) from error


def _weights(group: _Group) -> Path:
    return group.file.with_suffix(".safetensors")


def _list(value: JSON) -> list:
    if not isinstance(value, list):
        raise TypeError(f"{value!r} is no list")
    return value
