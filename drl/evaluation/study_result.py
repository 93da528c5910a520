"""What a study found: who was chosen how often, how surely, and how far raters agree.

A candidate's share of a conversation is that of the choices in it that fell on it; intervals and
tests are over conversations, since raters of one item saw the same answers, and items of one
conversation the same people.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from drl.errors import ConfigError
from drl.evaluation.agreement import krippendorff_alpha
from drl.evaluation.intervals import Estimate, mean_over_tasks, to_json
from drl.evaluation.paired import Difference, holm, paired_difference, smallest_p
from drl.evaluation.study import TIE, Key
from drl.evaluation.study_answers import Choice
from drl.types import JSON


@dataclass(frozen=True, slots=True)
class Against:
    """A candidate's share minus the base's; `p_holm` holds for all comparisons of the study."""

    difference: Difference
    p_holm: float


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """Shares by candidate, ties under TIE; differences by candidate other than the base."""

    question: str
    chosen: Mapping[str, Estimate]
    against_base: Mapping[str, Against]
    alpha: Estimate | None


@dataclass(frozen=True, slots=True)
class StudyResult:
    """All that a study found.

    `first_shown` is the share of choices, ties aside, that fell on what stood first on the screen;
    `chance_first` what it would be without a habit. `best_on` counts criteria on which a
    candidate alone was chosen most.
    """

    base: str
    num_items: int
    num_conversations: int
    raters: Sequence[str]
    missing_raters: Sequence[str]
    criteria: Mapping[str, CriterionResult]
    alpha: Estimate | None
    first_shown: Estimate | None
    chance_first: float
    best_on: Mapping[str, int]

    @property
    def smallest_p_holm(self) -> float:
        """The least that the first of all comparisons could have come to, whatever was chosen."""
        num_comparisons = sum(len(of.against_base) for of in self.criteria.values())
        return min(1.0, num_comparisons * smallest_p(self.num_conversations))

    def to_json(self) -> dict[str, JSON]:
        """The result as `results.json` holds it."""
        return {
            "base": self.base,
            "n_items": self.num_items,
            "n_conversations": self.num_conversations,
            "raters": self.raters,
            "missing_raters": self.missing_raters,
            "smallest_p_holm": self.smallest_p_holm,
            "criteria": {name: _criterion_json(of) for name, of in self.criteria.items()},
            "alpha": to_json(self.alpha),
            "first_shown": to_json(self.first_shown),
            "chance_first": self.chance_first,
            "best_on": dict(self.best_on),
        }


def analyse(key: Key, choices: Sequence[Choice], base: str | None) -> StudyResult:
    """The result of a study.

    Args:
        base: whom the others are compared with; None takes the first candidate.

    Raises:
        ConfigError: there is no such candidate.
    """
    base = key.candidates[0] if base is None else base
    if base not in key.candidates:
        raise ConfigError(f"--base {base}: is unknown; known: {', '.join(key.candidates)}")
    shares = {name: _shares(key, choices, name) for name in key.criteria}
    against = _against(key, shares, base)
    criteria = {
        name: CriterionResult(
            question=question,
            chosen={
                who: estimate
                for who in (*key.candidates, TIE)
                if (estimate := mean_over_tasks(shares[name][who]))
            },
            against_base=against[name],
            alpha=_alpha(choices, [name]),
        )
        for name, question in key.criteria.items()
    }
    raters = sorted({choice.rater for choice in choices}, key=int)
    all_raters = [str(number) for number in range(1, key.num_raters + 1)]
    return StudyResult(
        base=base,
        num_items=len({choice.item for choice in choices}),
        num_conversations=len({choice.conversation for choice in choices}),
        raters=raters,
        missing_raters=[rater for rater in all_raters if rater not in raters],
        criteria=criteria,
        alpha=_alpha(choices, key.criteria),
        first_shown=_first_shown(choices),
        chance_first=1 / len(key.candidates),
        best_on=_best_on(key, criteria),
    )


def _against(
    key: Key, shares: Mapping[str, Mapping[str, Mapping[str, list[float]]]], base: str
) -> Mapping[str, Mapping[str, Against]]:
    """By criterion: each other candidate against the base, corrected over all of them."""
    gaps = {
        (criterion, other): gap
        for criterion in key.criteria
        for other in key.candidates
        if other != base
        and (gap := paired_difference(shares[criterion][base], shares[criterion][other]))
    }
    found: dict[str, dict[str, Against]] = {criterion: {} for criterion in key.criteria}
    corrected = holm(list(gaps.values()))
    for ((criterion, other), gap), joint in zip(gaps.items(), corrected, strict=True):
        found[criterion][other] = Against(gap, joint.p)
    return found


def _shares(
    key: Key, choices: Sequence[Choice], criterion: str
) -> Mapping[str, Mapping[str, list[float]]]:
    """By candidate and TIE: conversation -> 1 or 0 for each choice."""
    found: dict[str, dict[str, list[float]]] = {name: {} for name in (*key.candidates, TIE)}
    for choice in choices:
        if choice.criterion == criterion:
            for name, shares in found.items():
                shares.setdefault(choice.conversation, []).append(float(choice.candidate == name))
    return found


def _alpha(choices: Sequence[Choice], criteria: Collection[str]) -> Estimate | None:
    """The agreement on some criteria; units, an item by a criterion, are drawn by conversation."""
    units: dict[str, dict[tuple[str, str], list[str]]] = defaultdict(lambda: defaultdict(list))
    for choice in choices:
        if choice.criterion in criteria:
            unit = units[choice.conversation][choice.item, choice.criterion]
            unit.append(choice.candidate)
    return krippendorff_alpha({name: list(of.values()) for name, of in units.items()})


def _first_shown(choices: Sequence[Choice]) -> Estimate | None:
    found: dict[str, list[float]] = defaultdict(list)
    for choice in choices:
        if choice.candidate != TIE:
            found[choice.conversation].append(float(choice.candidate == choice.first))
    return mean_over_tasks(found)


def _best_on(key: Key, criteria: Mapping[str, CriterionResult]) -> Mapping[str, int]:
    best = dict.fromkeys(key.candidates, 0)
    for of in criteria.values():
        values = {name: of.chosen[name].value for name in key.candidates if name in of.chosen}
        leaders = [name for name, value in values.items() if value == max(values.values())]
        if len(leaders) == 1:
            best[leaders[0]] += 1
    return best


def _criterion_json(of: CriterionResult) -> dict[str, JSON]:
    gaps: dict[str, JSON] = {}
    for name, against in of.against_base.items():
        gap = against.difference
        gaps[name] = {
            "value": gap.value,
            "low": gap.low,
            "high": gap.high,
            "n": gap.n,
            "p": gap.p,
            "p_holm": against.p_holm,
        }
    return {
        "question": of.question,
        "chosen": {name: to_json(estimate) for name, estimate in of.chosen.items()},
        "minus_base": gaps,
        "alpha": to_json(of.alpha),
    }
