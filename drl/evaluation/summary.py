"""What a run's trees amount to: rewards with intervals, errors, measures, cost in calls."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from drl.evaluation.conduct import conduct
from drl.evaluation.intervals import mean_over_tasks, pass_hat_k, to_json
from drl.tree.dialogue_tree import FULL_SCORE, DialogueTree
from drl.types import JSON, Outcome, Task

ByTask = defaultdict[str, list[float]]


def _by_task() -> ByTask:
    return defaultdict(list)


@dataclass(slots=True)
class Tally:
    """Sums up trees one at a time; holds numbers only, never the trees.

    Goals are left out where the reward closes none: they would all seem to be missed.
    """

    counts_goals: bool = True
    scores: ByTask = field(default_factory=_by_task)
    calls: ByTask = field(default_factory=_by_task)
    by_domain: dict[str, ByTask] = field(default_factory=lambda: defaultdict(_by_task))
    by_kind: dict[str, ByTask] = field(default_factory=lambda: defaultdict(_by_task))
    by_group: dict[str, ByTask] = field(default_factory=lambda: defaultdict(_by_task))
    measures: dict[str, ByTask] = field(default_factory=lambda: defaultdict(_by_task))
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    causes: Counter[str] = field(default_factory=Counter)
    num_errors: int = 0
    num_unscored: int = 0

    def add(self, task: Task, tree: DialogueTree) -> None:
        """Take one rollout into account; its best dialogue stands for it."""
        for leaf in tree.leaves():
            self.outcomes[tree.outcome(leaf)] += 1
        failures = [node.turn.failure for node in tree.nodes if node.turn.failure]
        self.causes.update(f"{failure.stage}: {failure.cause}" for failure in failures)
        self.calls[task.id].append(tree.num_agent_calls)
        best = tree.best_leaf()
        if tree.is_broken:
            self.num_errors += 1
            return
        if best is None or best.score is None:
            self.num_unscored += 1
            return
        self.scores[task.id].append(best.score)
        for kind, group in task.groups.items():
            self.by_group[f"{kind}: {group}"][task.id].append(best.score)
        for name, value in asdict(conduct(task, tree.dialogue(best.id))).items():
            if value is not None:
                self.measures[name][task.id].append(value)
        if self.counts_goals:
            self._add_goals(task, best.open_goals)

    def _add_goals(self, task: Task, open_goals: Sequence[int]) -> None:
        for group, key in ((self.by_domain, "domain"), (self.by_kind, "kind")):
            hits: dict[str, list[float]] = defaultdict(list)
            for index, goal in enumerate(task.goals):
                name = goal.domain if key == "domain" else goal.kind
                hits[name].append(float(index not in open_goals))
            for name, values in hits.items():
                group[name][task.id].append(sum(values) / len(values))

    def to_json(self) -> dict[str, JSON]:
        """The numbers, each as value, low, high and n."""
        full = {t: [score >= FULL_SCORE for score in scores] for t, scores in self.scores.items()}
        num_trials = max((len(trials) for trials in full.values()), default=0)
        return {
            "n_tasks": len(self.calls),
            "n_trials": max((len(trials) for trials in self.calls.values()), default=0),
            "n_scored": sum(map(len, self.scores.values())),
            "n_errors": self.num_errors,
            "n_unscored": self.num_unscored,
            "mean_reward": to_json(mean_over_tasks(self.scores)),
            "full_success": to_json(mean_over_tasks(full)),
            "pass_hat_k": {str(k): to_json(pass_hat_k(full, k)) for k in range(1, num_trials + 1)},
            "agent_calls": to_json(mean_over_tasks(self.calls)),
            "per_domain": {
                name: to_json(mean_over_tasks(v)) for name, v in _sorted(self.by_domain)
            },
            "per_goal_kind": {
                name: to_json(mean_over_tasks(v)) for name, v in _sorted(self.by_kind)
            },
            "per_group": {name: to_json(mean_over_tasks(v)) for name, v in _sorted(self.by_group)},
            "metrics": {name: to_json(mean_over_tasks(v)) for name, v in self.measures.items()},
            "branches": {outcome.value: n for outcome, n in self.outcomes.items()},
            "error_causes": dict(self.causes.most_common(20)),
        }


def tally(
    tasks: Iterable[Task], trees: Iterable[DialogueTree], *, counts_goals: bool = True
) -> Tally:
    """The tally of all trees whose task is among `tasks`."""
    by_id = {task.id: task for task in tasks}
    total = Tally(counts_goals=counts_goals)
    for tree in trees:
        total.add(by_id[tree.task_id], tree)
    return total


def _sorted(groups: Mapping[str, ByTask]) -> list[tuple[str, ByTask]]:
    return sorted(groups.items())
