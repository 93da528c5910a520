"""Settings are named as who gave them knows them: bare, or with their place in a config."""

import re
from pathlib import Path

import pytest
from omegaconf import OmegaConf
from ppo.models import critic, settings

from drl.errors import ConfigError
from drl.runtime.config import build

PPO = Path(__file__).parents[2] / "conf" / "trainer" / "ppo.yaml"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"gamma": 1.5}, "gamma=1.5 must lie in [0, 1]"),
        ({"epochs": 0}, "epochs=0 must be at least 1"),
        ({"clip": 0.0}, "clip=0.0 must be above 0"),
        ({"kl_weight": -1.0}, "kl_weight=-1.0 must not be negative"),
        ({"baseline": "group"}, "baseline=group compares whole dialogues, but level is turn"),
    ],
)
def test_a_setting_that_breaks_a_rule_is_named_by_its_key(changes, message):
    with pytest.raises(ConfigError, match=rf"^{re.escape(message)}"):
        settings(**changes)
    node = OmegaConf.load(PPO)
    node.ppo = {**node.ppo, **changes}
    with pytest.raises(ConfigError, match=rf"^trainer\.ppo\.{re.escape(message)}"):
        build("trainer", OmegaConf.to_container(node))


def test_a_critic_that_learns_nothing_is_named_by_its_key():
    with pytest.raises(ConfigError, match=r"^detach=true leaves"):
        critic(kind="separate", detach=True)
    node = OmegaConf.load(PPO)
    node.critic = {**node.critic, "kind": "separate", "detach": True}
    with pytest.raises(ConfigError, match=r"^trainer\.critic\.detach=true leaves"):
        build("trainer", OmegaConf.to_container(node))
