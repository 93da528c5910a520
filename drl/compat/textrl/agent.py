"""TextRL 0.2's agent: chooses tokens, learns from episodes by PPO, and is saved and loaded.

Axes: S candidates of one prompt, V vocabulary.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from drl.compat.textrl._episode import Episode
from drl.compat.textrl._language_model import adapted_by_peft
from drl.compat.textrl._observation import Observation, Seen
from drl.compat.textrl._statistics import Statistics
from drl.compat.textrl._user_reward import as_vector
from drl.errors import ConfigError, RunError
from drl.ppo.checkpoint import WEIGHTS, has_state, load_learner_state, save_learner
from drl.ppo.generate import Drawing, draw, log_probs_of
from drl.ppo.learner import PPOLearner
from drl.types import Sampled

AGENT = "agent.json"
"""How a saved agent drew and what of it learned; beside what `drl.ppo.checkpoint` writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How an agent acts, and when it learns; `update_interval` and `minibatch_size` are steps."""

    training: Drawing
    evaluation: Drawing
    update_interval: int
    minibatch_size: int


@dataclass(slots=True)
class _Open:
    """An episode that a program is stepping through."""

    prompt_ids: tuple[int, ...]
    num: int
    log_probs: list[list[float]] = field(default_factory=list)
    rewards: list[np.ndarray] = field(default_factory=list)


class TextRLAgent:
    """An agent as pfrl has them; `actor.agent_ppo()` makes one.

    `training` says whether it draws, remembers and learns, or is evaluated. Episodes are learned
    from when they are over and `update_interval` steps are stored; one that is left without a last
    `observe` with `done` or `reset` is forgotten when the next begins.
    """

    def __init__(
        self, learner: PPOLearner, habits: Habits, wrapped: torch.nn.Module, seed: int
    ) -> None:
        self.learner = learner
        self.habits = habits
        self.training = True
        self.generator = torch.Generator().manual_seed(seed)
        self._wrapped = wrapped
        self._statistics = Statistics()
        self._stored: list[Episode] = []
        self._open: dict[int, _Open] = {}
        self._num_episodes = 0

    @property
    def drawing(self) -> Drawing:
        """How it draws now, in training or evaluation."""
        return self.habits.training if self.training else self.habits.evaluation

    def act(self, obs: torch.Tensor) -> np.ndarray:
        """A token for each candidate, int64 `[S]`.

        Raises:
            TypeError: the observation does not come straight from an environment.
        """
        return self._act(0, obs)

    def observe(self, obs: torch.Tensor, reward: Any, done: bool, reset: bool) -> None:
        """Take in what came of the last action; in training, learn when it is time.

        Args:
            obs: what there is to see now.
            reward: of each candidate, in any of the forms that `get_reward` may give.
            done: whether all candidates are over.
            reset: whether the episode is cut here.

        Raises:
            TypeError: the observation does not come straight from an environment.
            ValueError: there was no action.
            ConfigError: the reward is not a finite number for each candidate.
        """
        self._observe(0, obs, reward, is_done=done, is_cut=reset)

    def batch_act(self, batch_obs: Sequence[torch.Tensor]) -> list[np.ndarray]:
        """`act` for several environments."""
        return [self._act(slot, obs) for slot, obs in enumerate(batch_obs)]

    def batch_observe(
        self,
        batch_obs: Sequence[torch.Tensor],
        batch_reward: Sequence[Any],
        batch_done: Sequence[bool],
        batch_reset: Sequence[bool],
    ) -> None:
        """`observe` for several environments, in the order of `batch_act`."""
        columns = zip(batch_obs, batch_reward, batch_done, batch_reset, strict=True)
        for slot, (obs, reward, is_done, is_cut) in enumerate(columns):
            self._observe(slot, obs, reward, is_done=is_done, is_cut=is_cut)

    @contextmanager
    def eval_mode(self) -> Iterator[None]:
        """Inside, it acts as in evaluation, and neither remembers nor learns."""
        was = self.training
        self.training = False
        try:
            yield
        finally:
            self.training = was

    def store(self, episode: Episode) -> None:
        """Keep an episode to learn from."""
        self._stored.append(episode)

    @property
    def num_stored(self) -> int:
        """Steps that wait to be learned from."""
        return sum(map(len, self._stored))

    def learn_if_due(self) -> dict[str, float] | None:
        """Learn if enough steps are stored; what the update was like.

        Raises:
            RunError: gradients are no numbers, again and again.
        """
        num_steps = self.num_stored
        if num_steps < self.habits.update_interval:
            return None
        can_go_on = not self.learner.policy.model.config.is_encoder_decoder
        trajectories = []
        for episode in self._stored:
            group = str(self._num_episodes)
            trajectories += episode.trajectories(group, can_go_on=can_go_on)
            self._num_episodes += 1
        self._stored = []
        num_minibatches = round(num_steps / self.habits.minibatch_size)
        self.learner.settings = replace(
            self.learner.settings, minibatches=min(max(1, num_minibatches), len(trajectories))
        )
        numbers = self.learner.update(trajectories)
        self._statistics.add(numbers)
        return numbers

    def get_statistics(self) -> list[tuple[str, float]]:
        """Running means with their names, in pfrl's order."""
        return self._statistics.named()

    def weight_change(self) -> float:
        """How far the weights that learn are from where they began, as a share of their norm."""
        state = self.learner.policy.state()
        begun = {name: weight for name, weight in state.items() if name.startswith("start.")}
        moved = {
            name: (state[name.replace("start.", "policy.", 1)].double() - weight.double())
            for name, weight in begun.items()
        }
        norm = sum(float(weight.double().square().sum()) for weight in begun.values())
        return (sum(float(w.square().sum()) for w in moved.values()) / max(norm, 1e-30)) ** 0.5

    def save(self, dirname: str | os.PathLike[str]) -> None:
        """Write weights, critic and optimizer to a folder, as safetensors and JSON.

        Raises:
            RunError: it cannot be written.
        """
        folder = Path(dirname)
        save_learner(self.learner, folder)
        adapted = adapted_by_peft(self._wrapped)
        told = {
            "training": _plain(self.habits.training),
            "evaluation": _plain(self.habits.evaluation),
            "adapter": None if adapted is None else adapted.active_adapter,
        }
        (folder / AGENT).write_text(json.dumps(told, indent=1))
        if adapted is not None:
            adapted.active_peft_config.save_pretrained(str(folder))

    def load(self, dirname: str | os.PathLike[str]) -> None:
        """Take up what `save` wrote.

        Raises:
            RunError: it is not there, or damaged.
            ConfigError: it was saved by an agent that trains other weights.
        """
        folder = Path(dirname)
        if not (has_state(folder) and (folder / WEIGHTS).is_file()):
            pickled = (folder / "model.pt").is_file()
            lack = "is of TextRL 0.2, a pickle, which could run code" if pickled else "is not there"
            raise RunError(f"{folder / WEIGHTS} {lack}; name a folder that agent.save wrote")
        load_learner_state(self.learner, folder)
        self._open.clear()

    def _act(self, slot: int, obs: torch.Tensor) -> np.ndarray:
        seen = _seen(obs)
        written = [[*seen.prompt_ids, *tokens] for tokens in seen.token_ids]
        drawing = self.drawing
        tokens_S = draw(seen.logits_SV, written, drawing, self.generator)
        if self.training:
            episode = self._opened(slot, seen)
            chosen_S = log_probs_of(tokens_S, seen.logits_SV, drawing)
            for row, log_prob in zip(episode.log_probs, chosen_S.tolist(), strict=True):
                row.append(log_prob)
        return tokens_S.cpu().numpy()

    def _opened(self, slot: int, seen: Seen) -> _Open:
        """The episode of a slot, a new one where none of its candidates has begun."""
        if slot not in self._open or not any(seen.token_ids):
            num = len(seen.token_ids)
            self._open[slot] = _Open(seen.prompt_ids, num, [[] for _ in range(num)])
        return self._open[slot]

    def _observe(
        self, slot: int, obs: torch.Tensor, reward: Any, *, is_done: bool, is_cut: bool
    ) -> None:
        if not self.training:
            return
        seen = _seen(obs)
        episode = self._open.get(slot)
        if episode is None:
            raise ValueError("there was no action to observe anything of; call act first")
        rewards = as_vector(reward, episode.num, "reward")
        if not np.isfinite(rewards).all():
            raise ConfigError(f"reward gave {rewards.tolist()}; give finite numbers")
        episode.rewards.append(rewards)
        if not (is_done or is_cut):
            return
        del self._open[slot]
        rows = zip(seen.token_ids, episode.log_probs, strict=True)
        self.store(
            Episode(
                texts=tuple(
                    Sampled(episode.prompt_ids, tokens, tuple(log_probs[: len(tokens)]))
                    for tokens, log_probs in rows
                ),
                rewards=episode.rewards,
                is_paid=is_done,
                goes_on=tuple(not ended for ended in seen.ended),
            )
        )
        self.learn_if_due()


def _seen(obs: torch.Tensor) -> Seen:
    if not isinstance(obs, Observation):
        raise TypeError(
            f"the observation is a {type(obs).__name__}; give it as env.reset or env.step gave it, "
            "which knows the tokens that it is of"
        )
    return obs.seen


def _plain(drawing: Drawing) -> dict[str, Any]:
    return asdict(drawing) | {"stop_ids": sorted(drawing.stop_ids)}
