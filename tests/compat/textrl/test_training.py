"""TextRL 0.2's training and evaluation: what is counted, called, written and kept."""

import json
import logging
import sys
from itertools import pairwise

import numpy as np
import pytest
from compat.textrl.words import PROMPTS, Ruled, built
from transformers import PreTrainedModel

from drl.compat.textrl import Evaluator, save_agent, train_agent_with_evaluation
from drl.compat.textrl.evaluator import eval_performance, run_evaluation_episodes
from drl.compat.textrl.trainer import train_agent
from drl.errors import ConfigError, RunError


def agent_of(kind="gpt2", ppo=None, **settings):
    env, actor = built(kind, **{"actor": {"optimizer": "adamw"}, **settings})
    ppo = {"update_interval": 10, "minibatch_size": 10, "epochs": 2, "lr": 1e-2, **(ppo or {})}
    return env, actor.agent_ppo(**ppo)


def train(agent, env, outdir, **changes):
    settings = {"steps": 40, "eval_n_steps": None, "eval_n_episodes": 2, "eval_interval": 15}
    return train_agent_with_evaluation(agent, env, outdir=outdir, **(settings | changes))


class Share(Ruled):
    """Pays for one word, when all candidates are over: the share of it in the text."""

    def get_reward(self, input_item, predicted_list, finish):
        super().get_reward(input_item, predicted_list, finish)
        if not finish:
            return [0] * len(predicted_list)
        return [words.count("w20") / len(words) for words in predicted_list]


@pytest.mark.slow
def test_mean_reward_rises_clearly_in_fifty_updates(tmp_path):
    env, actor = built(
        env_class=Share, max_length=7, compare_sample=4, actor={"optimizer": "adamw", "seed": 1}
    )
    agent = actor.agent_ppo(update_interval=16, minibatch_size=1000, epochs=4, lr=0.02)
    train_agent(agent, env, steps=50 * 16, outdir=tmp_path)
    shares = [
        np.mean([words.count("w20") / len(words) for words in texts])
        for _, texts, finish in env.calls
        if finish
    ]
    assert np.mean(shares[:12]) < 0.1
    assert np.mean(shares[-12:]) > 0.5


def test_steps_count_positions_of_tokens_whatever_the_candidates(tmp_path):
    """Issue 17."""
    env, agent = agent_of(compare_sample=3)
    seen = []
    _, history = train(agent, env, tmp_path, step_hooks=[lambda e, a, t: seen.append((e, a, t))])
    assert [t for _, _, t in seen] == list(range(1, 41))
    assert {id(e) for e, _, _ in seen} == {id(env)}
    assert {id(a) for _, a, _ in seen} == {id(agent)}
    rows = [line.split("\t") for line in (tmp_path / "scores.txt").read_text().splitlines()]
    assert rows[0] == [
        *("steps", "episodes", "elapsed", "mean", "median", "stdev", "max", "min"),
        *("average_value", "average_entropy", "average_value_loss", "average_policy_loss"),
        *("n_updates", "explained_variance"),
    ]
    steps = [int(row[0]) for row in rows[1:]]
    # each comes 15 steps or more after the last multiple of 15 before
    assert steps[0] >= 15
    assert all(later >= earlier // 15 * 15 + 15 for earlier, later in pairwise(steps))
    assert [float(row[3]) for row in rows[1:]] == [row["eval_score"] for row in history]
    assert list(history[0]) == [*rows[0][8:], "eval_score"]


def test_agents_are_saved_at_the_end_when_they_are_best_and_from_time_to_time(tmp_path):
    env, agent = agent_of()
    got, history = train(agent, env, tmp_path, checkpoint_freq=16)
    assert got is agent
    folders = {path.name for path in tmp_path.iterdir() if path.is_dir()}
    assert folders == {"best", "40_finish", "16_checkpoint", "32_checkpoint"}
    agent.load(tmp_path / "best")
    found = eval_performance(env, agent, None, 2)
    assert found["mean"] == max(row["eval_score"] for row in history)
    save_agent(agent, 7, tmp_path, suffix="_own")
    assert (tmp_path / "7_own" / "policy.safetensors").is_file()


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_what_was_learned_is_saved_when_training_is_broken_off(tmp_path, error):
    env, agent = agent_of()

    def hook(env, agent, t):
        if t == 12:
            raise error

    with pytest.raises(error):
        train(agent, env, tmp_path, step_hooks=[hook])
    assert (tmp_path / "12_except" / "policy.safetensors").is_file()


def test_training_ends_when_an_evaluation_is_good_enough(tmp_path):
    env, agent = agent_of()
    _, history = train(agent, env, tmp_path, steps=200, successful_score=0.1)
    assert len(history) == 1
    (last,) = tmp_path.glob("*_finish")
    assert int(last.name.split("_")[0]) < 200


def test_hooks_of_evaluations_get_all_by_name_and_must_say_that_they_can(tmp_path):
    class Hook:
        support_train_agent = True

        def __init__(self):
            self.calls = []

        def __call__(self, **given):
            self.calls.append(given)

    env, agent = agent_of()
    hook = Hook()
    _, history = train(agent, env, tmp_path, evaluation_hooks=[hook])
    assert len(hook.calls) == len(history)
    names = {"env", "agent", "evaluator", "step", "eval_stats", "agent_stats", "env_stats"}
    assert hook.calls[0].keys() == names
    assert hook.calls[0]["eval_stats"]["mean"] == history[0]["eval_score"]
    with pytest.raises(ConfigError, match="support_train_agent = True"):
        train(agent, env, tmp_path, evaluation_hooks=[lambda **given: None])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"eval_n_steps": 3}, "eval_n_steps=3 and eval_n_episodes=2; give one"),
        ({"eval_n_episodes": None}, "eval_n_steps=None and eval_n_episodes=None; give one"),
        ({"eval_n_episodes": 0}, "at least 1 is needed"),
        ({"steps": 0}, "steps=0 must be at least 1"),
        ({"eval_interval": 0}, "eval_interval=0 must be at least 1"),
        ({"eval_during_episode": True}, "needs an environment of its own"),
        ({"use_tensorboard": True}, "pip install tensorboard"),
    ],
)
def test_settings_that_break_a_rule_are_refused_before_training(
    tmp_path, monkeypatch, changes, told
):
    monkeypatch.setitem(sys.modules, "tensorboard", None)  # as if it were not installed
    env, agent = agent_of()
    with pytest.raises(ConfigError, match=told):
        train(agent, env, tmp_path, **changes)
    assert not list(tmp_path.glob("*_except"))


