import copy
import json

import pytest

from drl.compat.textrl import OnlineTrainer, load_model, reward_fn
from drl.compat.textrl.data import from_list
from drl.errors import ConfigError, DataError
from tests.compat.textrl.small import CHAT, PROMPTS, config, letters, moved, weights_of

ALGORITHMS = ["grpo", "rloo", "reinforce_pp"]


def trainer(tiny, folder, algo, *, peft=None, reward=letters, prompts=PROMPTS, **changes):
    model, tokenizer, reference = load_model(str(tiny), peft=peft)
    return OnlineTrainer(
        model,
        tokenizer,
        config(algo, folder, **changes),
        ref_model=reference,
        reward=reward,
        train_dataset=from_list(prompts),
    )


def logged(trainer, name):
    return [entry[name] for entry in trainer.trl_trainer.state.log_history if name in entry]


@pytest.mark.parametrize("peft", [None, {"type": "lora", "r": 2}])
@pytest.mark.parametrize("algo", ALGORITHMS)
def test_an_update_moves_weights_and_starts_without_kl(tiny, tmp_path, algo, peft):
    groups = {} if algo == "reinforce_pp" else {"num_generations": 2}
    made = trainer(tiny, tmp_path, algo, peft=peft, beta=0.1, **groups)
    before = weights_of(made.trl_trainer.model)
    made.train()
    assert moved(made.trl_trainer.model, before)
    assert logged(made, "kl") == [pytest.approx(0.0, abs=1e-6)]
    assert len(logged(made, "rewards/letters/mean")) == 1


@pytest.mark.slow
@pytest.mark.parametrize("algo", ALGORITHMS)
def test_the_reference_is_the_model_that_was_named(tiny, tmp_path, algo):
    model, tokenizer, reference = load_model(str(tiny))
    assert reference is not None
    reference.lm_head.weight.data += 0.3 * reference.lm_head.weight.data.roll(1, 0)
    made = OnlineTrainer(
        model,
        tokenizer,
        config(algo, tmp_path, beta=0.1),
        ref_model=reference,
        reward=letters,
        train_dataset=from_list(PROMPTS * 2),
    )
    made.train()
    assert abs(logged(made, "kl")[0]) > 1e-3


@pytest.mark.slow
def test_a_model_that_comes_from_nowhere_is_copied_for_a_reference(tiny, tmp_path):
    model, tokenizer, _ = load_model(str(tiny), load_ref=False)
    model.config._name_or_path = ""
    model.name_or_path = ""
    made = OnlineTrainer(
        model,
        tokenizer,
        config("rloo", tmp_path, num_generations=2),
        reward=letters,
        train_dataset=from_list(PROMPTS),
    )
    made.train()
    assert logged(made, "kl") == [pytest.approx(0.0, abs=1e-6)]


@pytest.mark.slow
def test_several_updates_share_samples_where_groups_are_larger_than_one_update(tiny, tmp_path):
    # 4 rows an update and groups of 8: two updates have one group, of one prompt, together
    seen = []

    def same(prompts, completions, **columns):
        seen.append(set(prompts))
        return letters(prompts, completions)

    made = trainer(tiny, tmp_path, "grpo", reward=same, num_generations=8, max_steps=2)
    made.train()
    assert [len(prompts) for prompts in seen] == [1]


@pytest.mark.slow
@pytest.mark.parametrize("algo", ALGORITHMS)
def test_of_chats_a_reward_gets_the_words_and_the_columns(tiny, tmp_path, algo):
    seen = []

    def wants_text(prompts, completions, **columns):
        seen.append((prompts[0], type(completions[0]), columns["answer"][0]))
        return letters(prompts, completions)

    rows = [{"messages": CHAT, "answer": "a"}] * 4
    groups = {} if algo == "reinforce_pp" else {"num_generations": 2}
    trainer(tiny, tmp_path, algo, reward=wants_text, prompts=rows, **groups).train()
    assert seen == [("Say a.", str, "a")]


@pytest.mark.slow
@pytest.mark.parametrize("algo", ALGORITHMS)
def test_rewards_all_alike_are_told(tiny, tmp_path, algo, caplog):
    groups = {} if algo == "reinforce_pp" else {"num_generations": 2}
    same = reward_fn(lambda prompts, completions, **_: [0.5] * len(prompts), name="same")
    trainer(tiny, tmp_path, algo, reward=same, **groups).train()
    assert "update 1: all rewards that are compared are alike" in caplog.text
    caplog.clear()
    trainer(tiny, tmp_path, algo, **groups).train()
    assert "alike" not in caplog.text


def test_a_prompt_without_room_for_an_answer_is_named(tiny, tmp_path):
    with pytest.raises(DataError, match="row 1: a prompt of 2045 tokens and an answer of 6 do not"):
        trainer(tiny, tmp_path, "rloo", prompts=["one", "x" * 2045])


