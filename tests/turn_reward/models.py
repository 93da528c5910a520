"""Small turn reward models, and a head as GELI's authors released theirs."""

from dataclasses import replace
from pathlib import Path

import torch

from drl.turn_reward.encoder import EncoderSettings
from drl.turn_reward.head import Params, init, member
from drl.turn_reward.model import TurnRewardModel
from drl.turn_reward.scaling import ScoreScaling
from drl.turn_reward.settings import HeadSettings
from tests.turn_reward.encoders import FORMAT, save_bert, settings
from tests.turn_reward.learning import LINEAR

MEAN = ScoreScaling(centre=6.0, scale=1.5, total="mean", length=None)


def head_of(kind: str, num_inputs: int, *, seed: int = 0) -> tuple[HeadSettings, Params]:
    """A random head of a kind."""
    settings = replace(LINEAR, kind=kind, standardise=False)
    generator = torch.Generator().manual_seed(seed)
    return settings, member(init(settings, num_inputs, 1, [generator]), 0)


def model_of(encoder: EncoderSettings, kind: str = "linear", num_inputs: int = 32):
    """A model with a random head."""
    head, params = head_of(kind, num_inputs)
    return TurnRewardModel(
        encoder=encoder, text_format=FORMAT, head=head, params=params, scaling=MEAN
    )


def save_small_model(folder: Path) -> Path:
    """A model with its encoder beside it, both a few kilobytes; tests/reward/turn_model is one."""
    encoder = save_bert(folder / "encoder", hidden_size=8, intermediate_size=8, num_hidden_layers=1)
    made = model_of(settings(encoder), num_inputs=8)
    made.save(folder / "model")
    return folder / "model"


def save_released_head(
    file: Path, num_inputs: int = 1024, *, hidden: int = 128, **changes: object
) -> torch.nn.Module:
    """Write a file as the released code does: a whole module whose class is of the main program."""

    class reward_function(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc1 = torch.nn.Linear(num_inputs, hidden)
            self.fc2 = torch.nn.Linear(hidden, 1)
            self.relu = torch.nn.ReLU()
            self.tanh = torch.nn.Tanh()
            self.dropout = torch.nn.Dropout(0.2)

    import __main__

    reward_function.__module__, reward_function.__qualname__ = "__main__", "reward_function"
    __main__.reward_function = reward_function
    torch.manual_seed(0)
    module = reward_function()
    for name, value in changes.items():
        setattr(module, name, value)
    torch.save(module, file)
    del __main__.reward_function
    return module
