"""How far the labels of a search can be trusted: saved branches against what came of playing on.

A search labels a branch by the one way in which it went. Played on several times, the branch has
a chance of success; that of branches labelled failed or censored is the label error.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from drl.evaluation.intervals import Estimate, mean_over_tasks, to_json
from drl.evaluation.paired import paired_difference
from drl.evaluation.posterior import Posterior, certain, posterior
from drl.types import JSON, Outcome, StopReason

LABELS = (Outcome.GOLDEN, Outcome.SUCCESSFUL, Outcome.CENSORED, Outcome.FAILED, Outcome.ERROR)


@dataclass(frozen=True, slots=True)
class Sibling:
    """One of several tries of the agent at one place of a tree, and what the search made of it.

    `earned` tells whether the saved turn itself reached a goal. If it is `over`, nothing can
    follow: `earned` is all its success, and `full` tells whether it reached all goals (None:
    unscored).
    """

    task_id: str
    trial: int
    decision: int
    node: int
    label: Outcome
    num_open: int
    """Goals open before the saved turn."""
    num_turns: int
    """Finished turns of the agent down to it."""
    earned: bool
    over: bool
    full: bool | None


@dataclass(frozen=True, slots=True)
class Continuation:
    """How a saved branch went on once more.

    `hit`: a goal was reached that was open before the saved turn, in it or later. `full`: all
    were reached (None: unscored). With `failure` it broke and says nothing of the branch.
    """

    task_id: str
    trial: int
    node: int
    number: int
    hit: bool = False
    full: bool | None = None
    stop: StopReason | None = None
    num_turns: int = 0
    """Turns of the agent that were played."""
    num_calls: int = 0
    """Decisions of the agent that were made."""
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """A saved branch with all that is known of its chances."""

    sibling: Sibling
    hits: tuple[bool, ...]
    fulls: tuple[bool, ...]
    num_broken: int

    @property
    def success(self) -> float | None:
        """Share of successes; None where nothing is known."""
        return _share((self.sibling.earned,) if self.sibling.over else self.hits)

    @property
    def full_success(self) -> float | None:
        """Share of continuations that reached all goals."""
        sibling = self.sibling
        known = () if sibling.full is None else (sibling.full,)
        return _share(known if sibling.over else self.fulls)

    @property
    def chance(self) -> Posterior:
        """The posterior of its success."""
        if self.sibling.over:
            return certain(self.sibling.earned)
        return posterior(sum(self.hits), len(self.hits))

    def to_json(self) -> dict[str, JSON]:
        """One line of `branches.jsonl`."""
        return {
            **asdict(self.sibling),
            "tries": len(self.hits),
            "hits": sum(self.hits),
            "full_hits": sum(self.fulls),
            "broken": self.num_broken,
            "p_success": asdict(self.chance),
        }


def branches(siblings: Iterable[Sibling], continuations: Iterable[Continuation]) -> list[Branch]:
    """Each sibling with its continuations."""
    by_node: dict[tuple[str, int, int], list[Continuation]] = defaultdict(list)
    for continuation in continuations:
        key = (continuation.task_id, continuation.trial, continuation.node)
        by_node[key].append(continuation)
    found = []
    for sibling in siblings:
        tries = by_node[sibling.task_id, sibling.trial, sibling.node]
        whole = [t for t in tries if t.failure is None]
        hits = tuple(t.hit for t in whole)
        fulls = tuple(t.full for t in whole if t.full is not None)
        found.append(Branch(sibling, hits, fulls, num_broken=len(tries) - len(whole)))
    return found


def summarise(all_branches: Sequence[Branch]) -> dict[str, JSON]:
    """The numbers by label, the label error, and golden against the others at the same places."""
    per_label = {
        label: [branch for branch in all_branches if branch.sibling.label is label]
        for label in LABELS
    }
    cut = per_label[Outcome.FAILED] + per_label[Outcome.CENSORED]
    return {
        "label_error": {
            "failed": to_json(_over_tasks(per_label[Outcome.FAILED], _success)),
            "censored": to_json(_over_tasks(per_label[Outcome.CENSORED], _success)),
            "failed or censored": to_json(_over_tasks(cut, _success)),
        },
        "labels": {label.value: _of_label(those) for label, those in per_label.items() if those},
        "golden_minus": {
            label.value: _golden_minus(per_label[Outcome.GOLDEN], per_label[label])
            for label in (Outcome.CENSORED, Outcome.FAILED)
        },
    }


def _of_label(those: Sequence[Branch]) -> dict[str, JSON]:
    known = [branch for branch in those if branch.success is not None]
    return {
        "n_branches": len(those),
        "n_unknown": len(those) - len(known),
        "n_over": sum(branch.sibling.over for branch in those),
        "n_earned": sum(branch.sibling.earned for branch in those),
        "n_continuations": sum(len(branch.hits) for branch in those),
        "n_broken": sum(branch.num_broken for branch in those),
        "n_succeeded_once": sum(bool(branch.success) for branch in known),
        "n_likely": sum(branch.chance.low > 0.5 for branch in known),
        "p_success": to_json(_over_tasks(those, _success)),
        "full_success": to_json(_over_tasks(those, _full_success)),
    }


def _golden_minus(golden: Sequence[Branch], others: Sequence[Branch]) -> JSON:
    """Golden branches minus their siblings of another label, paired at the place of the choice."""
    mine, theirs = (_by_decision(golden), _by_decision(others))
    shared = mine.keys() & theirs.keys()
    first: dict[str, list[float]] = defaultdict(list)
    second: dict[str, list[float]] = defaultdict(list)
    for decision in sorted(shared):
        first[decision[0]].append(_mean(theirs[decision]))
        second[decision[0]].append(_mean(mine[decision]))
    gap = paired_difference(first, second)
    return None if gap is None else asdict(gap)


def _by_decision(those: Iterable[Branch]) -> Mapping[tuple[str, int, int], list[float]]:
    found: dict[tuple[str, int, int], list[float]] = defaultdict(list)
    for branch in those:
        if branch.success is not None:
            sibling = branch.sibling
            found[sibling.task_id, sibling.trial, sibling.decision].append(branch.success)
    return found


def _over_tasks(
    those: Iterable[Branch], value: Callable[[Branch], float | None]
) -> Estimate | None:
    by_task: dict[str, list[float]] = defaultdict(list)
    for branch in those:
        known = value(branch)
        if known is not None:
            by_task[branch.sibling.task_id].append(known)
    return mean_over_tasks(by_task)


def _success(branch: Branch) -> float | None:
    return branch.success


def _full_success(branch: Branch) -> float | None:
    return branch.full_success


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
