"""GELI's released cost pattern, acted out again: the encoder reads every drawn turn anew.

For each conversation and each of its two scores, in every epoch: draw K turns with replacement,
write their texts, turn them into tokens padded to the greatest length, run the encoder in 16 parts
of K / 16 turns, and take one step of the head. Once an epoch all turns of the validation part are
read too; each costs what a drawn one does, so that is not acted out. Written from what is known of
the method (arXiv:2403.11330) and of its released settings; none of its code is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from drl.turn_reward.session import Session
from drl.turn_reward.text_format import TextFormat

PARTS: Final = 16
"""In which the turns of one draw go through the encoder."""
LEARNING_RATE: Final = 5e-3
UNIT: Final = 10.0
"""A score in points times this is what the head learns."""
LENGTH: Final = 160
"""Turns that every conversation is taken to have."""


class Head(nn.Module):
    """The only head of the release that works, for an encoder of any width."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(width, 128),
            nn.Dropout(0.2),
            nn.ReLU(),
            nn.Linear(128, 1),
            nn.Dropout(0.2),
            nn.Tanh(),
        )

    def forward(self, embeddings_KD: Tensor) -> Tensor:
        """Rewards [K]."""
        return self.layers(embeddings_KD).squeeze(-1)


@dataclass
class Released:
    """A head on its way, an encoder that stays as it is, and how much that had to read."""

    encoder: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    text_format: TextFormat
    max_length: int
    draws: int
    num_read: int = 0

    def __post_init__(self) -> None:
        """Make the head."""
        self.head = Head(self.encoder.config.hidden_size)
        self.optimizer = torch.optim.AdamW(self.head.parameters(), lr=LEARNING_RATE)
        self.tokenizer.truncation_side = "left"

    def learn(self, session: Session, generator: torch.Generator) -> None:
        """One step on one session: its score by RRD and its labels, half and half."""
        turns = session.agent_turns
        drawn = torch.randint(len(turns), (self.draws,), generator=generator).sort().values
        places = [turns[number] for number in drawn.tolist()]
        rewards_K = self.head(self._read(session, places))
        assert session.score is not None
        score = UNIT * session.score
        of_score = (score - LENGTH / self.draws * rewards_K.sum()).square()
        reactions = [session.turns[place].reaction for place in places]
        labels = [0.0 if r is None or r.label is None else r.label for r in reactions]
        of_labels = (rewards_K - torch.tensor(labels)).square().mean()
        self.optimizer.zero_grad()
        (0.5 * of_score + 0.5 * of_labels).backward()
        self.optimizer.step()

    @torch.no_grad()
    def _read(self, session: Session, places: Sequence[int]) -> Tensor:
        """Embeddings of these turns."""
        size = max(1, self.draws // PARTS)
        parts = [places[start : start + size] for start in range(0, len(places), size)]
        return torch.cat([self._encode(session, part) for part in parts])

    def _encode(self, session: Session, places: Sequence[int]) -> Tensor:
        utterances = session.utterances
        texts = [self.text_format.render(utterances, place) for place in places]
        tokens = self.tokenizer(
            [f"{text.context} {self.tokenizer.sep_token} {text.response}" for text in texts],
            padding="max_length",
            truncation=True,
            max_length=self.max_length,
            return_tensors="pt",
        )
        self.num_read += len(texts)
        mask_NL = tokens["attention_mask"]
        hidden_NLD = self.encoder(
            input_ids=tokens["input_ids"], attention_mask=mask_NL
        ).last_hidden_state
        summed_ND = (hidden_NLD * mask_NL.unsqueeze(-1)).sum(dim=1)
        return normalize(summed_ND / mask_NL.sum(dim=1, keepdim=True), dim=-1)