@pytest.mark.parametrize("start", [train, lambda a, e, outdir: train_agent(a, e, 9, outdir)])
def test_a_folder_that_cannot_be_made_is_refused_before_training(tmp_path, start):
    env, agent = agent_of()
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"outdir=.* cannot be made \(File exists\); choose another"):
        start(agent, env, tmp_path / "file")
    assert agent.num_stored == 0


def test_evaluations_take_the_same_prompts_so_that_scores_can_be_compared(tmp_path):
    """Fault 10: the best agent was chosen by one prompt by chance."""
    env, agent = agent_of(actor={"optimizer": "adamw", "act_deterministically": False})
    first = run_evaluation_episodes(env, agent, None, 5)
    items = [item["input"] for item, _, finish in env.calls if finish]
    assert items == [item["input"] for item in (*PROMPTS, *PROMPTS[:2])]
    assert run_evaluation_episodes(env, agent, None, 5) == first
    assert agent.training
    assert agent.num_stored == 0


def test_an_evaluation_by_steps_goes_on_until_there_are_as_many(tmp_path):
    env, agent = agent_of()
    lengths = []
    for num_steps in (1, 20):
        env.calls = []
        run_evaluation_episodes(env, agent, num_steps, None)
        lengths.append(len(env.calls))
    assert lengths[0] >= 1
    assert 20 <= lengths[1] < 20 + 7


def test_episodes_are_cut_at_the_length_that_training_and_evaluation_are_given(tmp_path):
    env, agent = agent_of()
    train(agent, env, tmp_path, train_max_episode_len=3)
    assert max(len(words[0]) for _, words, _ in env.calls) == 3
    assert all(finish for _, words, finish in env.calls if len(words[0]) == 3)
    env.calls = []
    train(agent, env, tmp_path, train_max_episode_len=3, eval_max_episode_len=5, steps=15)
    assert max(len(words[0]) for _, words, _ in env.calls) == 5


def test_evaluation_between_steps_uses_its_own_environment(tmp_path):
    env, agent = agent_of()
    other = Ruled(env.model, env.tokenizer, PROMPTS[:1], max_length=6)
    _, history = train(agent, env, tmp_path, eval_env=other, eval_during_episode=True)
    assert len(history) == 2  # after steps 15 and 30
    assert {item["input"] for item, _, _ in other.calls} == {PROMPTS[0]["input"]}


def test_training_can_go_on_from_a_step(tmp_path):
    env, agent = agent_of()
    train(agent, env, tmp_path, steps=20)
    lines = (tmp_path / "scores.txt").read_text().splitlines()
    seen = []
    train(agent, env, tmp_path, step_offset=20, step_hooks=[lambda e, a, t: seen.append(t)])
    assert seen == list(range(21, 41))
    assert (tmp_path / "40_finish").is_dir()
    assert (tmp_path / "scores.txt").read_text().splitlines()[: len(lines)] == lines


