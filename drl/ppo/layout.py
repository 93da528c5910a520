"""Trajectories laid out for a model: token sequences, and where decisions stand in them.

Calls of a dialogue share a sequence where the next prompt extends the last one with its output
exactly, token by token; nothing is rendered or tokenised anew. Encoder-decoder models have one
sequence for each call: the prompt goes into the encoder.

Order: tokens (N), turns (U) and decisions (D) are numbered through all trajectories.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from drl.errors import DataError
from drl.ppo.faults import fault_of
from drl.ppo.trajectory import Trajectory, TurnRecord
from drl.types import Sampled

Level = Literal["token", "turn", "dialogue"]
"""What one decision is: what has a value of its own, and what gamma and lambda count."""


@dataclass(frozen=True, slots=True)
class Span:
    """Sampled tokens in a sequence: places `start` to `end`, from token number `first` on."""

    first: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ValueSite:
    """Where the value of a decision is read: the last token before it."""

    decision: int
    place: int


@dataclass(slots=True)
class TokenSequence:
    """Tokens that a model reads in one go; `encoder_ids` only for encoder-decoder models."""

    ids: list[int]
    encoder_ids: tuple[int, ...] | None = None
    spans: list[Span] = field(default_factory=list)
    sites: list[ValueSite] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Layout:
    """All that a learner needs to know of the order of things."""

    sequences: tuple[TokenSequence, ...]
    after: tuple[TokenSequence, ...]
    """Prompts that would have come next; the decision of a site is a trajectory here."""
    token_decision: tuple[int, ...]
    token_turn: tuple[int, ...]
    token_trajectory: tuple[int, ...]
    decision_trajectory: tuple[int, ...]
    decision_weight: tuple[float, ...]
    decision_advantage: tuple[float | None, ...]
    rewards: tuple[float, ...]
    """Of each decision; those of tokens are in it."""
    sampled_log_probs: tuple[float, ...]
    """Of each token, as the sampler had them."""


def lay_out(trajectories: Sequence[Trajectory], level: Level, decoder_start: int | None) -> Layout:
    """Trajectories as sequences and decisions.

    Args:
        trajectories: with at least one sampled token each.
        level: what one decision is.
        decoder_start: what the decoder of an encoder-decoder model begins with; None for causal
            models.

    Raises:
        DataError: a prompt has no tokens, rewards do not fit their tokens or are no numbers to
            learn from, or a trajectory has nothing that was sampled.
    """
    builder = _Builder(level, decoder_start)
    for number, trajectory in enumerate(trajectories):
        fault = fault_of(trajectory)
        if fault is not None:
            raise DataError(f"trajectory {number} (group {trajectory.group}) {fault}")
        builder.add(number, trajectory)
    return builder.done()


class _Builder:
    """Walks through trajectories and numbers what it meets."""

    def __init__(self, level: Level, decoder_start: int | None) -> None:
        self._level = level
        self._decoder_start = decoder_start
        self._number = 0
        self._current: TokenSequence | None = None
        self._sequences: list[TokenSequence] = []
        self._after: list[TokenSequence] = []
        self._token_decision: list[int] = []
        self._token_turn: list[int] = []
        self._token_trajectory: list[int] = []
        self._num_turns = 0
        self._sampled: list[float] = []
        self._trajectory: list[int] = []
        self._weights: list[float] = []
        self._advantages: list[float | None] = []
        self._rewards: list[float] = []

    def add(self, number: int, trajectory: Trajectory) -> None:
        """Lay out one trajectory."""
        self._number = number
        self._current = None
        first = len(self._rewards)
        early = 0.0  # rewards of turns before the first decision
        for place, turn in enumerate(trajectory.turns):
            begins = self._level == "turn" or (self._level == "dialogue" and place == 0)
            if begins:
                self._decide(turn)
            self._read(turn, is_valued=begins)
            # a turn's reward comes with its last token; of one without, with the last before it
            if len(self._rewards) > first:
                self._rewards[-1] += turn.reward
            else:
                early += turn.reward
            self._num_turns += 1
        self._rewards[first] += early
        if trajectory.next_prompt is not None:
            sequence = self._opened(trajectory.next_prompt)
            sequence.sites.append(ValueSite(number, len(sequence.ids) - 1))
            self._after.append(sequence)

    def _decide(self, turn: TurnRecord) -> None:
        """Begin a decision."""
        self._trajectory.append(self._number)
        self._weights.append(turn.weight)
        self._advantages.append(turn.advantage)
        self._rewards.append(0.0)

    def _read(self, turn: TurnRecord, *, is_valued: bool) -> None:
        """Put the calls of a turn into sequences; `is_valued` reads a value before the first."""
        for number, call in enumerate(turn.calls):
            sequence = self._continued(call)
            start = len(sequence.ids)
            if is_valued and number == 0:
                self._value(sequence, start)
            sequence.ids.extend(call.token_ids)
            if turn.weight > 0 and call.token_ids:
                sequence.spans.append(Span(len(self._sampled), start, len(sequence.ids)))
            rewards = None if turn.token_rewards is None else turn.token_rewards[number]
            self._number_tokens(turn, call, rewards, sequence, start)

    def _number_tokens(
        self,
        turn: TurnRecord,
        call: Sampled,
        rewards: Sequence[float] | None,
        sequence: TokenSequence,
        start: int,
    ) -> None:
        """Say of each token of a call, from place `start` on, what it belongs to and earned."""
        for place in range(len(call.token_ids)):
            if self._level == "token":
                self._decide(turn)
                self._value(sequence, start + place)
            if rewards is not None:
                self._rewards[-1] += rewards[place]
            if turn.weight > 0:
                self._token_decision.append(len(self._rewards) - 1)
                self._token_turn.append(self._num_turns)
                self._token_trajectory.append(self._number)
                self._sampled.append(call.log_probs[place])

    def _value(self, sequence: TokenSequence, start: int) -> None:
        """Read the value of the last decision at the token before its first."""
        sequence.sites.append(ValueSite(len(self._rewards) - 1, start - 1))

    def _continued(self, call: Sampled) -> TokenSequence:
        """The sequence that a call stands in, up to the end of its prompt."""
        current = self._current
        if self._decoder_start is None and current is not None:
            prompt = list(call.prompt_ids)
            if prompt[: len(current.ids)] == current.ids:
                current.ids.extend(prompt[len(current.ids) :])
                return current
        self._current = self._opened(call.prompt_ids)
        self._sequences.append(self._current)
        return self._current

    def _opened(self, prompt: tuple[int, ...]) -> TokenSequence:
        """A new sequence up to the end of a prompt."""
        if self._decoder_start is not None:
            return TokenSequence([self._decoder_start], encoder_ids=prompt)
        return TokenSequence(list(prompt))

    def done(self) -> Layout:
        """Everything, as it was numbered."""
        return Layout(
            sequences=tuple(self._sequences),
            after=tuple(self._after),
            token_decision=tuple(self._token_decision),
            token_turn=tuple(self._token_turn),
            token_trajectory=tuple(self._token_trajectory),
            decision_trajectory=tuple(self._trajectory),
            decision_weight=tuple(self._weights),
            decision_advantage=tuple(self._advantages),
            rewards=tuple(self._rewards),
            sampled_log_probs=tuple(self._sampled),
        )


def decisions_of(layout: Layout) -> Iterator[range]:
    """The decisions of each trajectory that has some, in order."""
    start = 0
    for place, trajectory in enumerate(layout.decision_trajectory):
        if place and trajectory != layout.decision_trajectory[place - 1]:
            yield range(start, place)
            start = place
    if layout.decision_trajectory:
        yield range(start, len(layout.decision_trajectory))
