import contextlib
import itertools
import logging
import math
import os
import shutil

import pytest
import torch
from ppo.models import call, critic, dialogue, make, settings

from drl.errors import ConfigError, DataError, RunError
from drl.ppo.checkpoint import has_state, load_learner_state, save_learner
from drl.ppo.judged import Judged
from drl.ppo.layout import lay_out
from drl.ppo.learner import PPOLearner
from drl.ppo.policy import Policy
from drl.ppo.targets import aim
from drl.ppo.trainable import train_only
from drl.ppo.trajectory import Trajectory, TurnRecord

BATCH = [
    dialogue([1, 11, 12], ([21, 22, 23], 1.0), ([24, 2], 0.0), group="a"),
    dialogue([1, 13], ([25, 2], 0.5), ([26], -1.0), ([27, 28], 1.0), group="a"),
    dialogue([1, 14, 15, 16], ([30], 0.25), group="b"),
    dialogue([1, 17], ([31, 32, 33, 34, 2], 2.0), group="b"),
]


def _learner(kind="llama", critic_settings="shared", seed=0, model=None, **changes):
    critic_used = None if critic_settings is None else critic(kind=critic_settings)
    policy = Policy(model or make(kind), critic_used, 1.0, seed=0)
    return PPOLearner(policy, settings(**changes), seed)


def _weights(learner):
    return {name: tensor.clone() for name, tensor in learner.policy.state().items()}


def _same(first, second, **tolerance):
    return all(torch.allclose(first[name], second[name], **tolerance) for name in first)


@pytest.mark.parametrize("level", ["token", "turn", "dialogue"])
@pytest.mark.parametrize("kind", ["gpt2", "flan_t5"])
def test_before_anything_is_learned_the_ratio_is_one_and_the_kl_nothing(kind, level):
    learner = _learner(kind, level=level, kl_weight=0.1)
    first = learner.update(BATCH)
    assert first["policy/first_ratio_error"] < 1e-5
    assert first["objective/kl"] == 0.0
    second = learner.update(BATCH)
    assert second["policy/first_ratio_error"] < 1e-5
    assert second["objective/kl"] != 0.0


@pytest.mark.parametrize("mean_over", ["token", "turn", "dialogue"])
@pytest.mark.parametrize("level", ["token", "turn", "dialogue"])
def test_what_is_computed_at_once_changes_nothing(level, mean_over):
    changes = {"level": level, "mean_over": mean_over, "whiten": True, "kl_weight": 0.05}
    whole, parts = _learner(**changes), _learner(**changes, micro_batch_tokens=1)
    told = whole.update(BATCH), parts.update(BATCH)
    assert _same(_weights(whole), _weights(parts), atol=1e-6)
    for name, value in told[0].items():
        assert value == pytest.approx(told[1][name], abs=1e-5, nan_ok=True), name


def test_a_step_is_the_analytic_policy_gradient_of_a_bandit():
    """One token, three arms pulled: grad of the loss by the head is -mean A (e_a - p) h."""
    model = make("gpt2")
    train_only(model, "lm_head")
    prompt, pulled = [1, 11], {21: 1.0, 22: -0.5, 23: 2.0}
    with torch.no_grad():
        hidden = model.base_model(input_ids=torch.tensor([prompt])).last_hidden_state[0, -1]
        head = model.lm_head.weight.clone()
        probs = (head @ hidden).softmax(dim=0)
    gradient = torch.zeros_like(head)
    for arm, advantage in pulled.items():
        gradient -= advantage / 3 * torch.outer(torch.eye(len(head))[arm] - probs, hidden)
    learner = _learner(model=model, critic_settings=None, baseline="none")
    learner.update([dialogue(prompt, ([arm], reward)) for arm, reward in pulled.items()])
    torch.testing.assert_close(model.lm_head.weight, head - 0.1 * gradient)


