"""A turn reward model gives the same rewards however it is asked, and wherever it lies."""

import json
import shutil
import threading
from dataclasses import replace

import numpy as np
import pytest
import torch

from drl.errors import ConfigError, RunError
from drl.runtime.run_dir import ADAPTER_OF_RUN
from drl.turn_reward.embed import embed
from drl.turn_reward.head import apply
from drl.turn_reward.model import TurnRewardModel
from drl.turn_reward.model_folder import model_version
from drl.turn_reward.session import Utterance
from drl.types import Role
from tests.turn_reward.counting_encoder import CountingEncoder, session
from tests.turn_reward.encoders import FORMAT, save_bert, settings
from tests.turn_reward.models import model_of, save_released_head, save_small_model

KINDS = ["linear", "mlp", "lstm"]
SESSION = session("a talk", 12)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return settings(save_bert(tmp_path_factory.mktemp("encoders") / "bert"))


@pytest.fixture(params=KINDS)
def model(request, encoder):
    return model_of(encoder, request.param)


def same(one: TurnRewardModel, other: TurnRewardModel) -> bool:
    """Whether two models give the same rewards, up to rounding."""
    rewards = (each.rewards(SESSION.utterances) for each in (one, other))
    return np.allclose(*rewards, rtol=0, atol=1e-5)


def test_a_session_earns_what_it_earned_in_training(model, tmp_path):
    sessions = [SESSION, session("another", 7), session("long", 41, first=Role.AGENT)]
    embedded = embed(sessions, model.encoder.load(), FORMAT, tmp_path, "1")
    for each in sessions:
        rows = torch.from_numpy(np.array(embedded.of(each.id)))
        trained = apply(model.head, model.params, rows)
        # embeddings of one batch and of another differ by rounding, up to 1e-5 of the largest
        np.testing.assert_allclose(model.rewards(each.utterances), trained, rtol=1e-4, atol=1e-5)


