"""The loop inside TextRL's `train_agent`: batches of episodes, and what comes between them."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from drl.compat.textrl._rollout import (
    Written,
    chosen_items,
    episodes_at_once,
    longest_text,
    replay,
    write,
)
from drl.compat.textrl._statistics import told

if TYPE_CHECKING:
    from drl.compat.textrl.agent import TextRLAgent
    from drl.compat.textrl.environment import TextRLEnv
    from drl.compat.textrl.evaluator import Evaluator

_REMEDY = (
    "texts are mostly as before; train longer, raise lr (the default is 3e-6), use "
    "optimizer='adamw', or where weights are bfloat16, which rounds small steps away, float32"
)

StepHook = Callable[["TextRLEnv", "TextRLAgent", int], None]

UNCHANGED = 1e-4
"""Change of weights, as a share of their norm, below which texts mostly stay as they were."""


def save_agent(
    agent: TextRLAgent,
    t: int | str,
    outdir: str | os.PathLike[str],
    logger: logging.Logger,
    suffix: str = "",
) -> None:
    """Save an agent to `<outdir>/<t><suffix>`."""
    folder = Path(outdir) / f"{t}{suffix}"
    agent.save(folder)
    logger.info("saved the agent to %s", folder)


@dataclass(kw_only=True)
class Training:
    """Trains from step `t` on; `history` holds what each evaluation found."""

    agent: TextRLAgent
    env: TextRLEnv
    outdir: Path
    checkpoint_freq: int | None
    max_episode_len: int | None
    evaluator: Evaluator | None
    successful_score: float | None
    step_hooks: Sequence[StepHook]
    eval_during_episode: bool
    logger: logging.Logger
    t: int
    num_episodes: int = 0
    num_updates: int = 0
    last_kl: float = math.nan
    history: list[dict[str, float]] = field(default_factory=list)
    _is_warned: bool = field(init=False, default=False)

    def run(self, steps: int) -> None:
        """Go on until step `steps`, or until an evaluation is good enough."""
        longest = longest_text(self.env, self.max_episode_len)
        first, drawn = self.t, 0
        while self.t < steps and not self._has_succeeded():
            expected = (self.t - first) / drawn if drawn else float(longest)
            missing = self.agent.habits.update_interval - self.agent.num_stored
            num = episodes_at_once(min(max(1, missing), steps - self.t), expected)
            for written in self._written(num, longest):
                if self.t < steps:
                    drawn += 1
                    self._episode(written, min(longest, steps - self.t))
            numbers = self.agent.learn_if_due()
            if numbers is not None:
                self.num_updates += 1
                self.last_kl = numbers["objective/kl"]
                if self.num_updates == 1:
                    self._warn_if_slow(steps - first)
            self._evaluate()

    def tell_change(self) -> None:
        """Say how far the model has moved; warn where nobody would see that it has."""
        change = self.agent.weight_change()
        log = self.logger.info if self._is_warned or change >= UNCHANGED else self.logger.warning
        log(
            "after %s updates the KL from the start was %.2g nats a text before the last of them, "
            "and weights have changed by %.2g of their norm%s",
            self.num_updates,
            self.last_kl,
            change,
            "" if change >= UNCHANGED else f", so {_REMEDY}",
        )

    def _warn_if_slow(self, num_steps: int) -> None:
        """After the first update, what all of them will come to, while it can still be helped."""
        change = self.agent.weight_change()
        to_come = num_steps / max(1, self.agent.habits.update_interval)
        self._is_warned = change * to_come < UNCHANGED
        if self._is_warned:
            self.logger.warning(
                "the first update changed the weights by %.2g of their norm, and %.0f of them "
                "will leave less than %.0e, so %s",
                change,
                to_come,
                UNCHANGED,
                _REMEDY,
            )

    def _written(self, num: int, longest: int) -> list[Written]:
        """Texts for prompts as the environment chooses them."""
        items = chosen_items(self.env, num)
        drawing = replace(self.agent.drawing, max_tokens=longest)
        model = self.agent.learner.policy.model
        return write(model, self.env, items, drawing, self.agent.generator)

    def _episode(self, written: Written, max_steps: int) -> None:
        episode = replay(self.env, written, max_steps, self._after_step)
        self.agent.store(episode)
        self.num_episodes += 1
        self.logger.info(
            "outdir:%s step:%s episode:%s R:%s statistics:%s",
            self.outdir,
            self.t,
            self.num_episodes,
            episode.score,
            told(self.agent.get_statistics()),
        )

    def _after_step(self) -> None:
        self.t += 1
        for hook in self.step_hooks:
            hook(self.env, self.agent, self.t)
        if self.checkpoint_freq is not None and self.t % self.checkpoint_freq == 0:
            save_agent(self.agent, self.t, self.outdir, self.logger, suffix="_checkpoint")
        if self.eval_during_episode:
            self._evaluate()

    def _evaluate(self) -> None:
        if self.evaluator is None:
            return
        score = self.evaluator.evaluate_if_necessary(self.t, self.num_episodes)
        if score is not None:
            self.history.append({**dict(self.agent.get_statistics()), "eval_score": score})

    def _has_succeeded(self) -> bool:
        return (
            self.successful_score is not None
            and self.evaluator is not None
            and self.evaluator.max_score >= self.successful_score
        )
