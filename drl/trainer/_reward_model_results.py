"""What held-out sessions say of the heads of a run: measures, controls, warnings, pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from drl.errors import DataError
from drl.evaluation.turn_rewards import HeldOut, Measured, Observed, measure, to_json
from drl.evaluation.turn_rewards_baselines import ORACLE, baselines
from drl.evaluation.turn_rewards_calibration import calibration
from drl.evaluation.turn_rewards_controls import Control, no_signal, shuffled_faces, warnings
from drl.evaluation.turn_rewards_hidden import observe
from drl.report.turn_rewards import (
    MOST_SESSIONS,
    MethodFigures,
    Pictures,
    SessionRewards,
    write_turn_reward_report,
)
from drl.trainer._reward_model_arms import Arm
from drl.trainer._reward_model_data import Material
from drl.trainer._reward_model_heads import Learned, rewards_of
from drl.turn_reward.session import Session
from drl.types import JSON


@dataclass(frozen=True, eq=False)
class ArmResult:
    """An arm on held-out sessions."""

    arm: Arm
    held_out: Sequence[HeldOut]
    measured: Mapping[str, Measured]
    heads: Sequence[Learned]

    def to_json(self) -> dict[str, JSON]:
        """As the summary holds it."""
        return {
            "measures": to_json(self.measured),
            "objective": asdict(self.arm.objective),
            "learning_rate": self.arm.learning_rate,
            "best_epochs": [head.best_epoch for head in self.heads],
            "best_validation": [
                head.best_val if np.isfinite(head.best_val) else None for head in self.heads
            ],
        }


@dataclass(frozen=True, eq=False)
class Results:
    """All that was found, the run's own method first."""

    arms: Sequence[ArmResult]
    baselines: Mapping[str, Mapping[str, Measured]]
    controls: Sequence[Control]
    warnings: Sequence[str]
    sessions: Sequence[Session]
    """Held-out ones that were measured, in the order of `held_out`."""

    def to_json(self) -> dict[str, JSON]:
        """The part of the summary that is about held-out sessions; the run's measures on top."""
        main = self.arms[0]
        conversations = {session.conversation_id for session in self.sessions}
        by_kind: dict[str, dict[str, JSON]] = {"method": {}, "control": {}}
        for each in self.arms:
            by_kind[each.arm.kind][each.arm.name] = each.to_json()
        return {
            "method": main.arm.name,
            "held_out": {"conversations": len(conversations), "sessions": len(self.sessions)},
            **to_json(main.measured),
            "methods": by_kind["method"],
            "baselines": {name: to_json(each) for name, each in self.baselines.items()},
            "shuffled": by_kind["control"],
            "controls": [{"words": each.words, "holds": each.holds} for each in self.controls],
            "warnings": list(self.warnings),
        }


def results(
    material: Material,
    learned: Sequence[Learned],
    folder: Path,
    seed: int,
    *,
    is_synthetic: bool,
) -> Results:
    """Measure all arms on the test part.

    Args:
        material: all sessions.
        learned: all heads; those of one arm come one after another.
        folder: of the data, in which hidden rewards may lie.
        seed: of the resampling.
        is_synthetic: whether the data were generated.

    Raises:
        DataError: no session of the training or the test part has a score.
    """
    training = observe(material.of("train"), folder)
    observed = observe(material.of("test"), folder)
    if not training or not observed:
        raise DataError(
            f"{len(training)} training and {len(observed)} test sessions have a score; there must "
            "be some of both; choose another dataset.target, or hold out more (dataset.division)"
        )
    training_mean = float(np.mean([session.score for session in training]))
    by_arm: dict[str, list[Learned]] = {}
    for head in learned:
        by_arm.setdefault(head.arm.name, []).append(head)
    scored = [number for number, each in enumerate(material.of("test")) if each.score is not None]
    arms: list[ArmResult] = []
    for heads in by_arm.values():
        rewards = rewards_of(heads, material, "test")
        pairs = zip(observed, scored, strict=True)
        held_out = [_held_out(session, rewards[number], heads) for session, number in pairs]
        found = measure(held_out, training_mean, seed)
        arms.append(ArmResult(heads[0].arm, held_out, found, heads))
    methods = {each.arm.name: each.measured for each in arms if each.arm.kind == "method"}
    sessions = material.of("test")
    return Results(
        arms,
        baselines(training, observed, seed),
        _controls(arms),
        warnings(methods, is_generated=is_synthetic),
        [sessions[number] for number in scored],
    )


def write_report(path: Path, title: str, summary: Mapping[str, JSON], found: Results) -> None:
    """The pictures of a run.

    Raises:
        RunError: the file cannot be written.
    """
    shown = [each for each in found.arms if each.arm.kind == "method"]
    figures = [
        MethodFigures(name=each.arm.name, kind=each.arm.kind, measures=to_json(each.measured))
        for each in found.arms
    ]
    figures += [
        MethodFigures(
            name=name,
            kind="ceiling" if name == ORACLE else "baseline",
            measures=to_json(measured),
        )
        for name, measured in found.baselines.items()
    ]
    pictures = Pictures(
        warnings=found.warnings,
        methods=figures,
        controls=[(each.words, each.holds) for each in found.controls],
        calibration={
            each.arm.name: [part.to_json() for part in calibration(each.held_out)] for each in shown
        },
        sessions=[
            _session(number, session, shown)
            for number, session in enumerate(found.sessions[:MOST_SESSIONS])
        ],
    )
    write_turn_reward_report(path, title, summary, pictures)


def _held_out(observed: Observed, rewards: np.ndarray, heads: Sequence[Learned]) -> HeldOut:
    told = [head.scaling.points(each) for head, each in zip(heads, rewards, strict=True)]
    return HeldOut(observed=observed, rewards=rewards, totals=np.array(told))


def _controls(arms: Sequence[ArmResult]) -> list[Control]:
    """What must hold of the shuffled arms."""
    by_name = {each.arm.name: each for each in arms}
    found: list[Control] = []
    for each in arms:
        kind = each.arm.shuffled
        if kind is None:
            continue
        method = each.arm.name.removesuffix(f" {kind}")
        if kind == "shuffled_faces" and each.arm.objective.session != "none":
            if "rrd" in by_name:
                found += shuffled_faces(method, each.measured, by_name["rrd"].measured)
        else:
            found += no_signal(method, kind, each.measured)
    return found


def _session(number: int, session: Session, arms: Sequence[ArmResult]) -> SessionRewards:
    """A held-out session with the mean rewards over seeds."""
    hidden = arms[0].held_out[number].observed.hidden
    return SessionRewards(
        session=session,
        rewards={
            each.arm.name: each.held_out[number].rewards.mean(axis=0).tolist() for each in arms
        },
        told={each.arm.name: float(each.held_out[number].totals.mean()) for each in arms},
        hidden=None if hidden is None else hidden.tolist(),
    )
