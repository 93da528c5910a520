"""What `reward_then_policy` found: the course of the policy, the choice, the test, curves, samples.

Nothing here chooses by contexts of the test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from drl.evaluation.intervals import mean_over_tasks
from drl.evaluation.policy_course import (
    JUDGE,
    KL,
    MEASURES,
    PROXY,
    REWARDS,
    Choice,
    Reply,
    against_best_of_n,
    best_of_n,
    choose,
    described,
    differences,
    line,
    values_of,
)
from drl.evaluation.study_samples import Message, PairedSample
from drl.trainer._policy_measures import Measured
from drl.trainer._policy_replies import Said, conversation_of, human_reply_to
from drl.types import JSON, Role

RULE = (
    "the last update before the judge finds one worse than an earlier one by more than a standard "
    "error of their paired difference over conversations; 0 is the start"
)
_BASIC = {Role.AGENT: "assistant", Role.USER: "user"}


@dataclass(frozen=True, slots=True)
class Course:
    """The policy at each evaluated update, and many replies of the start in the same contexts."""

    by_update: Mapping[int, Measured]
    draws: Measured

    def choice(self) -> Choice:
        """The update to use.

        Raises:
            DataError: there are too few conversations to tell.
        """
        return choose(
            {update: values_of(each.replies, JUDGE) for update, each in self.by_update.items()}
        )

    def knows(self, name: str) -> bool:
        """Whether a measure is known of any reply."""
        return any(
            reply.measures[name] is not None
            for each in self.by_update.values()
            for reply in each.replies
        )

    def to_json(self) -> list[JSON]:
        """A row for each update."""
        return [
            {
                "update": update,
                **described(each.replies),
                "broken": each.num_broken,
                "best_of_n": against_best_of_n(each.replies, self.draws.replies),
            }
            for update, each in self.by_update.items()
        ]

    def curves(self) -> dict[str, JSON]:
        """Charts of all measures against updates and against the distance to the start.

        The rewards of the two models share a unit and a chart, since where they part is what it is
        about. Beside each reward the best of n replies of the start stand at their own distance.
        """
        shown = [name for name in MEASURES if self.knows(name)]
        in_one = [name for name in shown if name in (PROXY, JUDGE)]
        alone = [name for name in shown if name not in in_one]
        found: dict[str, JSON] = {"proxy and judge by update": self._by_update(in_one)}
        found |= {f"{name} by update": self._by_update([name]) for name in alone}
        found["proxy and judge by KL"] = self._by_distance(in_one)
        return found | {f"{name} by KL": self._by_distance([name]) for name in alone if name != KL}

    def _by_update(self, names: Sequence[str]) -> dict[str, JSON]:
        lines: dict[str, JSON] = {
            name: line(
                [
                    (float(update), mean_over_tasks(values_of(each.replies, name)))
                    for update, each in self.by_update.items()
                ]
            )
            for name in names
        }
        return {"lines": lines, "x_label": "update"}

    def _by_distance(self, names: Sequence[str]) -> dict[str, JSON]:
        lines: dict[str, JSON] = {
            name: line(
                [
                    (_distance(each.replies), mean_over_tasks(values_of(each.replies, name)))
                    for each in self.by_update.values()
                ]
            )
            for name in names
        }
        lines |= {
            f"{name}, best of n": {**self._of_best(name), "beside": name}
            for name in names
            if name in REWARDS
        }
        return {"lines": lines, "x_label": "KL, nats a text"}

    def _of_best(self, name: str) -> dict[str, JSON]:
        """The best of n replies of the start, for the distance of each update."""
        where = {reply.task_id: reply.conversation_id for reply in self.draws.replies}
        points = {}
        for each in self.by_update.values():
            best = best_of_n(self.draws.replies, _distance(each.replies))
            values: dict[str, list[float]] = {}
            for task_id, worth in best.worths[name].items():
                values.setdefault(where[task_id], []).append(worth)
            points[best.kl] = mean_over_tasks(values)
        return line(list(points.items()))


def reported(start: Measured, after: Measured | None) -> dict[str, JSON]:
    """The start and the chosen policy in the contexts of the test; None is the start itself.

    Args:
        start: several replies in each context.
        after: of the chosen policy.
    """
    found: dict[str, JSON] = {
        "contexts": len({reply.task_id for reply in start.replies}),
        "conversations": len({reply.conversation_id for reply in start.replies}),
        "start": {**described(start.replies), "broken": start.num_broken},
    }
    if after is None:
        return found
    return {
        **found,
        "chosen": {**described(after.replies), "broken": after.num_broken},
        "chosen_minus_start": differences(start.replies, after.replies),
        "best_of_n": against_best_of_n(after.replies, start.replies),
    }


def paired_samples(start: Sequence[Said], after: Sequence[Said] | None) -> list[PairedSample]:
    """For people to judge: the first reply of each in each context, and what a human said there."""
    first, second = _first(start), None if after is None else _first(after)
    found = []
    for task_id, said in first.items():
        candidates = {"start": said.text, "human": human_reply_to(said.task)}
        if second is not None:
            if task_id not in second:  # it broke there
                continue
            candidates["chosen"] = second[task_id].text
        context = tuple(
            Message(role=_BASIC[turn.role], content=turn.text or "") for turn in said.task.opening
        )
        found.append(
            PairedSample(
                id=task_id,
                conversation=conversation_of(said.task),
                context=context,
                candidates=candidates,
            )
        )
    return found


def reward_model_told(summary: Mapping[str, JSON], folder: Path) -> dict[str, JSON]:
    """What the whole summary repeats of a reward model's own."""
    keys = (
        *("method", "encoder", "held_out", "global_mse", "constant_mse", "local_difference"),
        *("auroc_positive", "spearman_session", "spearman_hidden", "warnings", "seed"),
    )
    told = {key: summary[key] for key in keys if key in summary}
    return {"run": f"{folder.parent.name}/{folder.name}", **told}


def _first(said: Sequence[Said]) -> dict[str, Said]:
    found: dict[str, Said] = {}
    for each in said:  # by context, then by trial
        found.setdefault(each.task.id, each)
    return found


def _distance(replies: Sequence[Reply]) -> float:
    estimate = mean_over_tasks(values_of(replies, KL))
    assert estimate is not None, "the KL of every reply is known"
    return estimate.value
