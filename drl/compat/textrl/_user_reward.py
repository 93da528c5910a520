"""What a user's `get_reward` may give, made into one number for each candidate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from drl.compat.textrl._items import shortened
from drl.errors import ConfigError

if TYPE_CHECKING:
    from drl.compat.textrl.environment import TextRLEnv


def ask(env: TextRLEnv, *, finish: bool) -> np.ndarray:
    """The rewards of all candidates as they stand now, float64 `[compare_sample]`.

    Raises:
        ConfigError: the user's function failed, or gave anything but finite numbers for all.
    """
    name = f"{type(env).__name__}.get_reward"
    try:
        # a copy, as what is changed in it would change the texts
        given = env.get_reward(env.input_item, list(map(list, env.predicted)), finish)
    except Exception as error:  # whatever a user's function may raise
        raise ConfigError(
            f"{name} raised {type(error).__name__}: {error}; {_where(env)}; mend the function"
        ) from error
    rewards = as_vector(given, env.compare_sample, name)
    if not np.isfinite(rewards).all():
        raise ConfigError(
            f"{name} gave {rewards.tolist()}; {_where(env)}; give finite numbers, or 0 where there "
            "is nothing to say"
        )
    return rewards


def as_vector(given: Any, num: int, name: str) -> np.ndarray:
    """A list, array or tensor of `num` numbers; one number for all, or a list of one; None for 0.

    Raises:
        ConfigError: it is anything else.
    """
    if given is None:
        return np.zeros(num)
    values = _numbers(given, num, name)
    if values.ndim == 0 or values.shape == (1,):
        return np.full(num, values.item())
    if values.shape != (num,):
        raise ConfigError(
            f"{name} gave rewards of shape {list(values.shape)}, but compare_sample={num}; give a "
            f"list of {num} numbers, or one number for all"
        )
    return values


def _numbers(given: Any, num: int, name: str) -> np.ndarray:
    import torch

    try:
        if isinstance(given, torch.Tensor):
            return given.detach().double().cpu().numpy()
        if isinstance(given, Sequence) and not isinstance(given, str):
            return np.array([float(value) for value in given])  # of tensors, too
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:  # torch raises the last
        raise ConfigError(
            f"{name} gave {shortened(repr(given))}; give a list of {num} numbers (compare_sample), "
            "or one number for all"
        ) from error


def _where(env: TextRLEnv) -> str:
    texts = ", ".join(repr(shortened(text)) for text in env.texts())
    return f"prompt {shortened(env.prompt)!r}, texts {texts}"
