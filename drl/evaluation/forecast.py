"""What a whole run will take, foretold from a handful of its rollouts.

Everything but time is the mean per rollout times the number of rollouts. Intervals are Student's t
over tasks, corrected for drawing without replacement: from a handful, resampling gives intervals
that are too narrow (of 5 of ToolWOZ's 450 searches, 87 % held the true number of calls, those of t
93 %). They reckon with the luck of the draw alone.

Time is foretold by playing the run with the drawn rollouts in place of all others: as many workers
as the run may have take one rollout after the other. Each takes the time in which at least one of
its requests was under way (or the clock's time, if that is longer: tools may wait for something).
All become slower where more requests than allowed would be under way. What cannot run side by side
is a lower bound: the program's own work, and the work of models that compute here. The limits:
servers are taken to answer a full load as fast as the handful, and a local model, which in truth
gains from larger batches, as slowly; with about as many workers as rollouts, the run takes as long
as its longest rollout, which may well be longer than any that was drawn.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import sqrt
from random import Random

from scipy.stats import t as student

from drl.calls.ledger import Entry
from drl.calls.prices import Price
from drl.evaluation.intervals import CONFIDENCE

COUNTS = ("requests", "tokens_in", "tokens_cached", "tokens_out")
Use = tuple[str, str]
"""Purpose and model."""


@dataclass(slots=True)
class Spent:
    """What one purpose asked of one model in a rollout; samples of one request share its tokens."""

    requests: float = 0.0
    tokens_in: float = 0.0
    tokens_cached: float = 0.0
    tokens_out: float = 0.0

    def usd(self, price: Price) -> float:
        """Dollars for it."""
        fresh = self.tokens_in - self.tokens_cached
        dollars = fresh * price.input + self.tokens_cached * price.cached_input
        return (dollars + self.tokens_out * price.output) / 1e6


@dataclass(slots=True)
class RolloutCost:
    """What one rollout took.

    `spans` are the times, as Unix time, at which a request to a model was under way. `wall_s` is
    what the clock showed, which is little where answers were kept; `own_s` this program's work.
    """

    task_id: str
    spent: dict[Use, Spent] = field(default_factory=dict)
    spans: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    wall_s: float = 0.0
    own_s: float = 0.0

    def model_seconds(self, models: Iterable[str]) -> float:
        """Time in which at least one request to these models was under way."""
        return _union(span for model in models for span in self.spans.get(model, ()))

    @property
    def request_seconds(self) -> float:
        """Time of all requests, added up."""
        return sum(end - start for spans in self.spans.values() for start, end in spans)

    @property
    def duration_s(self) -> float:
        """Time from its beginning to its end."""
        return max(self.wall_s, self.model_seconds(self.spans) + self.own_s)


@dataclass(frozen=True, slots=True)
class Predicted:
    """A total, and the bounds of its 95 % interval; None where one rollout is all there is."""

    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Plan:
    """The run: its rollouts, how many requests it keeps under way, and what models cost.

    A price of None is not known. Models that are `computing` share this machine.
    """

    num_rollouts: int
    concurrency: int
    prices: Mapping[str, Price | None]
    computing: frozenset[str]


@dataclass(frozen=True, slots=True)
class Forecast:
    """The whole run, by purpose and model; dollars are None where a price is not known."""

    counts: Mapping[Use, Mapping[str, Predicted]]
    usd_by_use: Mapping[Use, Predicted | None]
    usd: Predicted | None
    seconds: Predicted
    spent_usd: float | None
    """Dollars that the drawn rollouts took, which the run will not pay again."""


def costs(entries: Iterable[Entry], times: Mapping[str, tuple[float, float]]) -> list[RolloutCost]:
    """What each rollout in `times` took: task -> (wall seconds, own seconds).

    Every sample counts once, whether it was asked or kept, and however often.
    """
    found = {task: RolloutCost(task, wall_s=wall, own_s=own) for task, (wall, own) in times.items()}
    seen: set[tuple[str, str]] = set()
    requests: set[tuple[str, str, str, float]] = set()
    for entry in entries:
        cost = found.get(entry.task_id or "")
        new = [key for key in entry.keys if (entry.model, key) not in seen]
        if cost is None or not new:
            continue
        seen.update((entry.model, key) for key in new)
        spent = cost.spent.setdefault((entry.purpose, entry.model), Spent())
        share = len(new) / len(entry.keys)
        spent.tokens_in += entry.tokens_in * share
        spent.tokens_cached += entry.tokens_cached * share
        spent.tokens_out += entry.tokens_out * share
        request = (cost.task_id, entry.purpose, entry.model, entry.began)
        if request not in requests:
            requests.add(request)
            spent.requests += 1
            spans = cost.spans.setdefault(entry.model, [])
            spans.append((entry.began, entry.began + entry.seconds))
    return _with_shared_work(list(found.values()))


def _with_shared_work(found: list[RolloutCost]) -> list[RolloutCost]:
    """The own work of rollouts that ran side by side is known in sum only: by requests."""
    requests = [sum(spent.requests for spent in cost.spent.values()) for cost in found]
    work = sum(cost.own_s for cost in found)
    if any(requests):
        for cost, its in zip(found, requests, strict=True):
            cost.own_s = work * its / sum(requests)
    return found


def forecast(drawn: Sequence[RolloutCost], plan: Plan) -> Forecast:
    """The whole run from its drawn rollouts, of which there is at least one."""
    uses = sorted({use for cost in drawn for use in cost.spent})
    spent = {use: [cost.spent.get(use, Spent()) for cost in drawn] for use in uses}
    counts = {
        use: {
            name: total([asdict(one)[name] for one in spent[use]], plan.num_rollouts)
            for name in COUNTS
        }
        for use in uses
    }
    dollars: dict[Use, list[float] | None] = {}
    for use in uses:
        price = plan.prices[use[1]]
        dollars[use] = None if price is None else [one.usd(price) for one in spent[use]]
    known = [values for values in dollars.values() if values is not None]
    per_rollout = [sum(values) for values in zip(*known, strict=True)] or [0.0] * len(drawn)
    is_known = len(known) == len(dollars)
    return Forecast(
        counts=counts,
        usd_by_use={
            use: None if values is None else total(values, plan.num_rollouts)
            for use, values in dollars.items()
        },
        usd=total(per_rollout, plan.num_rollouts) if is_known else None,
        seconds=wall_time(drawn, plan),
        spent_usd=sum(per_rollout) if is_known else None,
    )


def total(values: Sequence[float], num_rollouts: int) -> Predicted:
    """The sum over all rollouts, from the values of those that were drawn.

    It is never less than what the drawn ones have taken already.
    """
    n = len(values)
    mean = sum(values) / n
    if n == num_rollouts:
        return Predicted(sum(values), sum(values), sum(values))
    if n == 1:
        return Predicted(mean * num_rollouts, None, None)
    variance = sum((value - mean) ** 2 for value in values) / (n - 1)
    error = num_rollouts * sqrt(variance / n * (1 - n / num_rollouts))
    half = float(student.ppf((1 + CONFIDENCE) / 2, n - 1)) * error
    value = mean * num_rollouts
    return Predicted(value, max(value - half, sum(values)), value + half)


def wall_time(drawn: Sequence[RolloutCost], plan: Plan) -> Predicted:
    """Seconds of the whole run (see the module); the interval is that of what takes the time."""
    durations = [cost.duration_s for cost in drawn]
    workers = min(plan.concurrency, plan.num_rollouts)
    in_flight = sum(c.request_seconds for c in drawn) / (sum(durations) or 1.0)
    slower = max(1.0, in_flight * workers / plan.concurrency)
    draw = Random(0)
    played = _makespan([slower * draw.choice(durations) for _ in range(plan.num_rollouts)], workers)
    own = [cost.own_s for cost in drawn]
    # a model on this machine works on requests of several rollouts at once: their time counts once
    local = _union(s for c in drawn for model in plan.computing for s in c.spans.get(model, ()))
    per_local = [cost.model_seconds(plan.computing) for cost in drawn]
    scale = plan.num_rollouts / len(drawn)
    seconds, taking = max(
        (played, durations), (sum(own) * scale, own), (local * scale, per_local), key=lambda p: p[0]
    )
    mean = total(taking, plan.num_rollouts)
    if mean.low is None or mean.high is None or not mean.value:
        return Predicted(seconds, None, None)
    return Predicted(seconds, seconds * mean.low / mean.value, seconds * mean.high / mean.value)


def _makespan(durations: Sequence[float], workers: int) -> float:
    """When the last of the workers is done, who take one rollout after the other."""
    free_at = [0.0] * workers
    for duration in durations:
        heapq.heapreplace(free_at, free_at[0] + duration)
    return max(free_at)


def _union(spans: Iterable[tuple[float, float]]) -> float:
    """Length of what the spans cover together."""
    covered, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        covered += max(0.0, end - max(start, until))
        until = max(until, end)
    return covered
