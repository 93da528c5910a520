"""Episodes drawn in batches: texts for many prompts at once, then rewards step by step.

An environment goes through each text as if it had been written by single steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import torch

from drl.compat.textrl._episode import Episode
from drl.ppo.generate import Drawing, generate
from drl.types import Sampled

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from drl.compat.textrl.environment import TextRLEnv

ROWS = 256
"""Texts that are written at once."""


@dataclass(frozen=True, slots=True)
class Written:
    """An item and what was written for it: a text for each candidate."""

    item: Any
    texts: tuple[Sampled, ...]

    def __len__(self) -> int:
        """Steps that it takes to write them."""
        return max(len(text.token_ids) for text in self.texts)


def chosen_items(env: TextRLEnv, num: int) -> list[Any]:
    """Items as the environment's `reset` chooses them."""
    items = []
    with env.unseen():
        for _ in range(num):
            env.reset()
            items.append(env.input_item)
    return items


def longest_text(env: TextRLEnv, max_episode_len: int | None) -> int:
    """Tokens up to which an environment lets texts be written."""
    longest = env.env_max_length + 1
    return longest if max_episode_len is None else min(longest, max_episode_len)


def write(
    model: PreTrainedModel,
    env: TextRLEnv,
    items: Sequence[Any],
    drawing: Drawing,
    generator: torch.Generator,
) -> list[Written]:
    """Candidates for each item."""
    prompts = []
    for item in items:
        env.begin(item)
        prompts.append(env.prompt_ids)
    # the likeliest text is the same for all candidates
    num_each = env.compare_sample if drawing.temperature else 1
    rows = [prompt for prompt in prompts for _ in range(num_each)]
    texts: list[Sampled] = []
    for start in range(0, len(rows), ROWS):
        texts += generate(model, rows[start : start + ROWS], drawing, generator)
    copies = env.compare_sample // num_each
    return [
        Written(item, tuple(texts[place * num_each : (place + 1) * num_each]) * copies)
        for place, item in enumerate(items)
    ]


def replay(
    env: TextRLEnv, written: Written, max_steps: int, on_step: Callable[[], None]
) -> Episode:
    """Go through texts step by step and collect what `get_reward` says.

    Args:
        env: set to this episode.
        written: the texts.
        max_steps: after which the episode is cut.
        on_step: called after each.

    Raises:
        ConfigError: `get_reward` failed.
    """
    env.begin(written.item)
    num_steps = min(len(written), max_steps)
    rewards = []
    for step in range(num_steps):
        # what stands at candidates that are over is passed over
        tokens = [text.token_ids[step : step + 1] or (0,) for text in written.texts]
        is_cut = step == num_steps - 1 and env.finish_on_truncation
        rewards.append(env.advance([token for (token,) in tokens], is_cut=is_cut))
        on_step()
    return Episode(
        texts=tuple(_cut(text, num_steps) for text in written.texts),
        rewards=rewards,
        is_paid=env.is_over or env.finish_on_truncation,
        goes_on=tuple(not ended for ended in env.predicted_end),
    )


def _cut(text: Sampled, num: int) -> Sampled:
    return replace(text, token_ids=text.token_ids[:num], log_probs=text.log_probs[:num])


def episodes_at_once(num_steps: int, expected: float) -> int:
    """How many episodes of an expected length it takes for so many steps."""
    return max(1, -int(-num_steps // expected))


def in_turn(env: TextRLEnv) -> Iterator[Any]:
    """The items of an environment one after the other, again and again."""
    while True:
        yield from env.observation_input
