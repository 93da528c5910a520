"""Two or more runs over the same tasks: what differs, and whether that names a winner.

A winner is named only if the runs may be compared at all, and a headline measure differs by more
than chance: its interval leaves out 0, it lies above the noise floor, and its p stays below 0.05
when corrected for all that was tested. The comparison is of runs: another training seed of the
same method is another run, and may differ by more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from drl.errors import ConfigError, RunError
from drl.evaluation.comparability import (
    check_versions,
    obstacles,
    remarks,
    settings_that_differ,
)
from drl.evaluation.intervals import CONFIDENCE
from drl.evaluation.measure import Measure, measured, words_of
from drl.evaluation.paired import holm, paired_gaps
from drl.evaluation.power import ALPHA, POWER
from drl.evaluation.run_result import RunResult
from drl.types import JSON

HEADLINE = ("mean_reward", "full_success")
"""The measures that may name a winner; more is better."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One run against another.

    `reasons` say why no winner is named, and `obstacles` among them why none could be.
    """

    base: RunResult
    other: RunResult
    measures: dict[str, Measure]
    num_paired: int
    num_tests: int
    obstacles: tuple[str, ...]

    @property
    def is_comparable(self) -> bool:
        """Whether a difference can only come of the policies, or chance."""
        return not self.obstacles

    @property
    def deciding(self) -> dict[str, Measure]:
        """The measures that were chosen to decide."""
        return {name: m for name, m in self.measures.items() if m.p_holm is not None}

    @property
    def winner(self) -> RunResult | None:
        """The better run, if that is shown."""
        if self.reasons:
            return None
        return self.other if "other" in self._better() else self.base

    @property
    def reasons(self) -> list[str]:
        """Why there is no winner; empty if there is one."""
        if self.obstacles:
            return list(self.obstacles)
        better = self._better()
        if len(better) == 2:
            return ["the measures that decide point in opposite directions"]
        if better:
            return []
        found = [
            f"{words_of(name)}: no difference shown, {', '.join(measure.doubts())}"
            for name, measure in self.deciding.items()
            if measure.doubts()
        ]
        found += [
            f"{words_of(name)} differs, but is no measure of success"
            for name, measure in self.deciding.items()
            if measure.is_shown and name not in HEADLINE
        ]
        return found or ["no measure is paired"]

    @property
    def verdict(self) -> str:
        """One sentence: who is better by how much, or why that is not known."""
        winner = self.winner
        if winner is None:
            label = "No winner" if self.is_comparable else "Not comparable, so no winner"
            return f"{label}: {'; '.join(self.reasons)}."
        loser = self.base if winner is self.other else self.other
        by: list[str] = []
        for name, measure in self.deciding.items():
            if measure.is_shown and (gap := measure.difference):
                ends = sorted((abs(gap.low), abs(gap.high)))
                by.append(
                    f"{words_of(name)} by {abs(gap.value):.3f} ({ends[0]:.3f} to {ends[1]:.3f})"
                )
        return f"{winner.name} is better than {loser.name}: {', '.join(by)}."

    def to_json(self) -> dict[str, JSON]:
        """The numbers and the verdict, with all that they depend on."""
        winner = self.winner
        return {
            "base": self.base.name,
            "other": self.other.name,
            "winner": None if winner is None else winner.name,
            "verdict": self.verdict,
            "comparable": self.is_comparable,
            "reasons": self.reasons,
            "remarks": remarks(self.base, self.other),
            "settings_that_differ": settings_that_differ(self.base, self.other),
            "n_tasks": self.num_paired,
            "n_trials": {"base": self.base.num_trials, "other": self.other.num_trials},
            "kind": {"base": self.base.kind, "other": self.other.kind},
            "n_tests": self.num_tests,
            "confidence": CONFIDENCE,
            "alpha": ALPHA,
            "power": POWER,
            "measures": {name: measure.to_json() for name, measure in self.measures.items()},
        }

    def _better(self) -> set[str]:
        """Which of "base" and "other" a headline measure shows to be better."""
        return {
            "other" if gap.value > 0 else "base"
            for name, measure in self.deciding.items()
            if name in HEADLINE and measure.is_shown and (gap := measure.difference)
        }


def compare_all(
    base: RunResult,
    others: Sequence[RunResult],
    *,
    metrics: Sequence[str] = HEADLINE,
    only_shared: bool = False,
) -> list[Comparison]:
    """Each run against the base, with p values that hold for all runs and metrics together.

    Args:
        metrics: the measures that decide, chosen before the numbers are seen.
        only_shared: pair the shared tasks of runs that have different ones; no winner is named
            all the same. Without it such runs are not paired.

    Raises:
        RunError: two runs have no task in common, or are of different versions of data.
        ConfigError: a run lacks a metric.
    """
    check_versions((base, *others))
    all_measures = [_measures(base, other, only_shared=only_shared) for other in others]
    num_tests = _correct(all_measures, metrics)
    return [
        Comparison(
            base=base,
            other=other,
            measures=measures,
            num_paired=(n := _num_paired(base, other)),
            num_tests=num_tests,
            obstacles=tuple(obstacles(base, other, n)),
        )
        for other, measures in zip(others, all_measures, strict=True)
    ]


def _correct(all_measures: Sequence[dict[str, Measure]], metrics: Sequence[str]) -> int:
    """Set the p that hold for all tests together, of which there are so many.

    Raises:
        ConfigError: a run lacks a metric.
    """
    for measures in all_measures:
        for metric in metrics:
            if metric not in measures:
                raise ConfigError(
                    f"metric={metric} is not measured in both runs; known: {', '.join(measures)}"
                )
    tests = [
        (measures, metric, gap)
        for measures in all_measures
        for metric in metrics
        if (gap := measures[metric].difference)
    ]
    corrected = holm([gap for _, _, gap in tests])
    for (measures, metric, _), joint in zip(tests, corrected, strict=True):
        measures[metric] = replace(measures[metric], p_holm=joint.p)
    return len(tests)


def _measures(base: RunResult, other: RunResult, *, only_shared: bool) -> dict[str, Measure]:
    """What both runs measured, before any correction.

    Raises:
        RunError: there is no task to pair.
    """
    if not _num_paired(base, other):
        raise RunError(
            f"{base.name} and {other.name} share no task that is scored in both, so there is "
            "nothing to pair; compare runs of one split"
        )
    is_paired = only_shared or base.task_ids == other.task_ids
    found: dict[str, Measure] = {}
    for name in base.values.keys() & other.values.keys():
        measure = measured(base.values[name], other.values[name], is_paired=is_paired)
        if measure is not None:
            found[name] = measure
    # in the order of a summary
    return {name: found[name] for name in base.values if name in found}


def _num_paired(base: RunResult, other: RunResult) -> int:
    return len(paired_gaps(base.values["mean_reward"], other.values["mean_reward"]))
