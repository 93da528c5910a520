"""One agent under several customers: what it earns with each, and how far that is from the first.

An agent that was tuned on one simulated customer may have learnt that customer rather than the
task; with another one it then earns less.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field

from drl.evaluation.intervals import mean_over_tasks, to_json
from drl.evaluation.paired import Difference, holm, paired_difference
from drl.evaluation.summary import ByTask
from drl.tree.dialogue_tree import FULL_SCORE, DialogueTree
from drl.types import JSON

_COMPARED = ("mean_reward", "full_success")


@dataclass(slots=True)
class UserResult:
    """What one customer's dialogues came to, by measure and task; broken ones are only counted."""

    measures: dict[str, ByTask] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    num_errors: int = 0
    num_unscored: int = 0

    def to_json(self) -> dict[str, JSON]:
        """Each measure as value, low, high and n."""
        names = (*_COMPARED, "agent_calls")
        return {
            **{name: to_json(mean_over_tasks(self.measures[name])) for name in names},
            "n_errors": self.num_errors,
            "n_unscored": self.num_unscored,
        }


def user_result(trees: Iterable[DialogueTree]) -> UserResult:
    """Sums up the trees of one run; the best dialogue of each stands for it."""
    result = UserResult()
    for tree in trees:
        result.measures["agent_calls"][tree.task_id].append(tree.num_agent_calls)
        best = tree.best_leaf()
        if tree.is_broken:
            result.num_errors += 1
        elif best is None or best.score is None:
            result.num_unscored += 1
        else:
            result.measures["mean_reward"][tree.task_id].append(best.score)
            result.measures["full_success"][tree.task_id].append(float(best.score >= FULL_SCORE))
    return result


def compare_users(results: Mapping[str, UserResult]) -> dict[str, JSON]:
    """The rows by customer, and each customer minus the first over the tasks that both have.

    `p_holm` is corrected over the customers, for each measure on its own.
    """
    first, *others = results
    return {
        "users": {user: result.to_json() for user, result in results.items()},
        "against": first,
        "differences": {
            measure: _differences(results, first, others, measure) for measure in _COMPARED
        },
    }


def _differences(
    results: Mapping[str, UserResult], first: str, others: list[str], measure: str
) -> dict[str, JSON]:
    found: dict[str, Difference] = {}
    for user in others:
        gap = paired_difference(results[first].measures[measure], results[user].measures[measure])
        if gap is not None:
            found[user] = gap
    corrected = holm(list(found.values()))
    return {
        user: {**asdict(gap), "p_holm": joint.p}
        for (user, gap), joint in zip(found.items(), corrected, strict=True)
    }
