"""A turn reward model: an encoder, a text format and a head that read what an agent says.

It gives the same rewards to a recorded session and to a rollout in which the same is said.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from drl.errors import ConfigError
from drl.turn_reward.encoder import Encoder, EncoderSettings
from drl.turn_reward.model_folder import ModelSettings, model_folder, read_model, write_model
from drl.turn_reward.scaling import ScoreScaling
from drl.turn_reward.session import Utterance
from drl.turn_reward.settings import HeadSettings
from drl.turn_reward.text_format import TextFormat, TurnText
from drl.types import Role

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from drl.turn_reward.head import Params

_MOST_KNOWN = 4096
"""Embeddings that are remembered: a turn is judged first and graded later, and a head that reads
the past meets all of it again at every turn."""


@dataclass(kw_only=True, eq=False)
class TurnRewardModel:
    """Gives agent turns their rewards, in standard deviations of a session's score or as scaled.

    `scaling` tells how rewards make up a score. `beside` is the folder that it was read from, where
    a relative `encoder.model` begins. The encoder is loaded at the first question; several threads
    may ask, one at a time is answered.
    """

    encoder: EncoderSettings
    text_format: TextFormat
    head: HeadSettings
    params: Params
    scaling: ScoreScaling
    beside: Path | None = None
    _known: OrderedDict[TurnText, NDArray[np.float32]] = field(
        default_factory=OrderedDict, init=False, repr=False
    )
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @classmethod
    def load(cls, where: Path) -> TurnRewardModel:
        """The model in a folder, or of a run.

        Raises:
            RunError: there is none, it is a pickle, or it is of another version of this code.
        """
        folder = model_folder(where)
        settings, params = read_model(folder)
        return cls(
            encoder=settings.encoder,
            text_format=settings.text_format,
            head=settings.head,
            params=params,
            scaling=settings.scaling,
            beside=folder,
        )

    def save(self, folder: Path) -> None:
        """Write the model, in place of one that is there.

        Raises:
            RunError: the folder cannot be written.
        """
        encoder = self.encoder
        if self.beside is not None and (self.beside / encoder.model).is_dir():
            encoder = replace(encoder, model=str(self.beside / encoder.model))
        settings = ModelSettings(
            encoder=encoder,
            text_format=self.text_format,
            head=self.head,
            scaling=self.scaling,
        )
        write_model(folder, settings, self.params)

    def rewards(self, utterances: Sequence[Utterance]) -> list[float]:
        """One reward for each of the agent's turns, in order."""
        texts = [self._text(utterances, place) for place in _agent_places(utterances)]
        return self._answer([texts])[0] if texts else []

    def reward_of_last(self, utterances: Sequence[Utterance]) -> float:
        """The reward of the last turn, which is the agent's."""
        return self.rewards_of([(utterances, len(utterances) - 1)])[0]

    def rewards_of(self, asked: Sequence[tuple[Sequence[Utterance], int]]) -> list[float]:
        """The rewards of agent turns, by their places in dialogues, computed together."""
        sessions = []
        for utterances, place in asked:
            read = [place]
            if self.head.kind == "lstm":  # what was gathered before counts too
                read = _agent_places(utterances[: place + 1])
            sessions.append([self._text(utterances, each) for each in read])
        return [rewards[-1] for rewards in self._answer(sessions)]

    def score(self, rewards: Sequence[float]) -> float:
        """The session score, in points, that the rewards of its agent turns tell."""
        return self.scaling.points(rewards)

    @cached_property
    def loaded(self) -> Encoder:
        """The encoder.

        Raises:
            ConfigError: it cannot be had, or does not give what the head reads.
        """
        encoder = self.encoder.load(self.beside)
        num_read = self.params["input.weight"].shape[0]
        if encoder.dimension != num_read:
            raise ConfigError(
                f"encoder.model={self.encoder.model} gives {encoder.dimension} numbers of a turn, "
                f"but the head reads {num_read}; name the encoder that it was trained on"
            )
        return encoder

    def _text(self, utterances: Sequence[Utterance], place: int) -> TurnText:
        return self.text_format.render(utterances, place)

    def _answer(self, sessions: Sequence[Sequence[TurnText]]) -> list[list[float]]:
        """The rewards of the turns of each session, which has at least one."""
        import numpy as np
        import torch

        from drl.turn_reward.head import apply
        from drl.turn_reward.ragged import Layout, Ragged

        if not sessions:
            return []
        with self._lock:
            rows = self._embedded([text for texts in sessions for text in texts])
        lengths = [len(texts) for texts in sessions]
        ragged = Ragged(torch.from_numpy(np.stack(rows)), Layout(torch.tensor(lengths)))
        with torch.inference_mode():
            rewards_N = apply(self.head, self.params, ragged)
        return [part.tolist() for part in rewards_N.split(lengths)]

    def _embedded(self, texts: Sequence[TurnText]) -> list[NDArray[np.float32]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        found = dict(zip(new, self.loaded.embed(new), strict=True)) if new else {}
        rows = []
        for text in texts:
            row = found[text] if text in found else self._known[text]
            self._known[text] = row
            self._known.move_to_end(text)
            rows.append(row)
        while len(self._known) > _MOST_KNOWN:
            self._known.popitem(last=False)
        return rows


def _agent_places(utterances: Sequence[Utterance]) -> list[int]:
    return [place for place, said in enumerate(utterances) if said.role is Role.AGENT]
