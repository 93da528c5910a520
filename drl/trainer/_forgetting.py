"""The forgetting check as numbers with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from drl.evaluation.intervals import mean_over_tasks, to_json
from drl.evaluation.paired import paired_difference
from drl.finetune.forgetting import ForgettingReport
from drl.finetune.learner import Learner
from drl.runtime.progress import announce
from drl.runtime.run_dir import RunDir
from drl.types import JSON


def check_forgetting(learner: Learner, run_dir: RunDir) -> dict[str, JSON]:
    """The check as numbers; every answer lies in a file of its own."""
    from drl.finetune.forgetting import forgetting

    announce(
        "Checking what was forgotten: 50 instructions with the adapter and without, some minutes "
        "on a CPU; trainer.check_forgetting=false leaves it out."
    )
    report = forgetting(learner.model, learner.template, learner.end_ids)
    run_dir.write_json("forgetting.json", asdict(report))
    return _summarised(report)


def _summarised(report: ForgettingReport) -> dict[str, JSON]:
    """KL in nats a token, and shares of instructions that were followed.

    Intervals are over passages and over instructions.
    """
    before = _each(report.instructions, report.passed_base)
    after = _each(report.instructions, report.passed_adapted)
    gap = paired_difference(before, after)
    return {
        "kl_to_base": to_json(mean_over_tasks(_each(report.passages, report.kl_to_base))),
        "kl_from_base": to_json(mean_over_tasks(_each(report.passages, report.kl_from_base))),
        "instructions_base": to_json(mean_over_tasks(before)),
        "instructions_adapted": to_json(mean_over_tasks(after)),
        "instructions_difference": None if gap is None else asdict(gap),
        "seconds": round(report.seconds, 1),
    }


def _each(names: Sequence[str], values: Sequence[float]) -> Mapping[str, Sequence[float]]:
    """One value under each name; the names are numbered since kinds of passages come again."""
    return {
        f"{place:03} {name}": [float(value)]
        for place, (name, value) in enumerate(zip(names, values, strict=True))
    }
