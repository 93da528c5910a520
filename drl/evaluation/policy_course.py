"""A policy on its way away from where it began: what its replies are worth, and where to stop.

It learns from one reward, the proxy. A judge that learned from other data tells when the proxy
goes on rising while replies become no better: from there on the policy learns the proxy's faults
(Gao, Schulman and Hilton 2022, arXiv:2210.10760).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations

import numpy as np

from drl.errors import DataError
from drl.evaluation.best_of_n import best_of_kl, tries_at, worth_of_best
from drl.evaluation.intervals import Estimate, mean_over_tasks, to_json
from drl.evaluation.paired import Difference, paired_difference, paired_gaps
from drl.evaluation.reply_measures import distinct_pairs_of_all
from drl.evaluation.turn_rewards_weighted import rank_correlation
from drl.types import JSON

PROXY, JUDGE, HIDDEN = "proxy", "judge", "hidden"
REWARDS = (PROXY, JUDGE, HIDDEN)
KL = "kl"
MEASURES = (*REWARDS, KL, "sentiment", "words", "distinct_pairs")
"""What is known of a reply: three rewards (the hidden one of generated conversations alone), the KL
to the start in nats a text, and what no reward looks at."""

Values = Mapping[str, Sequence[float]]
"""Conversation -> one value for each context in it, over which trials are averaged."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a policy said in one place of a conversation. A measure is None where it is unknown."""

    task_id: str
    conversation_id: str
    text: str
    measures: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Choice:
    """The update to use. `parted_at`: the first one that the judge finds worse than one before."""

    update: int
    parted_at: int | None


@dataclass(frozen=True, slots=True)
class BestOfN:
    """The best of `number` replies of the start, by the proxy, and what they are worth.

    `kl` is their distance to the start. `is_nearer`: there were not enough replies to go as far as
    the policy. `worths` by reward and context.
    """

    number: int
    kl: float
    is_nearer: bool
    worths: Mapping[str, Mapping[str, float]]


def values_of(replies: Sequence[Reply], name: str) -> Values:
    """A measure by conversation, where it is known."""
    return _by_conversation(_by_context(replies, name), _conversations(replies))


def described(replies: Sequence[Reply]) -> dict[str, JSON]:
    """All measures with intervals over conversations; how many hidden rewards could be read."""
    known = [reply.measures[HIDDEN] is not None for reply in replies]
    return {
        **{name: to_json(mean_over_tasks(values_of(replies, name))) for name in MEASURES},
        "distinct_pairs_of_all": distinct_pairs_of_all([reply.text for reply in replies]),
        "hidden_known": sum(known) / len(known) if known else None,
        "replies": len(replies),
    }


def choose(judged: Mapping[int, Values]) -> Choice:
    """The last update before the judge finds one worse than one before it.

    Updates are looked at in their order. One is worse where the judge's mean lies below the best so
    far by more than a standard error of their paired difference over conversations; from there on
    nothing is chosen any more. Update 0 is the start: it is chosen where already the first
    evaluation is worse.

    Args:
        judged: by update, what the judge gives, on contexts that are for choosing.

    Raises:
        DataError: less than two conversations are shared, so there is no standard error.
    """
    first, *others = sorted(judged)
    best = chosen = first
    for update in others:
        gaps = np.array(list(paired_gaps(judged[best], judged[update]).values()))
        if gaps.size < 2:
            raise DataError(
                f"updates {best} and {update} share {gaps.size} conversations, and at least 2 are "
                "needed to tell which is better; evaluate on more (eval_dataset)"
            )
        if float(gaps.mean()) < -float(gaps.std(ddof=1)) / math.sqrt(gaps.size):
            return Choice(chosen, update)
        chosen = update
        if float(gaps.mean()) > 0:
            best = update
    return Choice(chosen, None)


def best_of_n(draws: Sequence[Reply], kl: float) -> BestOfN:
    """The best of as many replies of the start as take it as far as a policy went.

    Args:
        draws: several of the start in each context; as many as where there are fewest are used.
        kl: of the policy, in nats a text.
    """
    by_context: dict[str, list[Reply]] = {}
    for reply in draws:
        by_context.setdefault(reply.task_id, []).append(reply)
    most = min(len(replies) for replies in by_context.values())
    number = tries_at(kl, most)
    worths: dict[str, dict[str, float]] = {name: {} for name in REWARDS}
    for task_id, replies in by_context.items():
        proxy = [_known(reply, PROXY) for reply in replies]
        for name in REWARDS:
            worth = worth_of_best(proxy, [reply.measures[name] for reply in replies], number)
            if worth is not None:
                worths[name][task_id] = worth
    return BestOfN(number, best_of_kl(number), tries_at(kl, most + 1) > most, worths)