def test_a_cut_dialogue_is_valued_by_what_would_have_come_next():
    """V = 0.5 after the cut, gamma 1, lam 1: the return of a turn without reward is 0.5."""
    learner = _learner(lam=1.0, value_learning_rate=1e-9, learning_rate=1e-9)
    with torch.no_grad():
        learner.policy.head.bias.fill_(0.5)
    turns = dialogue([1, 11], ([21], 0.0)).turns
    whole = learner.update([Trajectory(turns, "g")])
    cut = learner.update([Trajectory(turns, "g", next_prompt=(1, 11, 21, 5, 6))])
    # value loss 0.5 (V - R)^2: R = 0 at a true end, 0.5 at a cut
    assert whole["loss/value_avg"] == pytest.approx(0.125)
    assert cut["loss/value_avg"] == pytest.approx(0.0, abs=1e-9)


def test_the_others_of_a_group_are_the_baseline():
    """Group b: returns 0.25 and 2, so advantages -1.75 and 1.75; the policy loss is -A / n."""
    learner = _learner(
        critic_settings=None, baseline="group", level="dialogue", mean_over="dialogue"
    )
    told = learner.update(BATCH[2:])
    # sum over tokens of -A, over 2 dialogues: (1 * 1.75 - 5 * 1.75) / 2
    assert told["loss/policy_avg"] == pytest.approx(-3.5)


def test_who_is_alone_in_a_group_is_left_out_and_counted():
    learner = _learner(critic_settings=None, baseline="group", level="dialogue")
    told = learner.update([*BATCH[:2], BATCH[2]])
    assert told["num_unused_decisions"] == 1.0


def test_equal_rewards_leave_a_group_baseline_nothing_to_learn_and_it_says_so(caplog):
    learner = _learner(critic_settings=None, baseline="group", level="dialogue", optimizer="adamw")
    before = _weights(learner)
    with caplog.at_level(logging.WARNING):
        told = learner.update([dialogue([1], ([7], 1.0)), dialogue([1], ([8], 1.0))])
    assert told["skipped"] == 1.0
    assert "nothing to learn" in caplog.text
    assert _same(before, _weights(learner), rtol=0, atol=0)


@pytest.mark.parametrize("reward", [0.0, 0.5])
def test_equal_rewards_still_update_with_a_critic_and_it_says_so(caplog, reward):
    learner = _learner()
    with caplog.at_level(logging.WARNING):
        told = learner.update([dialogue([1], ([7], reward)), dialogue([1], ([8], reward))])
    assert told["skipped"] == 0.0
    assert told["num_steps"] == 1.0
    assert "all rewards of a batch are equal" in caplog.text


def test_given_advantages_replace_the_estimate_and_weights_their_count():
    turn = TurnRecord((call([1, 11], [21]),), 5.0, weight=0.25, advantage=2.0)
    learner = _learner(critic_settings=None, baseline="none", mean_over="turn")
    told = learner.update([Trajectory((turn,), "g")])
    assert told["loss/policy_avg"] == pytest.approx(-2.0)  # -w A / w


def test_the_critic_learns_the_returns_of_a_known_process():
    """The return is 1 or -1, as the first word of the prompt says."""
    learner = _learner(
        "llama",
        "separate",
        optimizer="adamw",
        learning_rate=1e-9,
        value_learning_rate=0.02,
        epochs=4,
        value_weight=1.0,
    )
    draw = torch.Generator().manual_seed(0)
    for _ in range(30):
        words = torch.randint(20, 30, (16, 2), generator=draw).tolist()
        batch = [
            dialogue([1, 11 + good, *w[:1]], ([w[1]], 2.0 * good - 1))
            for w in words
            for good in (0, 1)
        ]
        told = learner.update(batch)
    assert told["val/explained_variance"] > 0.95


def test_the_kl_is_paid_where_it_arises():
    """A reward of -weight x log(p/q) a token adds up to -weight x objective/kl a trajectory."""
    learner = _learner(kl_weight=0.3, learning_rate=0.05)
    learner.update(BATCH)
    told = learner.update(BATCH)
    assert told["objective/non_score_reward"] == pytest.approx(-0.3 * told["objective/kl"])


