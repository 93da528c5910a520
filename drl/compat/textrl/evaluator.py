"""Evaluation of TextRL's agents: episodes without learning, scores on file, and the best kept.

Each evaluation takes the same prompts in the same order, so that scores can be compared.
"""

from __future__ import annotations

import logging
import os
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from drl.errors import ConfigError, RunError

if TYPE_CHECKING:
    import torch

    from drl.compat.textrl.agent import TextRLAgent
    from drl.compat.textrl.environment import TextRLEnv

SCORES = "scores.txt"
_NO_SCORE = float(np.finfo(np.float32).min)
_COLUMNS = ("steps", "episodes", "elapsed", "mean", "median", "stdev", "max", "min")
_SEED = 0
_LOG = logging.getLogger(__name__)


class EvaluationHook(Protocol):
    """What is called after each evaluation."""

    support_train_agent: bool

    def __call__(
        self,
        *,
        env: TextRLEnv,
        agent: TextRLAgent,
        evaluator: Evaluator,
        step: int,
        eval_stats: dict[str, float],
        agent_stats: list[tuple[str, float]],
        env_stats: list[tuple[str, float]],
    ) -> None:
        """Look at an evaluation."""
        ...


def run_evaluation_episodes(
    env: TextRLEnv,
    agent: TextRLAgent,
    n_steps: int | None,
    n_episodes: int | None,
    max_episode_len: int | None = None,
    logger: logging.Logger | None = None,
) -> list[float]:
    """What episodes in evaluation earned: of each, the mean over its candidates.

    Args:
        env: with the prompts, which are taken in turn.
        agent: acts as in evaluation.
        n_steps: how many steps at least, or None.
        n_episodes: how many episodes, or None; exactly one of the two must be given.
        max_episode_len: after which episodes are cut.
        logger: told of each episode.

    Raises:
        ConfigError: both are given, or none; or there are no prompts.
    """
    import torch

    from drl.compat.textrl._rollout import episodes_at_once, in_turn, longest_text

    check_measure(n_steps, n_episodes)
    if not env.observation_input:
        raise ConfigError("observation_input is empty, so there is nothing to evaluate; give some")
    generator = torch.Generator().manual_seed(_SEED)
    longest = longest_text(env, max_episode_len)
    items = in_turn(env)
    scores: list[float] = []
    num_steps = 0
    while len(scores) < (n_episodes or 0) or num_steps < (n_steps or 0):
        num = n_episodes or episodes_at_once((n_steps or 0) - num_steps, longest)
        for score, length in _episodes(
            env, agent, [next(items) for _ in range(num)], longest, generator
        ):
            scores.append(score)
            num_steps += length
            (logger or _LOG).info(
                "evaluation episode %s length:%s R:%s", len(scores), length, score
            )
    return scores


def eval_performance(
    env: TextRLEnv,
    agent: TextRLAgent,
    n_steps: int | None,
    n_episodes: int | None,
    max_episode_len: int | None = None,
    logger: logging.Logger | None = None,
) -> dict[str, float]:
    """`run_evaluation_episodes`, as episodes, mean, median, stdev, max and min."""
    scores = run_evaluation_episodes(env, agent, n_steps, n_episodes, max_episode_len, logger)
    return {
        "episodes": len(scores),
        "mean": statistics.mean(scores),
        "median": statistics.median(scores),
        "stdev": statistics.stdev(scores) if len(scores) > 1 else 0.0,
        "max": max(scores),
        "min": min(scores),
    }


