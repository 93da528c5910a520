"""TextRL's training loops: whole batches of episodes drawn at once, counted in positions of tokens.

`steps`, `eval_interval` and the like count positions, as they always did, whatever the number of
candidates. Episodes of one batch are drawn by the same weights; updates and evaluations come when
the batch is over.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from drl.compat.textrl._training import StepHook, Training
from drl.compat.textrl._training import save_agent as _save
from drl.compat.textrl.evaluator import EvaluationHook, Evaluator, check_measure, made
from drl.errors import ConfigError

if TYPE_CHECKING:
    from drl.compat.textrl.agent import TextRLAgent
    from drl.compat.textrl.environment import TextRLEnv

_LOG = logging.getLogger(__name__)


def save_agent(
    agent: TextRLAgent,
    t: int | str,
    outdir: str | os.PathLike[str],
    logger: logging.Logger | None = None,
    suffix: str = "",
) -> None:
    """Save an agent to `<outdir>/<t><suffix>`.

    Raises:
        RunError: it cannot be written.
    """
    _save(agent, t, outdir, logger or _LOG, suffix)


def train_agent(
    agent: TextRLAgent,
    env: TextRLEnv,
    steps: int,
    outdir: str | os.PathLike[str],
    checkpoint_freq: int | None = None,
    max_episode_len: int | None = None,
    step_offset: int = 0,
    evaluator: Evaluator | None = None,
    successful_score: float | None = None,
    step_hooks: Sequence[StepHook] = (),
    eval_during_episode: bool = False,
    logger: logging.Logger | None = None,
) -> list[dict[str, float]]:
    """Train for so many steps; of each evaluation, the agent's statistics and `eval_score`.

    The agent is saved to `<outdir>/<t>_finish`; or, when anything goes wrong or the program is
    interrupted, to `<outdir>/<t>_except`, and the error goes on.

    Args:
        agent: what learns.
        env: with prompts and the reward.
        steps: positions of tokens in all, `step_offset` included.
        outdir: for what is saved.
        checkpoint_freq: steps from one `<t>_checkpoint` to the next; None for none.
        max_episode_len: after which episodes are cut; None for the environment's own bound.
        step_offset: at which to begin.
        evaluator: evaluates from time to time.
        successful_score: best evaluation at which training ends.
        step_hooks: called after each step with environment, agent and step.
        eval_during_episode: whether evaluations may come between the steps of an episode.
        logger: told of episodes.

    Raises:
        ConfigError: a setting breaks a rule, or `get_reward` gave no numbers.
        RunError: gradients are no numbers, or nothing can be saved.
    """
    _check(steps=steps, checkpoint_freq=checkpoint_freq, max_episode_len=max_episode_len)
    training = Training(
        agent=agent,
        env=env,
        outdir=made(outdir),  # now: nothing is learned that cannot be saved
        checkpoint_freq=checkpoint_freq,
        max_episode_len=max_episode_len,
        evaluator=evaluator,
        successful_score=successful_score,
        step_hooks=step_hooks,
        eval_during_episode=eval_during_episode,
        logger=logger or _LOG,
        t=step_offset,
    )
    try:
        training.run(steps)
    except (Exception, KeyboardInterrupt):  # whatever it is, what was learned is not lost
        save_agent(agent, training.t, outdir, logger, suffix="_except")
        raise
    save_agent(agent, training.t, outdir, logger, suffix="_finish")
    training.tell_change()
    return training.history


def train_agent_with_evaluation(
    agent: TextRLAgent,
    env: TextRLEnv,
    steps: int,
    eval_n_steps: int | None,
    eval_n_episodes: int | None,
    eval_interval: int,
    outdir: str | os.PathLike[str],
    checkpoint_freq: int | None = None,
    train_max_episode_len: int | None = None,
    step_offset: int = 0,
    eval_max_episode_len: int | None = None,
    eval_env: TextRLEnv | None = None,
    successful_score: float | None = None,
    step_hooks: Sequence[StepHook] = (),
    evaluation_hooks: Sequence[EvaluationHook] = (),
    save_best_so_far_agent: bool = True,
    use_tensorboard: bool = False,
    eval_during_episode: bool = False,
    logger: logging.Logger | None = None,
) -> tuple[TextRLAgent, list[dict[str, float]]]:
    """Train and evaluate in turns: the agent, and what `train_agent` gives.

    Arguments are those of `train_agent` and `Evaluator`. Exactly one of `eval_n_steps` and
    `eval_n_episodes` must be None; `eval_env` is `env` unless it is given, and must be another for
    evaluations between the steps of an episode.

    Raises:
        ConfigError: a setting breaks a rule, or `get_reward` gave no numbers.
        RunError: gradients are no numbers, or nothing can be saved.
    """
    check_measure(eval_n_steps, eval_n_episodes)
    _check(steps=steps, checkpoint_freq=checkpoint_freq, max_episode_len=train_max_episode_len)
    for hook in evaluation_hooks:
        if "support_train_agent" not in dir(hook) or not hook.support_train_agent:
            raise ConfigError(
                f"evaluation hook {hook!r} does not say that it can be used here; give it "
                "support_train_agent = True"
            )
    if eval_during_episode and eval_env is None:
        raise ConfigError(
            "eval_during_episode=True needs an environment of its own; give one as eval_env"
        )
    evaluator = Evaluator(
        agent=agent,
        env=env if eval_env is None else eval_env,
        n_steps=eval_n_steps,
        n_episodes=eval_n_episodes,
        eval_interval=eval_interval,
        outdir=outdir,
        max_episode_len=(
            train_max_episode_len if eval_max_episode_len is None else eval_max_episode_len
        ),
        step_offset=step_offset,
        evaluation_hooks=evaluation_hooks,
        save_best_so_far_agent=save_best_so_far_agent,
        use_tensorboard=use_tensorboard,
        logger=logger,
    )
    history = train_agent(
        agent,
        env,
        steps,
        outdir,
        checkpoint_freq=checkpoint_freq,
        max_episode_len=train_max_episode_len,
        step_offset=step_offset,
        evaluator=evaluator,
        successful_score=successful_score,
        step_hooks=step_hooks,
        eval_during_episode=eval_during_episode,
        logger=logger,
    )
    return agent, history


def _check(**settings: int | None) -> None:
    for name, value in settings.items():
        if value is not None and value < 1:
            raise ConfigError(f"{name}={value} must be at least 1; raise it")