def test_an_update_stops_once_the_policy_is_too_far():
    learner = _learner(epochs=20, learning_rate=1.0, target_kl=0.01)
    told = learner.update(BATCH)
    assert told["stopped_early"] == 1.0
    assert told["num_steps"] < 20
    assert _learner(epochs=20, learning_rate=1.0).update(BATCH)["num_steps"] == 20


def test_steps_whose_gradients_are_no_numbers_are_left_out_and_end_it_at_last():
    learner = _learner(epochs=1, value_weight=float("inf"))
    before = _weights(learner)
    assert learner.update(BATCH)["num_skipped_steps"] == 1.0
    assert _same(before, _weights(learner), rtol=0, atol=0)
    learner.update(BATCH)
    with pytest.raises(RunError, match="no numbers"):
        learner.update(BATCH)


@pytest.mark.parametrize("reward", [1e16, 1e30, 1e300, float("inf"), float("nan")])
@pytest.mark.parametrize("baseline", ["critic", "none"])
def test_a_reward_of_which_gradients_would_be_no_numbers_is_named(reward, baseline):
    critic_settings = "shared" if baseline == "critic" else None
    learner = _learner(critic_settings=critic_settings, baseline=baseline)
    turn = TurnRecord((call([1], [7]),), 0.0, token_rewards=((reward,),))
    batches = ([dialogue([1], ([7], reward))], [Trajectory((turn,), "g")])
    for batch in batches:
        with pytest.raises(DataError, match=r"trajectory 0 \(group g\) has rewards of"):
            learner.update(batch)


@pytest.mark.parametrize("level", ["token", "turn"])
@pytest.mark.parametrize("whiten", [True, False])
def test_the_largest_reward_that_is_taken_gives_gradients_that_are_numbers(level, whiten):
    learner = _learner(level=level, whiten=whiten, max_grad_norm=1.0)
    told = learner.update([dialogue([1, 11], ([7, 8], 1e15)), dialogue([1, 11], ([9], -1e15))])
    assert (told["num_steps"], told["num_skipped_steps"]) == (1.0, 0.0)


@pytest.mark.parametrize("kind", ["gpt2", "flan_t5"])
@pytest.mark.parametrize("baseline", ["critic", "none"])
def test_a_batch_without_any_weight_changes_nothing_and_it_says_so(caplog, kind, baseline):
    critic_settings = "shared" if baseline == "critic" else None
    changes = {"baseline": baseline, "mean_over": "dialogue", "kl_weight": 0.1, "whiten": True}
    learner = _learner(kind, critic_settings, optimizer="adamw", **changes)
    before = _weights(learner)
    turn = TurnRecord((call([1, 11], [21]),), 5.0, weight=0.0)
    with caplog.at_level(logging.WARNING):
        told = learner.update([Trajectory((turn,), "g")])
    assert (told["skipped"], told["num_tokens"]) == (1.0, 0.0)
    assert "weight 0" in caplog.text
    assert _same(before, _weights(learner), rtol=0, atol=0)


@pytest.mark.parametrize("kind", ["gpt2", "flan_t5"])
@pytest.mark.parametrize("mean_over", ["token", "turn", "dialogue"])
def test_a_process_whose_own_batch_has_no_weight_aims_at_nothing(kind, mean_over):
    turn = TurnRecord((call([1, 11], [21]),), 5.0, weight=0.0)
    layout = lay_out([Trajectory((turn,), "g")], "turn", None if kind == "gpt2" else 0)
    zero_D, none_D = torch.zeros(1), torch.ones(1, dtype=torch.bool)
    targets = aim(layout, Judged(zero_D, zero_D, zero_D, none_D, zero_D), mean_over)
    assert (len(targets.weights_N), len(targets.shares_N)) == (0, 0)


@pytest.mark.parametrize("kind", ["gpt2", "flan_t5"])
def test_texts_without_a_single_token_are_refused_as_data(kind):
    with pytest.raises(DataError, match="holds no sampled token"):
        _learner(kind).update([dialogue([1, 11], ([], 1.0)), dialogue([1, 12], ([], 0.0))])


