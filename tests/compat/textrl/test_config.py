import math
import subprocess
import sys
from typing import Any

import pytest

import drl.compat.textrl as textrl
from drl.compat.textrl import TextRLConfig
from drl.compat.textrl.config import ALGORITHMS
from drl.compat.textrl.rollout import HFRollout, vllm_config
from drl.errors import ConfigError


def make(algo="grpo", **changes):
    extra = {"use_cpu": True} | changes.pop("extra", {})
    return TextRLConfig(algo=algo, output_dir="out", **changes, extra=extra)


def test_importing_the_package_loads_nothing_heavy():
    code = (
        "import sys; from drl.compat.textrl import TextRLConfig, compose, length_penalty; "
        "TextRLConfig(algo='dpo', output_dir='x'); "
        "print([m for m in ('torch', 'transformers', 'trl', 'datasets') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_there():
    for name in textrl.__all__:
        assert getattr(textrl, name).__name__ in (name, "Protocol")
    with pytest.raises(AttributeError, match="has no attribute 'TextRL'"):
        textrl.TextRL  # noqa: B018


@pytest.mark.parametrize("algo", ALGORITHMS)
def test_every_algorithm_has_settings_of_trl(algo):
    made = make(algo, learning_rate=3e-5, seed=7).to_trl_config()
    assert (made.learning_rate, made.seed, made.bf16, made.output_dir) == (3e-5, 7, False, "out")


def test_losses_on_pairs_are_those_of_dpo():
    assert make("ipo").to_trl_config().loss_type == ["ipo"]
    assert make("sft_on_dpo").to_trl_config().loss_type == ["sft"]
    mixed = make("dpo", loss_type=["sigmoid", "sft"], extra={"loss_weights": [1.0, 0.2]})
    assert mixed.to_trl_config().loss_type == ["sigmoid", "sft"]


@pytest.mark.parametrize(
    ("algo", "substitute"),
    [
        ("ppo", "drl.compat.textrl.TextRLActor, or trainer=ppo"),
        ("online_dpo", "algo=rloo"),
        ("orpo", "algo=apo_zero"),
        ("cpo", "algo=dpo"),
        ("simpo", "sigmoid_norm"),
        ("bco", "algo=bco_pair"),
    ],
)
def test_what_trl_dropped_has_a_substitute(algo, substitute):
    with pytest.raises(ConfigError, match=f"algo={algo} is not in TRL any more; .*{substitute}"):
        make(algo)


def test_a_misspelt_algorithm_is_told_its_neighbour():
    with pytest.raises(ConfigError, match=r"algo=rlo is unknown; did you mean rloo\?"):
        make("rlo")


def test_a_misspelt_setting_is_an_error_with_its_neighbour():
    with pytest.raises(ConfigError, match=r"learning_rat is no setting.*mean learning_rate"):
        TextRLConfig.from_dict({"algo": "grpo", "output_dir": "x", "learning_rat": 1e-5})
    with pytest.raises(ConfigError, match=r"vllm_max_model_len is no .*vllm_max_model_length"):
        make(extra={"vllm_max_model_len": 100})


@pytest.mark.parametrize(
    ("algo", "setting"),
    [
        ("rloo", {"loss_type": "dapo"}),
        ("reward_model", {"beta": 0.1}),
        ("kto", {"num_generations": 2}),
        ("dpo", {"reward_weights": [1.0]}),
    ],
)
def test_a_setting_that_the_algorithm_lacks_is_an_error(algo, setting):
    with pytest.raises(ConfigError, match=f"{next(iter(setting))} is no setting of algo={algo}"):
        make(algo, **setting).to_trl_config()


@pytest.mark.parametrize(
    ("algo", "setting", "said"),
    [
        ("ipo", {"loss_type": "sigmoid"}, "which is a loss"),
        ("reinforce_pp", {"num_generations": 4}, "num_generations=4 must be 1"),
        ("reinforce_pp", {"extra": {"scale_rewards": "batch"}}, "extra.scale_rewards is about"),
        ("grpo", {"distributed": {"strategy": "deepspeed"}}, "accelerate launch"),
        ("grpo", {"quantization": "2bit"}, "must be 4bit, 8bit or null"),
        ("grpo", {"rollout": {"backend": "sglang"}}, "rollout.backend=sglang must be hf or vllm"),
        ("grpo", {"rollout": {"dtype": "auto"}}, "rollout.dtype is for backend=vllm"),
        ("grpo", {"extra": {"seed": 1}}, "extra.seed is a setting itself"),
        ("grpo", {"learning_rate": "fast"}, "learning_rate=fast must be a number"),
        ("grpo", {"per_device_train_batch_size": 0}, "=0 must be a whole number"),
    ],
)
def test_what_cannot_be_obeyed_is_an_error_at_once(algo, setting, said):
    with pytest.raises(ConfigError, match=said):
        make(algo, **setting)


def test_what_trl_refuses_is_said_in_one_line():
    with pytest.raises(ConfigError, match=r"algo=grpo: TRL refuses its settings: .*at least 2"):
        make(num_generations=1).to_trl_config()


def test_numbers_that_yaml_reads_as_texts_are_numbers():
    assert TextRLConfig.from_dict({"algo": "dpo", "output_dir": "x", "beta": "1e-1"}).beta == 0.1


def test_plain_values_make_the_same_settings_again():
    made = make("grpo", num_generations=2, peft={"r": 4}, extra={"temperature": 0.7})
    assert TextRLConfig.from_dict(made.to_dict()) == made


def test_a_setting_of_trl_may_be_a_keyword_and_a_misspelt_one_is_named():
    known: dict[str, Any] = {"max_completion_length": 8}
    config = TextRLConfig(algo="rloo", output_dir="out", **known, extra={"use_cpu": True})
    assert config.extra == {"use_cpu": True, "max_completion_length": 8}
    made: Any = config.to_trl_config()
    assert made.max_completion_length == 8
    misspelt: dict[str, Any] = {"max_completion_lenght": 8}
    with pytest.raises(ConfigError, match="did you mean max_completion_length"):
        TextRLConfig(algo="rloo", output_dir="out", **misspelt)


def test_settings_of_trl_may_lie_among_ours():
    flat = {"algo": "grpo", "output_dir": "x", "temperature": 0.7, "extra": {"top_k": 5}}
    assert TextRLConfig.from_dict(flat).extra == {"temperature": 0.7, "top_k": 5}


def test_from_dict_needs_to_know_where_and_how():
    with pytest.raises(ConfigError, match="output_dir is missing"):
        TextRLConfig.from_dict({"algo": "grpo"})


@pytest.mark.parametrize(
    ("batch", "accumulation", "group", "samples"),
    [(4, 1, 8, 8), (4, 3, 8, 24), (4, 2, 8, 8), (6, 1, 4, 12)],
)
def test_batches_of_samples_hold_whole_groups(batch, accumulation, group, samples):
    made = make(
        per_device_train_batch_size=batch,
        gradient_accumulation_steps=accumulation,
        num_generations=group,
    ).to_trl_config()
    assert made.generation_batch_size == samples == math.lcm(batch * accumulation, group)


def test_checkpoints_of_activations_go_by_their_new_name():
    made = make(extra={"gradient_checkpointing": False}).to_trl_config()
    assert (made.gradient_checkpointing, make().to_trl_config().gradient_checkpointing) == (
        False,
        True,
    )


def test_vllm_gets_the_names_that_trl_has():
    made = make(rollout={"backend": "vllm", "max_model_len": 300}).to_trl_config()
    assert (made.use_vllm, made.vllm_mode, made.vllm_max_model_length) == (True, "colocate", 300)
    assert vllm_config(vllm_enable_sleep_mode=True)["vllm_enable_sleep_mode"]
    assert HFRollout().backend == "hf"
    with pytest.raises(ConfigError, match="torch_dtype"):
        vllm_config(dtype="float16")