def against_best_of_n(replies: Sequence[Reply], draws: Sequence[Reply]) -> dict[str, JSON]:
    """A policy held against the best of n replies of the start at its own distance.

    Args:
        replies: of the policy.
        draws: of the start, in the same contexts.
    """
    distance = mean_over_tasks(values_of(replies, KL))
    assert distance is not None, "the KL of every reply is known"
    best = best_of_n(draws, distance.value)
    where = _conversations([*replies, *draws])
    found: dict[str, JSON] = {"n": best.number, "kl": best.kl, "is_nearer": best.is_nearer}
    for name in REWARDS:
        of_best = {task: [worth] for task, worth in best.worths[name].items()}
        found[name] = to_json(mean_over_tasks(_by_conversation(of_best, where)))
        difference = _paired(of_best, _by_context(replies, name), where)
        found[f"{name}_of_policy_minus_this"] = None if difference is None else asdict(difference)
    return found


def agreement(draws: Sequence[Reply]) -> dict[str, JSON]:
    """Rank correlations (Spearman) of the rewards over replies to the same context.

    How well one reward tells better replies of the start from worse ones by the measure of another:
    where it is about 0, a choice by the first means nothing to the second. It is 0 in a context
    whose replies the first finds all alike; those that the second finds all alike are left out.

    Args:
        draws: several replies of one policy in each context.
    """
    where = _conversations(draws)
    found: dict[str, JSON] = {}
    for first, second in combinations(REWARDS, 2):
        by_context: dict[str, list[float]] = {}
        for task_id, pairs in _pairs(draws, first, second).items():
            one, two = np.array(pairs).T
            value = float(rank_correlation(one, two, np.ones((1, len(pairs))))[0])
            if math.isfinite(value):
                by_context[task_id] = [value]
        name = f"{first}_and_{second}"
        found[name] = to_json(mean_over_tasks(_by_conversation(by_context, where)))
    return found


def differences(start: Sequence[Reply], after: Sequence[Reply]) -> dict[str, JSON]:
    """All measures after learning minus at the start, in the contexts that have both."""
    where = _conversations([*start, *after])
    found: dict[str, JSON] = {}
    for name in MEASURES:
        if name == KL:  # which is a difference already
            continue
        gap = _paired(_by_context(start, name), _by_context(after, name), where)
        found[name] = None if gap is None else asdict(gap)
    return found


def line(points: Sequence[tuple[float, Estimate | None]]) -> dict[str, JSON]:
    """A line of a chart with its band; points without an estimate are gaps."""
    ordered = sorted(points, key=lambda point: point[0])
    known = [estimate for _, estimate in ordered]
    return {
        "x": [x for x, _ in ordered],
        "y": [None if each is None else each.value for each in known],
        "low": [None if each is None else each.low for each in known],
        "high": [None if each is None else each.high for each in known],
    }


def _pairs(
    replies: Sequence[Reply], first: str, second: str
) -> dict[str, list[tuple[float, float]]]:
    """Two measures of each reply that has both, by context."""
    found: dict[str, list[tuple[float, float]]] = {}
    for reply in replies:
        one, two = reply.measures[first], reply.measures[second]
        if one is not None and two is not None:
            found.setdefault(reply.task_id, []).append((one, two))
    return found


def _by_context(replies: Sequence[Reply], name: str) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for reply in replies:
        value = reply.measures[name]
        if value is not None:
            found.setdefault(reply.task_id, []).append(value)
    return found


def _by_conversation(by_context: Values, where: Mapping[str, str]) -> dict[str, list[float]]:
    """Means of contexts by conversation, so that all its contexts count alike."""
    found: dict[str, list[float]] = {}
    for task_id, values in sorted(by_context.items()):
        found.setdefault(where[task_id], []).append(float(np.mean(values)))
    return found


def _conversations(replies: Sequence[Reply]) -> dict[str, str]:
    return {reply.task_id: reply.conversation_id for reply in replies}


def _paired(first: Values, second: Values, where: Mapping[str, str]) -> Difference | None:
    """Second minus first in the contexts that have both, by conversation."""
    shared = first.keys() & second.keys()
    one, two = (
        _by_conversation({task: values[task] for task in shared}, where)
        for values in (first, second)
    )
    return paired_difference(one, two)


def _known(reply: Reply, name: str) -> float:
    value = reply.measures[name]
    assert value is not None, "the proxy rewards every reply"
    return value
