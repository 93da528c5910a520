"""TextRL's public names: change `from textrl import X` into `from drl.compat.textrl import X`.

Each name is loaded when it is first asked for, so that importing the package stays light. A name
more is one line in each of the three lists below. `examples/textrl/README.md` maps all names of
TextRL 0.2 and 1.0.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from drl.compat.textrl.actor import TextRLActor
    from drl.compat.textrl.config import TextRLConfig
    from drl.compat.textrl.environment import TextRLEnv
    from drl.compat.textrl.evaluator import Evaluator
    from drl.compat.textrl.models import load_model
    from drl.compat.textrl.online import OnlineTrainer
    from drl.compat.textrl.preference import PreferenceTrainer
    from drl.compat.textrl.reward_model import RewardModelTrainer
    from drl.compat.textrl.rewards import (
        BaseReward,
        ClassifierReward,
        RewardFn,
        compose,
        length_penalty,
        repetition_penalty,
        reward_fn,
        to_reward_fn,
    )
    from drl.compat.textrl.trainer import save_agent, train_agent_with_evaluation

__all__ = [
    "BaseReward",
    "ClassifierReward",
    "Evaluator",
    "OnlineTrainer",
    "PreferenceTrainer",
    "RewardFn",
    "RewardModelTrainer",
    "TextRLActor",
    "TextRLConfig",
    "TextRLEnv",
    "compose",
    "length_penalty",
    "load_model",
    "repetition_penalty",
    "reward_fn",
    "save_agent",
    "to_reward_fn",
    "train_agent_with_evaluation",
]

_MODULES = {
    "BaseReward": "rewards",
    "ClassifierReward": "rewards",
    "Evaluator": "evaluator",
    "OnlineTrainer": "online",
    "PreferenceTrainer": "preference",
    "RewardFn": "rewards",
    "RewardModelTrainer": "reward_model",
    "TextRLActor": "actor",
    "TextRLConfig": "config",
    "TextRLEnv": "environment",
    "compose": "rewards",
    "length_penalty": "rewards",
    "load_model": "models",
    "repetition_penalty": "rewards",
    "reward_fn": "rewards",
    "save_agent": "trainer",
    "to_reward_fn": "rewards",
    "train_agent_with_evaluation": "trainer",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {__all__}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