def made(outdir: str | os.PathLike[str]) -> Path:
    """The folder for what is saved, which is there now.

    Raises:
        RunError: it cannot be made.
    """
    folder = Path(outdir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunError(
            f"outdir={folder} cannot be made ({error.strerror}); choose another folder"
        ) from error
    return folder


def check_measure(n_steps: int | None, n_episodes: int | None) -> None:
    """Refuse an evaluation by steps and episodes, or by neither.

    Raises:
        ConfigError: with what to give.
    """
    if (n_steps is None) == (n_episodes is None):
        raise ConfigError(
            f"eval_n_steps={n_steps} and eval_n_episodes={n_episodes}; give one of them, and None "
            "for the other"
        )
    if (n_steps or n_episodes or 0) < 1:
        raise ConfigError(
            f"eval_n_steps={n_steps}, eval_n_episodes={n_episodes}; at least 1 is needed"
        )


class Evaluator:
    """Evaluates an agent from time to time, writes scores.txt, and saves the best agent.

    Args:
        agent: what is evaluated.
        env: with prompts.
        n_steps: steps an evaluation, or None.
        n_episodes: episodes an evaluation, or None.
        eval_interval: steps of training from one to the next.
        outdir: for scores.txt and best.
        max_episode_len: after which episodes are cut.
        step_offset: at which training begins; above 0, scores.txt is gone on with.
        evaluation_hooks: called after each.
        save_best_so_far_agent: whether the best goes to `<outdir>/best`.
        use_tensorboard: whether scores go to TensorBoard as well.
        logger: told of each evaluation.

    Raises:
        ConfigError: a setting breaks a rule, or TensorBoard is not there.
    """

    def __init__(
        self,
        agent: TextRLAgent,
        env: TextRLEnv,
        n_steps: int | None,
        n_episodes: int | None,
        eval_interval: int,
        outdir: str | os.PathLike[str],
        max_episode_len: int | None = None,
        step_offset: int = 0,
        evaluation_hooks: Sequence[EvaluationHook] = (),
        save_best_so_far_agent: bool = True,
        use_tensorboard: bool = False,
        logger: logging.Logger | None = None,
    ) -> None:
        check_measure(n_steps, n_episodes)
        if eval_interval < 1:
            raise ConfigError(f"eval_interval={eval_interval} must be at least 1; raise it")
        self.agent = agent
        self.env = env
        self.n_steps = n_steps
        self.n_episodes = n_episodes
        self.eval_interval = eval_interval
        self.outdir = made(outdir)
        self.max_episode_len = max_episode_len
        self.evaluation_hooks = evaluation_hooks
        self.save_best_so_far_agent = save_best_so_far_agent
        self.max_score = _NO_SCORE
        self.prev_eval_t = step_offset - step_offset % eval_interval
        self.logger = logger or _LOG
        self._began = time.monotonic()
        self._report = _tensorboard(self.outdir) if use_tensorboard else None
        if not (step_offset and (self.outdir / SCORES).is_file()):
            statistic_names = [name for name, _ in (*agent.get_statistics(), *env.get_statistics())]
            self._write([*_COLUMNS, *statistic_names], "w")

    def evaluate_if_necessary(self, t: int, episodes: int) -> float | None:
        """The mean score, if `eval_interval` steps have passed since the last evaluation."""
        if t < self.prev_eval_t + self.eval_interval:
            return None
        score = self.evaluate_and_update_max_score(t, episodes)
        self.prev_eval_t = t - t % self.eval_interval
        return score

    def evaluate_and_update_max_score(self, t: int, episodes: int) -> float:
        """Evaluate: the mean score, which is written down; the agent is saved if it is the best."""
        found = eval_performance(
            self.env, self.agent, self.n_steps, self.n_episodes, self.max_episode_len, self.logger
        )
        of_agent, of_env = self.agent.get_statistics(), self.env.get_statistics()
        elapsed = time.monotonic() - self._began
        numbers = [t, episodes, elapsed, *(found[name] for name in _COLUMNS[3:])]
        self._write([*numbers, *(value for _, value in (*of_agent, *of_env))], "a")
        if self._report is not None:
            for name, value in (*found.items(), *of_agent, *of_env):
                self._report(name, value, t)
        for hook in self.evaluation_hooks:
            hook(
                env=self.env,
                agent=self.agent,
                evaluator=self,
                step=t,
                eval_stats=found,
                agent_stats=of_agent,
                env_stats=of_env,
            )
        if found["mean"] > self.max_score:
            is_first = self.max_score == _NO_SCORE
            before = "there was none" if is_first else f"{self.max_score:.4g} before"
            self.logger.info("the best score is %.4g now (%s)", found["mean"], before)
            self.max_score = found["mean"]
            if self.save_best_so_far_agent:
                self.agent.save(self.outdir / "best")
        return found["mean"]

    def _write(self, cells: Sequence[object], mode: str) -> None:
        with (self.outdir / SCORES).open(mode, encoding="utf-8") as file:
            file.write("\t".join(map(str, cells)) + "\n")


def _episodes(
    env: TextRLEnv,
    agent: TextRLAgent,
    items: Sequence[Any],
    longest: int,
    generator: torch.Generator,
) -> list[tuple[float, int]]:
    """Scores and lengths of episodes without learning."""
    from drl.compat.textrl._rollout import replay, write

    with agent.eval_mode():
        drawing = replace(agent.drawing, max_tokens=longest)
        written = write(agent.learner.policy.model, env, items, drawing, generator)
        episodes = [replay(env, each, longest, lambda: None) for each in written]
    return [(episode.score, len(episode)) for episode in episodes]


def _tensorboard(folder: Path) -> Callable[[str, float, int], None]:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise ConfigError(
            "use_tensorboard=True needs the package tensorboard; pip install tensorboard, or leave "
            "it out: scores.txt holds the same numbers"
        ) from error
    writer = SummaryWriter(log_dir=str(folder))

    def report(name: str, value: float, step: int) -> None:
        writer.add_scalar(name, value, step)
        writer.flush()

    return report
