"""Which model speaks for whom, and what is refused before anything is asked."""

from pathlib import Path

import pytest

from drl.errors import ConfigError
from drl.launch import assemble, preflight, register_resolvers
from drl.runtime.compose import compose
from drl.runtime.config import to_plain

CONF = Path(__file__).parents[2] / "conf"
JOSH = "+experiment=toolwoz_josh"


def refused(tmp_path: Path, *overrides: str) -> str:
    register_resolvers()
    with pytest.raises(ConfigError) as error:
        preflight(CONF, [JOSH, *overrides, f"hydra.run.dir={tmp_path / 'run'}"])
    assert not (tmp_path / "run").exists()
    return str(error.value)


def parts(*overrides: str):
    register_resolvers()
    return assemble(to_plain(compose(CONF, [JOSH, *overrides])), CONF)[1]


def test_an_agent_that_speaks_through_a_model_needs_one(tmp_path):
    message = refused(tmp_path, "agent=react")
    assert message.startswith("llm is not chosen, but this agent speaks through one; add llm=NAME")
    assert "openai" in message
    assert "\n" not in message


def test_a_user_that_speaks_through_a_model_needs_one_of_its_own(tmp_path):
    message = refused(tmp_path, "user_simulator=goal", "llm=openai")
    assert message.startswith("user_llm is not chosen, but this user_simulator speaks through one")
    assert "add llm@user_llm=NAME" in message


@pytest.mark.parametrize("key", ["llm", "user_llm"])
def test_a_dollar_budget_with_an_unknown_price_cannot_be_kept(tmp_path, key):
    choice = "llm=openai" if key == "llm" else "llm@user_llm=openai"
    message = refused(tmp_path, choice, f"{key}.model=my-own-model", "calls.budget_usd=5.0")
    assert message.startswith("calls.budget_usd=5.0 cannot be kept: the price of")
    assert f"{key}.model=my-own-model is not known" in message
    assert "calls.prices=" in message


@pytest.mark.parametrize(
    "overrides",
    [
        ["llm=openai", "calls.budget_usd=5.0"],
        ["llm=openai", "llm.model=my-own-model", "calls.budget_tokens=1000"],
        [
            "llm=openai",
            "llm.model=my-own-model",
            "calls.budget_usd=5.0",
            "+calls.prices={my-own-model: {input: 1.0, output: 2.0}}",
        ],
    ],
)
def test_a_budget_that_can_be_kept_is_accepted(tmp_path, overrides):
    register_resolvers()
    preflight(CONF, [JOSH, *overrides, f"hydra.run.dir={tmp_path / 'run'}"])


def test_equal_model_nodes_are_one_object():
    built = parts("llm=openai", "llm@user_llm=openai", "llm@judge_llm=openai/gpt_4o")
    assert built.llm is not None
    assert built.llm is built.user_llm
    assert built.judge_llm is not built.llm


def test_models_that_differ_in_one_setting_are_two_objects():
    built = parts("llm=openai", "llm@user_llm=openai", "user_llm.timeout_s=5.0")
    assert built.llm is not built.user_llm
