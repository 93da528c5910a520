"""What a policy learns from: the exact tokens of model calls, by turns, and what these earned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from drl.types import Sampled


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """The model calls that make one turn of the agent, and what the turn earned.

    `token_rewards` are earned by single tokens on top of `reward`: one row for each call, one
    number for each of its sampled tokens. `weight` and `advantage` are those of a credit assigner:
    with weight 0 a turn is context only; a given advantage replaces the learner's estimate.
    """

    calls: tuple[Sampled, ...]
    reward: float
    token_rewards: tuple[tuple[float, ...], ...] | None = None
    weight: float = 1.0
    advantage: float | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """The turns of one dialogue, or of one text.

    `group` names what dialogues that are compared with one another share: task, or prompt.
    `next_prompt` is the prompt that would have come next, where the dialogue was cut before its
    own end: its value stands for the rewards that were not seen. None: nothing more was to come.
    """

    turns: tuple[TurnRecord, ...]
    group: str
    next_prompt: tuple[int, ...] | None = None

    @property
    def total(self) -> float:
        """All that it earned."""
        return sum(
            turn.reward + sum(sum(row) for row in turn.token_rewards or ()) for turn in self.turns
        )


def group_numbers(trajectories: Sequence[Trajectory]) -> list[int]:
    """The number of the group of each, from 0 on, in the order in which groups come."""
    numbers: dict[str, int] = {}
    return [numbers.setdefault(each.group, len(numbers)) for each in trajectories]
