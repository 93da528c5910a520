import pytest

from drl.errors import ConfigError
from drl.runtime.config import build, check_nodes, described
from drl.runtime.seeds import derive

SINGLE = {
    "_target_": "drl.rollout.single.SingleRollout",
    "max_steps": 3,
    "max_calls": None,
    "concurrency": 2,
}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_steps": "abc"}, "rollout.max_steps='abc' must be int"),
        ({"max_steps": "3"}, "rollout.max_steps='3' must be int"),
        ({"max_steps": 3.5}, "rollout.max_steps=3.5 must be int"),
        ({"max_steps": True}, "rollout.max_steps=True must be int"),
        ({"max_steps": None}, "rollout.max_steps=None must be int"),
        (
            {"beam_size": 8},
            "rollout.beam_size=8 is not a setting of .* known: max_steps, max_calls, concurrency; "
            "if an experiment sets it, leave it out with ~rollout.beam_size",
        ),
        ({"_target_": "drl.rollout.nothing.X"}, "rollout._target_=drl.rollout.nothing.X"),
    ],
)
def test_a_wrong_setting_is_named_with_its_rule(change, message):
    with pytest.raises(ConfigError, match=message):
        check_nodes({"rollout": {**SINGLE, **change}})


def test_a_setting_with_several_rules_names_what_it_may_be():
    text = {"_target_": "drl.turn_reward.encoder.EncoderSettings", "pooling": "foo"}
    with pytest.raises(ConfigError) as caught:
        check_nodes({"encoder": text})
    told = str(caught.value)
    assert told.startswith("encoder.pooling='foo' must be auto, mean, ")
    assert told.endswith(" or last_eos")
    with pytest.raises(ConfigError, match=r"encoder\.max_length='x' must be int or null$"):
        check_nodes({"encoder": {**text, "pooling": "auto", "max_length": "x"}})


def test_a_name_where_a_part_belongs_says_how_to_choose_one():
    node = {"_target_": "drl.trainer.self_train.SelfTrainTrainer", "learn": "collect"}
    with pytest.raises(
        ConfigError, match=r"trainer\.learn='collect' must be a node .* add trainer@"
    ):
        check_nodes({"trainer": node})


def test_an_option_is_described_without_where_things_lie():
    node = {"_target_": "drl.llm.hf.HFLLM", "model": "m", "root": "some/data"}
    assert described(node) == "hf (model=m)"
    assert described({"_target_": "drl.llm.hf.HFLLM", "root": "some/data"}) == "hf"
    assert described(None) == "none"


def test_a_missing_setting_is_named():
    node = {key: value for key, value in SINGLE.items() if key != "concurrency"}
    with pytest.raises(ConfigError, match=r"rollout\.concurrency is missing"):
        check_nodes({"rollout": node})


def test_what_a_constructor_refuses_is_said_in_its_own_words():
    check_nodes({"rollout": SINGLE})
    with pytest.raises(ConfigError, match=r"rollout\.max_steps=0 must be at least 1"):
        build("rollout", {**SINGLE, "max_steps": 0})


def test_seeds_depend_on_every_part_and_their_order():
    seeds = {derive(0, "a"), derive("a", 0), derive(0, "a", 0), derive(0, "a0"), derive(1, "a")}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert derive(0, "a") == derive(0, "a")
