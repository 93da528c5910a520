"""What keeps an evaluation of turn rewards from fooling its reader.

Controls are trained like the methods, on data in which a signal was destroyed; here is which
comparisons are told of them. Each seed of a control must draw its own shuffle: what a shuffle
happens to teach is chance, and only other shuffles show how much.

| control | what was shuffled, in training only | what must hold |
|---|---|---|
| shuffled_faces | reactions, over all turns | a method with scores does not beat RRD |
| shuffled_scores | session scores, over sessions | a method that learns from scores tells nothing |
| shuffled_both | both | nothing is told |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import t

from drl.evaluation.intervals import CONFIDENCE, Estimate
from drl.evaluation.turn_rewards import Measured

Shuffled = Literal["shuffled_faces", "shuffled_scores", "shuffled_both"]

MIN_CONVERSATIONS = 30
MIN_SEEDS = 5

ONLY_GENERATED = (
    "These conversations are generated. An ordering of methods that is found on them is no "
    "evidence about CANDOR, nor about any other recorded conversations."
)

_OF_ORDER: Mapping[str, float] = {
    "spearman_session": 0.0,
    "local_difference_sd": 0.0,
    "auroc_positive": 0.5,
    "auroc_positive_within": 0.5,
    "spearman_hidden": 0.0,
}
"""Measures that any scale of rewards can be compared by, and their value where nothing is told."""

_OF_FACES = ("local_difference_sd", "auroc_positive", "auroc_positive_within", "spearman_hidden")
"""What faces could help with."""


@dataclass(frozen=True, slots=True)
class Control:
    """A comparison that must come out a certain way, or the evaluation is at fault."""

    method: str
    shuffled: Shuffled
    measure: str
    against: str
    """What the estimate is the difference from: a method's name, or the value of no signal."""
    difference: Estimate
    holds: bool

    @property
    def words(self) -> str:
        """The comparison as a sentence."""
        found = f"{self.difference.value:+.3f} [{self.difference.low:+.3f}, "
        found += f"{self.difference.high:+.3f}]"
        name = f"{self.method} with {self.shuffled.replace('_', ' ')}: {self.measure}"
        verdict = "as it must be" if self.holds else "CONTROL FAILED, do not trust this evaluation"
        return f"{name} less {self.against}: {found}; {verdict}"


def shuffled_faces(
    method: str, shuffled: Mapping[str, Measured], rrd: Mapping[str, Measured]
) -> list[Control]:
    """A method with faces that mean nothing, against RRD, which never saw one."""
    found: list[Control] = []
    for name in _OF_FACES:
        if name in shuffled and name in rrd:
            difference = _cautious(shuffled[name].minus(rrd[name]))
            beats = difference.low > 0
            found.append(Control(method, "shuffled_faces", name, "rrd", difference, not beats))
    return found


def no_signal(method: str, kind: Shuffled, shuffled: Mapping[str, Measured]) -> list[Control]:
    """A method that had nothing to learn from: its intervals must cover what no signal gives.

    For `shuffled_scores` of methods that learn from scores alone, `shuffled_faces` of those that
    learn from faces alone, and `shuffled_both` of all.
    """
    found: list[Control] = []
    for name, nothing in _OF_ORDER.items():
        if name in shuffled:
            told = _cautious(shuffled[name])
            less = Estimate(told.value - nothing, told.low - nothing, told.high - nothing, told.n)
            holds = less.low <= 0 <= less.high
            found.append(Control(method, kind, name, f"{nothing:g}", less, holds))
    return found


def warnings(methods: Mapping[str, Mapping[str, Measured]], *, is_generated: bool) -> list[str]:
    """What a reader must know before any figure, most general first.

    Args:
        methods: measures by method, without baselines and controls.
        is_generated: whether the conversations come from a generator.
    """
    found = [ONLY_GENERATED] if is_generated else []
    shown = [measured["global_mse"] for measured in methods.values()]
    num_conversations = min((told.n for told in shown), default=0)
    num_seeds = min((len(told.by_seed) for told in shown), default=0)
    if num_conversations < MIN_CONVERSATIONS:
        found.append(
            f"{num_conversations} conversations are held out. Below {MIN_CONVERSATIONS} no figure "
            "here supports a claim; take more conversations, or hold out a larger share."
        )
    if num_seeds < MIN_SEEDS:
        found.append(
            f"{num_seeds} seeds of training. Below {MIN_SEEDS} nobody knows what chance did; "
            "raise the number of seeds."
        )
    return found + [line for name, told in methods.items() for line in _not_better(name, told)]


def _not_better(method: str, measured: Mapping[str, Measured]) -> Sequence[str]:
    gap = measured["global_mse"].minus(measured["constant_mse"]).estimate
    if gap.high < 0:
        return []
    return [
        f"{method} does not beat a constant: its squared error of the session score less that of "
        f"always saying the training mean is {gap.value:+.3g} [{gap.low:+.3g}, {gap.high:+.3g}]."
    ]


def _cautious(measured: Measured) -> Estimate:
    """The estimate with an interval that holds for few seeds.

    The chance of a control is that of its shuffles, of which there are as many as seeds. Drawing
    S seeds again tells (S - 1) / S of their variance, and a quantile of Student's t makes up for
    how roughly it is known.
    """
    num_seeds = len(measured.by_seed)
    if num_seeds == 1:
        return measured.estimate
    spread = float(np.nanstd(measured.resampled)) * np.sqrt(num_seeds / (num_seeds - 1))
    half = float(t.ppf((1 + CONFIDENCE) / 2, num_seeds - 1)) * float(spread)
    return Estimate(measured.value, measured.value - half, measured.value + half, measured.n)