@pytest.mark.slow
def test_several_rewards_are_weighed_and_logged_by_name(tiny, tmp_path):
    first = reward_fn(lambda prompts, completions, **_: [1.0] * len(prompts), name="one")
    second = reward_fn(lambda prompts, completions, **_: [2.0] * len(prompts), name="two")
    made = trainer(tiny, tmp_path, "reinforce_pp", reward=[first, second], reward_weights=[3, 0.5])
    before = weights_of(made.trl_trainer.model)
    made.train()
    assert logged(made, "rewards/one/mean") == [1.0]
    assert logged(made, "rewards/two/mean") == [2.0]
    assert logged(made, "reward") == [4.0]  # 3 * 1 + 0.5 * 2
    assert not moved(made.trl_trainer.model, before)  # all alike: there is nothing to learn


@pytest.mark.slow
@pytest.mark.parametrize("algo", ALGORITHMS)
def test_a_reward_model_is_a_reward(tiny, tmp_path, algo):
    judge = load_model(str(tiny), reward_model=True).policy
    groups = {} if algo == "reinforce_pp" else {"num_generations": 2}
    made = trainer(tiny, tmp_path, algo, reward=judge, **groups)
    before = weights_of(made.trl_trainer.model)
    made.train()
    assert moved(made.trl_trainer.model, before)


@pytest.mark.slow
def test_what_was_trained_is_saved_with_its_tokenizer(tiny, tmp_path):
    made = trainer(tiny, tmp_path / "run", "grpo", num_generations=2)
    made.train()
    made.save_model()
    again, tokenizer, _ = load_model(str(tmp_path / "run"), load_ref=False)
    assert not moved(again, weights_of(copy.deepcopy(made.trl_trainer.model)))
    assert tokenizer.chat_template
    made.save_model(tmp_path / "elsewhere")
    assert json.loads((tmp_path / "elsewhere/config.json").read_text())["model_type"] == "llama"


@pytest.mark.slow
def test_an_exception_in_a_reward_names_the_texts(tiny, tmp_path):
    def breaks(prompts, completions, **columns):
        raise KeyError("score")

    with pytest.raises(ConfigError, match=r"reward breaks raised KeyError.*prompt '(one|two|th|f)"):
        trainer(tiny, tmp_path, "grpo", reward=breaks, num_generations=2).train()


def test_what_is_no_reward_model_is_refused(tiny, tmp_path):
    with pytest.raises(ConfigError, match=r"is no reward model.*reward_model=True"):
        trainer(tiny, tmp_path, "rloo", reward=load_model(str(tiny)).policy)


@pytest.mark.parametrize("reward", [None, []])
def test_there_must_be_a_reward(tiny, tmp_path, reward):
    with pytest.raises(ConfigError, match="reward is missing"):
        trainer(tiny, tmp_path, "grpo", reward=reward)


def test_weights_must_be_as_many_as_rewards(tiny, tmp_path):
    with pytest.raises(ConfigError, match="2 for 1 rewards"):
        trainer(tiny, tmp_path, "grpo", reward_weights=[1.0, 2.0])


def test_rows_are_checked_before_anything_is_trained(tiny, tmp_path):
    with pytest.raises(DataError, match="needs prompt or messages"):
        trainer(tiny, tmp_path, "grpo", prompts=[{"question": "one"}])


def test_preferences_are_for_another_trainer(tiny, tmp_path):
    with pytest.raises(ConfigError, match="algo=dpo is not for OnlineTrainer, which knows grpo"):
        trainer(tiny, tmp_path, "dpo")


def test_an_adapter_has_no_other_reference(tiny, tmp_path):
    model, tokenizer, _ = load_model(str(tiny), peft={"r": 2})
    with pytest.raises(ConfigError, match="leave ref_model out"):
        OnlineTrainer(
            model,
            tokenizer,
            config("rloo", tmp_path),
            ref_model=load_model(str(tiny)).ref,
            reward=letters,
            train_dataset=from_list(PROMPTS),
        )


@pytest.mark.slow
@pytest.mark.parametrize("algo", ALGORITHMS)
def test_forty_updates_raise_the_reward(tiny, tmp_path, algo):
    def small_bytes(prompts, completions, **columns):
        return [sum(c < "a" for c in text) / max(len(text), 1) for text in completions]

    groups = {} if algo == "reinforce_pp" else {"num_generations": 4}
    made = trainer(
        tiny,
        tmp_path,
        algo,
        reward=small_bytes,
        per_device_train_batch_size=16,
        max_steps=40,
        prompts=PROMPTS * 4,
        num_train_epochs=100,
        beta=0.001,
        **groups,
    )
    made.train()
    rewards = logged(made, "reward")
    assert sum(rewards[-10:]) > sum(rewards[:10]) + 2.0