def test_each_turn_earns_the_same_as_the_last_one_and_in_the_middle(model):
    said = SESSION.utterances
    rewards = model.rewards(said)
    assert len(rewards) == len(SESSION.agent_turns) == 6
    places = SESSION.agent_turns
    on_the_way = [model.reward_of_last(said[: place + 1]) for place in places]
    together = model.rewards_of([(said, place) for place in reversed(places)])
    np.testing.assert_allclose(on_the_way, rewards, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(together[::-1], rewards, rtol=1e-4, atol=1e-6)


def test_nobody_who_spoke_earns_nothing(model):
    assert model.rewards([]) == []
    assert model.rewards([Utterance(Role.USER, "hello")]) == []
    assert model.rewards_of([]) == []


def test_a_turn_is_embedded_once(encoder):
    model = model_of(encoder, "lstm", 4)
    model.loaded = counting = CountingEncoder()
    for place in SESSION.agent_turns:
        model.reward_of_last(SESSION.utterances[: place + 1])
    model.rewards(SESSION.utterances)
    assert len(counting.asked) == 6


def test_what_is_remembered_is_bounded(encoder):
    model = model_of(encoder, "linear", 4)
    model.loaded = counting = CountingEncoder()
    long = session("long", 10_000).utterances
    first = model.rewards(long)
    assert model.rewards(long) == first
    assert len(counting.asked) == 5000 + (5000 - 4096)  # the last 4,096 are remembered


def test_threads_may_ask_at_once(encoder):
    model, found = model_of(encoder), {}
    sessions = [session(str(number), 8) for number in range(4)]

    def ask(each):
        found[each.id] = model.rewards(each.utterances)

    threads = [threading.Thread(target=ask, args=(each,)) for each in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in sessions:
        np.testing.assert_allclose(found[each.id], model.rewards(each.utterances), rtol=1e-5)


def test_rewards_tell_a_score_in_points(model):
    # mean 0.5 of a scaling with centre 6 and 1.5 points: 6 + 1.5 * 0.5
    assert model.score([0.0, 1.0, 0.5]) == pytest.approx(6.75)


def test_a_saved_model_gives_the_same_rewards(model, tmp_path):
    model.save(tmp_path / "model")
    again = TurnRewardModel.load(tmp_path / "model")
    assert (again.head, again.scaling, again.text_format) == (
        model.head,
        model.scaling,
        model.text_format,
    )
    assert same(again, model)


def test_a_model_moves_with_the_encoder_beside_it(tmp_path):
    save_small_model(tmp_path / "here")
    before = TurnRewardModel.load(tmp_path / "here" / "model")
    before.rewards(SESSION.utterances)
    shutil.move(tmp_path / "here", tmp_path / "there")
    moved = TurnRewardModel.load(tmp_path / "there" / "model")
    assert same(moved, before)
    moved.save(tmp_path / "elsewhere" / "model")
    again = TurnRewardModel.load(tmp_path / "elsewhere" / "model")
    assert same(again, before)


def test_a_run_is_its_model(tmp_path):
    folder = save_small_model(tmp_path / "small")
    shutil.copytree(tmp_path / "small", tmp_path / "run" / ADAPTER_OF_RUN.parent)
    (tmp_path / "run" / ADAPTER_OF_RUN.parent / "model").rename(tmp_path / "run" / ADAPTER_OF_RUN)
    assert same(TurnRewardModel.load(tmp_path / "run"), TurnRewardModel.load(folder))
    assert model_version(tmp_path / "run") == model_version(folder)


def test_other_weights_of_head_or_encoder_are_another_version(tmp_path):
    folder = save_small_model(tmp_path / "small")
    version = model_version(folder)
    model = TurnRewardModel.load(folder)
    model.params["input.weight"] += 1.0
    model.save(folder)
    assert model_version(folder) != version
    save_small_model(tmp_path / "small")
    assert model_version(folder) == version
    save_bert(tmp_path / "small" / "encoder", hidden_size=8, num_hidden_layers=2)
    assert model_version(folder) != version


def refusal(where) -> str:
    with pytest.raises(RunError) as caught:
        TurnRewardModel.load(where)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_released_head_is_refused_by_itself_and_in_its_folder(tmp_path):
    file = tmp_path / "reward1_eager-glade-5"
    save_released_head(file, 4)
    for where in (file, tmp_path):
        assert f"{file}: is a pickle, which can run any code, so it is not loaded" in refusal(where)
        assert f"drl convert-reward-head {file} --encoder ENCODER --out DIR" in refusal(where)


def test_folders_without_a_model_are_told(tmp_path):
    assert "holds no turn reward model" in refusal(tmp_path)
    assert "holds no turn reward model" in refusal(tmp_path / "none")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "turn_reward-0"}, "is of version turn_reward-0, this code reads turn_reward-1"),
        ({"head": {"kind": "linear"}}, "cannot be read"),
        ({"scaling": None}, "cannot be read"),
        ({"text_format": 3}, "cannot be read"),
    ],
)
def test_a_damaged_model_is_told_in_one_line(tmp_path, change, message):
    file = save_small_model(tmp_path) / "turn_reward.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    assert message in refusal(file.parent)


def test_weights_that_cannot_be_read_are_told(tmp_path):
    folder = save_small_model(tmp_path)
    (folder / "turn_reward.safetensors").write_bytes(b"no")
    assert "turn_reward.safetensors: cannot be read" in refusal(folder)
    (folder / "turn_reward.json").write_text("{")
    assert "turn_reward.json: cannot be read" in refusal(folder)


def test_an_encoder_that_the_head_was_not_trained_on_is_refused(encoder):
    model = replace(model_of(encoder), encoder=replace(encoder, pooling="mean_parts"))
    with pytest.raises(ConfigError, match="gives 64 numbers of a turn, but the head reads 32"):
        model.rewards(SESSION.utterances)
