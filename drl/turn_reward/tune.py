"""Labels train the encoder too: what a listener's face says is learned all the way down.

GELI learns from faces like this first, and from scores with what comes of it, frozen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor

from drl.errors import ConfigError, DataError
from drl.runtime.seeds import derive
from drl.turn_reward import head as heads
from drl.turn_reward.encoder import LoadedEncoder
from drl.turn_reward.head import Params
from drl.turn_reward.ragged import Layout, Ragged
from drl.turn_reward.session import Session
from drl.turn_reward.settings import HeadSettings, TuneSettings
from drl.turn_reward.text_format import TextFormat, TurnText
from drl.turn_reward.tokens import batches_by_length


class Labelled(NamedTuple):
    """A turn by its session and place in it, and its label."""

    session: Session
    place: int
    label: float


class Tuned(NamedTuple):
    """The head that learned with the encoder, for raw embeddings; and where both were best."""

    params: Params
    best_epoch: int
    best_val: float


def labelled_turns(sessions: Sequence[Session]) -> list[Labelled]:
    """All agent turns with a label, in order."""
    return [
        Labelled(session, place, reaction.label)
        for session in sessions
        for place in session.agent_turns
        if (reaction := session.turns[place].reaction) is not None and reaction.label is not None
    ]


def tune(
    encoder: LoadedEncoder,
    text_format: TextFormat,
    head: HeadSettings,
    settings: TuneSettings,
    train: Sequence[Session],
    val: Sequence[Session],
    *,
    seed: int,
    tell: Callable[[int, float, float], None] = lambda epoch, train_loss, val_loss: None,
) -> Tuned:
    """Train an encoder, in place, and a head; both end as they were in the best epoch.

    `tell` hears of every epoch: its number and both mean squared errors. Without labels to choose
    by (val), the last epoch is kept.

    Raises:
        DataError: no turn has a label.
        ConfigError: the encoder is not in float32.
    """
    if encoder.model.dtype != torch.float32:
        raise ConfigError(
            "trainer.encoder.dtype must be float32 where trainer.tune trains the encoder: steps "
            "are too small for bfloat16; set it"
        )
    lesson = _Lesson(encoder, text_format, head, settings, seed)
    turns, held_out = labelled_turns(train), labelled_turns(val)
    if not turns:
        raise DataError(
            "no training turn has a label, so there is nothing to train an encoder on; choose "
            "another dataset.labels.rule, or trainer.tune=null"
        )
    best, best_val, best_epoch = lesson.state(), inf, 0
    for epoch in range(1, settings.epochs + 1):
        loss = lesson.learn(turns, epoch, seed)
        val_loss = lesson.error(held_out) if held_out else -float(epoch)
        tell(epoch, loss, val_loss if held_out else np.nan)
        if val_loss < best_val:
            best, best_val, best_epoch = lesson.state(), val_loss, epoch
    lesson.load(best)
    return Tuned({name: weight.cpu() for name, weight in best[1].items()}, best_epoch, best_val)


_State = tuple[dict[str, Tensor], Params]


class _Lesson:
    """An encoder and a head that learn together."""

    def __init__(
        self,
        encoder: LoadedEncoder,
        text_format: TextFormat,
        head: HeadSettings,
        settings: TuneSettings,
        seed: int,
    ) -> None:
        self._encoder, self._format = encoder, text_format
        self._head, self._settings = head, settings
        device = encoder.model.device
        first = [Generator().manual_seed(derive(seed, "tuned head"))]
        fresh = heads.init(head, encoder.dimension, 1, first)
        self._params = {name: weight.to(device) for name, weight in fresh.items()}
        self._noise = [Generator().manual_seed(derive(seed, "dropout of the tuned head"))]
        groups = [list(encoder.model.parameters()), list(self._params.values())]
        for weight in (weight for group in groups for weight in group):
            weight.requires_grad_(True)
        self._optimizer = torch.optim.AdamW(
            [{"params": group} for group in groups],
            lr=settings.learning_rate,
            weight_decay=settings.weight_decay,
        )
        self._num_updates = 0

    def learn(self, turns: Sequence[Labelled], epoch: int, seed: int) -> float:
        """One pass; the mean squared error on the way."""
        order = np.arange(len(turns))
        if self._settings.shuffle:
            np.random.default_rng(derive(seed, "order of turns", epoch)).shuffle(order)
        starts = range(0, len(order), self._settings.batch_size)
        total = 0.0
        for start in starts:
            batch = [turns[number] for number in order[start : start + self._settings.batch_size]]
            self._set_rate(len(starts))
            self._optimizer.zero_grad()
            for errors_N in self._errors(batch, self._noise):
                (errors_N.sum() / len(batch)).backward()
                total += float(errors_N.detach().sum())
            self._optimizer.step()
            self._num_updates += 1
        return total / len(turns)

    @torch.no_grad()
    def error(self, turns: Sequence[Labelled]) -> float:
        """The mean squared error without dropout."""
        size = self._settings.batch_size
        parts = [turns[start : start + size] for start in range(0, len(turns), size)]
        errors = [float(each.sum()) for part in parts for each in self._errors(part, None)]
        return sum(errors) / len(turns)

    @torch.no_grad()
    def state(self) -> _State:
        """Copies of all weights, of the head without the axis of members."""
        weights = self._encoder.model.state_dict()
        kept = {name: weight.to("cpu", copy=True) for name, weight in weights.items()}
        return kept, heads.member(self._params, 0)

    def load(self, state: _State) -> None:
        """Take the encoder's weights back, and stop learning."""
        self._encoder.model.load_state_dict(state[0])
        self._encoder.model.requires_grad_(False)

    def _errors(
        self, turns: Sequence[Labelled], noise: Sequence[Generator] | None
    ) -> Iterator[Tensor]:
        """Squared errors of some turns, float [n], in parts that fit into memory."""
        texts: list[TurnText] = [
            self._format.render(turn.session.utterances, turn.place) for turn in turns
        ]
        tokens = self._encoder.tokens(texts)
        lengths = [len(each.ids) for each in tokens]
        for places in batches_by_length(lengths, self._encoder.settings.batch_tokens):
            inputs_ND = self._encoder.pooled([tokens[place] for place in places])
            # every turn as a session of its own
            ones = torch.ones(len(places), dtype=torch.long, device=inputs_ND.device)
            ragged = Ragged(inputs_ND, Layout(ones))
            rewards_N = heads.apply_members(self._head, self._params, ragged, noise)[0]
            labels_N = torch.tensor([turns[place].label for place in places])
            yield (rewards_N - labels_N.to(rewards_N)).square()

    def _set_rate(self, num_batches: int) -> None:
        """The learning rates of the next update."""
        left = 1.0 - self._num_updates / (self._settings.epochs * num_batches)
        schedules = (self._settings.encoder_schedule, self._settings.schedule)
        for group, schedule in zip(self._optimizer.param_groups, schedules, strict=True):
            share = left if schedule == "linear" else 1.0
            group["lr"] = share * self._settings.learning_rate