def test_how_a_batch_was_laid_out_is_told():
    """The second turn's prompt does not go on from the first: two sequences, and three in all."""
    anew = TurnRecord((call([1, 11], [21]),), 0.0), TurnRecord((call([1, 12], [22]),), 1.0)
    told = _learner().update([dialogue([1], ([7], 1.0), ([8], 0.0)), Trajectory(anew, "g")])
    assert (told["num_trajectories"], told["num_turns"], told["num_decisions"]) == (2, 4, 4)
    assert (told["num_sequences"], told["num_tokens"]) == (3, 4)


@pytest.mark.parametrize("critic_settings", ["shared", "separate", None])
def test_a_learner_that_was_saved_goes_on_as_if_it_had_not_stopped(tmp_path, critic_settings):
    baseline = "none" if critic_settings is None else "critic"
    changes = {
        "optimizer": "adamw",
        "epochs": 2,
        "minibatches": 2,
        "kl_weight": 0.1,
        "learning_rate": 0.01,
        "baseline": baseline,
    }
    straight = _learner(critic_settings=critic_settings, **changes)
    for _ in range(4):
        straight.update(BATCH)
    broken = _learner(critic_settings=critic_settings, **changes)
    for _ in range(2):
        broken.update(BATCH)
    save_learner(broken, tmp_path / "state")
    resumed = _learner(critic_settings=critic_settings, **changes)
    load_learner_state(resumed, tmp_path / "state")
    for _ in range(2):
        resumed.update(BATCH)
    assert _same(_weights(straight), _weights(resumed), rtol=0, atol=0)
    assert resumed.num_updates == 4


@pytest.mark.parametrize("place", ["replace", "rmtree"])
@pytest.mark.parametrize("number", range(3))
def test_who_is_killed_while_saving_again_goes_on_from_a_whole_state(
    tmp_path, monkeypatch, place, number
):
    learner = _learner()
    learner.update(BATCH)
    save_learner(learner, tmp_path / "state")
    learner.update(BATCH)
    with monkeypatch.context() as patched:
        module = os if place == "replace" else shutil
        patched.setattr(module, place, _killed_at(number, getattr(module, place)))
        with contextlib.suppress(KeyboardInterrupt):
            save_learner(learner, tmp_path / "state")
    resumed = _learner()
    assert has_state(tmp_path / "state")
    load_learner_state(resumed, tmp_path / "state")
    assert resumed.num_updates in (1, 2)
    save_learner(learner, tmp_path / "state")
    assert [each.name for each in tmp_path.iterdir()] == ["state"]


def _killed_at(number, change):
    """A change to files that ends in the middle when it is called for the n-th time, from 0 on."""
    calls = itertools.count()

    def changed(path, *others, **options):
        if next(calls) == number:
            if not others and path.is_dir():  # a folder that is removed loses a file first
                next(path.iterdir()).unlink()
            raise KeyboardInterrupt
        return change(path, *others, **options)

    return changed


def test_nothing_saved_is_no_state(tmp_path):
    assert not has_state(tmp_path / "state")


def test_a_damaged_state_is_named(tmp_path):
    learner = _learner()
    save_learner(learner, tmp_path / "state")
    (tmp_path / "state" / "optimizer.safetensors").write_bytes(b"x")
    with pytest.raises(RunError, match="cannot be read"):
        load_learner_state(learner, tmp_path / "state")


def test_a_critic_that_is_not_there_is_missed_at_once():
    with pytest.raises(ConfigError, match=r"^baseline=critic, but the policy has no critic"):
        _learner(critic_settings=None)


def test_dropout_is_off():
    model = make("gpt2").train()
    assert model.config.resid_pdrop > 0
    learner = _learner(model=model)
    assert learner.update(BATCH)["policy/first_ratio_error"] < 1e-5


def test_a_batch_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no trajectory"):
        _learner().update([])


def test_explained_variance_has_no_meaning_without_a_critic():
    told = _learner(critic_settings=None, baseline="none").update(BATCH)
    assert math.isnan(told["val/explained_variance"])
