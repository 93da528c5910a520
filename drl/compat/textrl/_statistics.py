"""Running means of an agent's updates, under pfrl's names and in its order."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping

_DECISIONS = 1000
_UPDATES = 100


class Statistics:
    """What the last thousand decisions and the last hundred updates were like."""

    def __init__(self) -> None:
        self._values: deque[float] = deque(maxlen=_DECISIONS)
        self._entropies: deque[float] = deque(maxlen=_DECISIONS)
        self._value_losses: deque[float] = deque(maxlen=_UPDATES)
        self._policy_losses: deque[float] = deque(maxlen=_UPDATES)
        self._explained = math.nan
        self._num_steps = 0

    def add(self, numbers: Mapping[str, float]) -> None:
        """Take in what an update told; its decisions count with their mean."""
        count = min(int(numbers["num_tokens"]), _DECISIONS)
        self._values.extend([numbers["val/mean"]] * count)
        self._entropies.extend([numbers["objective/entropy"]] * count)
        self._value_losses.append(2 * numbers["loss/value_avg"])  # of whole squared errors
        self._policy_losses.append(numbers["loss/policy_avg"])
        self._explained = numbers["val/explained_variance"]
        self._num_steps += int(numbers["num_steps"])

    def named(self) -> list[tuple[str, float]]:
        """All of them; NaN where there is nothing yet."""
        return [
            ("average_value", _mean(self._values)),
            ("average_entropy", _mean(self._entropies)),
            ("average_value_loss", _mean(self._value_losses)),
            ("average_policy_loss", _mean(self._policy_losses)),
            ("n_updates", self._num_steps),
            ("explained_variance", self._explained),
        ]


def told(named: Iterable[tuple[str, float]]) -> str:
    """Statistics on one line for people; a dash where there is nothing yet."""
    return ", ".join(f"{name} {'-' if math.isnan(v) else format(v, '.4g')}" for name, v in named)


def _mean(numbers: Iterable[float]) -> float:
    kept = list(numbers)
    return sum(kept) / len(kept) if kept else math.nan