def test_statistics_of_the_environment_are_columns_too(tmp_path):
    class Counting(Ruled):
        def get_statistics(self):
            return [("num_calls", len(self.__dict__.get("calls", ())))]

    env, agent = agent_of(env_class=Counting)
    train(agent, env, tmp_path)
    head, row = (tmp_path / "scores.txt").read_text().splitlines()[:2]
    assert head.split("\t")[-1] == "num_calls"
    assert int(row.split("\t")[-1]) > 0


def test_the_environments_own_reset_chooses_prompts(tmp_path):
    class Ordered(Ruled):
        turn = 0

        def reset(self, input_item=None):
            if input_item is None:
                input_item = self.observation_input[self.turn % 3]
                self.turn += 1
            return super().reset(input_item)

    env, agent = agent_of(env_class=Ordered, ppo={"update_interval": 30})
    train_agent(agent, env, 28, tmp_path)
    begun = [item["input"] for item, words, _ in env.calls if len(words[0]) == 1]
    assert begun == [PROMPTS[place % 3]["input"] for place in range(len(begun))]
    assert len(begun) > 3


def test_a_batch_of_episodes_asks_the_model_once_a_position(tmp_path, monkeypatch):
    env, agent = agent_of(ppo={"update_interval": 35})
    asked = []
    plain = type(env.model).forward

    def counted(self: PreTrainedModel, *args, **kwargs):
        asked.append(kwargs.get("input_ids", args[0] if args else None).shape)
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(type(env.model), "forward", counted)
    train_agent(agent, env, 35, tmp_path)
    writing = [shape for shape in asked if shape[0] == 10]  # 5 episodes of 2 candidates
    assert 5 <= len(writing) <= 7
    assert all(shape[1] == 1 for shape in writing[1:])  # the rest is remembered


def test_it_warns_when_training_changed_hardly_anything(tmp_path, caplog):
    """Issue 15: sgd with the default rate left the model as it was, in silence."""
    caplog.set_level(logging.INFO)
    env, agent = agent_of(actor={"optimizer": "sgd"}, ppo={"lr": 3e-6})
    train_agent(agent, env, 20, tmp_path / "sgd")
    own = [each for each in caplog.records if each.name.startswith("drl.")]
    (warning,) = (each for each in own if each.levelname == "WARNING")
    assert warning.getMessage().startswith("the first update changed the weights by")
    assert "raise lr (the default is 3e-6), use optimizer='adamw'" in warning.getMessage()
    # now, while it can be helped: what is said of the end comes later
    said = [each.getMessage() for each in own]
    assert said.index(warning.getMessage()) < len(said) - 1
    assert "weights have changed by" in said[-1]
    assert "nan" not in " ".join(said)
    caplog.set_level(logging.WARNING)
    caplog.clear()
    env, agent = agent_of()
    before = agent.weight_change()
    train_agent(agent, env, 20, tmp_path / "adamw")
    assert caplog.text == ""
    assert before == 0
    assert agent.weight_change() > 1e-3


def test_one_seed_gives_one_training(tmp_path):
    told = []
    for number, seed in enumerate((3, 3, 4)):
        env, agent = agent_of(actor={"optimizer": "adamw", "seed": seed})
        train_agent(agent, env, 20, tmp_path / str(number))
        told.append(json.dumps(agent.get_statistics()))
    assert told[0] == told[1] != told[2]


def test_an_error_in_get_reward_ends_training_with_prompt_and_texts(tmp_path):
    class Broken(Ruled):
        def get_reward(self, input_item, predicted_list, finish):
            return [float("nan"), 0.0]

    env, agent = agent_of(env_class=Broken, items=PROMPTS[1:2])
    with pytest.raises(ConfigError, match=r"Broken\.get_reward gave .* prompt 'w14', texts"):
        train_agent(agent, env, 20, tmp_path)
    assert (tmp_path / "0_except").is_dir()


def test_equal_rewards_update_with_a_warning(tmp_path, caplog):
    class Equal(Ruled):
        def get_reward(self, input_item, predicted_list, finish):
            return 0

    env, agent = agent_of(env_class=Equal)
    train_agent(agent, env, 10, tmp_path)
    assert "all rewards of a batch are equal" in caplog.text


def test_an_evaluator_can_be_used_by_itself(tmp_path):
    env, agent = agent_of()
    evaluator = Evaluator(agent, env, None, 1, 10, tmp_path, save_best_so_far_agent=False)
    assert evaluator.evaluate_if_necessary(t=9, episodes=1) is None
    score = evaluator.evaluate_if_necessary(t=13, episodes=2)
    assert score == evaluator.max_score
    assert evaluator.evaluate_if_necessary(t=19, episodes=3) is None
    assert evaluator.evaluate_if_necessary(t=20, episodes=3) == score
    assert not (tmp_path / "best").exists()
