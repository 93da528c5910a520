"""A reward model run from generated recordings to a model that serves, with a tiny encoder."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from drl.domains.candor.files import HIDDEN_REWARDS
from drl.domains.candor.synthetic.settings import Settings
from drl.domains.candor.synthetic.write import generate
from drl.errors import ConfigError, RunError
from drl.launch import assemble, run
from drl.runtime.compose import compose
from drl.runtime.config import to_plain
from drl.runtime.metrics import METRICS, read_metrics
from drl.trainer._reward_model_heads import HEADS
from drl.turn_reward.model import TurnRewardModel
from tests.turn_reward.encoders import save_bart, save_bert

CONF = Path(__file__).parents[2] / "conf"
FIGURES = {
    "global_mse",
    "constant_mse",
    "local_difference",
    "auroc_positive",
    "spearman_session",
    "spearman_hidden",
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A folder with generated conversations and an encoder."""
    folder = tmp_path_factory.mktemp("world")
    generate(Settings(conversations=24, held_out_share=0.3), folder / "candor")
    save_bert(folder / "bert")
    save_bart(folder / "bart")
    return folder


def overrides(world, folder, *more):
    return [
        "dataset=candor",
        f"dataset.root={world / 'candor'}",
        "dataset.division.val_share=0.2",
        "trainer=reward_model/geli",
        f"trainer.encoder.model={world / 'bert'}",
        "trainer.encoder.device=cpu",
        "trainer.training.epochs=3",
        "trainer.seeds=2",
        f"data_dir={world / 'data'}",
        f"hydra.run.dir={folder}",
        *more,
    ]


def learn(world, folder, *more):
    run(CONF, overrides(world, folder, *more))
    return json.loads((folder / "summary.json").read_text())


def test_a_run_ends_with_figures_a_report_and_a_model(world, tmp_path):
    summary = learn(world, tmp_path, "trainer.arms.beside=[li,rudder]")
    assert summary["method"] == "geli"
    assert set(summary) >= FIGURES
    for name in FIGURES:
        assert {"value", "low", "high"} <= set(summary[name])
    assert set(summary["methods"]) == {"geli", "li", "rudder", "rrd"}
    assert set(summary["shuffled"]) == {"geli shuffled_faces", "geli shuffled_both"}
    assert {"constant", "turn_length", "turn_index", "oracle"} == set(summary["baselines"])
    assert summary["synthetic"] is True
    assert any("generated" in words for words in summary["warnings"])
    assert (tmp_path / "report.html").is_file()
    assert {"geli/train", "geli/val"} <= set(summary["curves"])
    assert read_metrics(tmp_path / METRICS)[0]["update"] == 1


def test_the_model_that_is_kept_serves_the_rewards_that_were_measured(world, tmp_path):
    learn(world, tmp_path)
    trainer, parts = assemble(to_plain(compose(CONF, overrides(world, tmp_path))), CONF)
    session = next(each for each in parts.dataset.sessions() if each.split == "test")
    served = TurnRewardModel.load(tmp_path)
    rewards = served.rewards(session.utterances)
    weights = load_file(tmp_path / HEADS / "000.safetensors")
    texts = [trainer.text_format.render(session.utterances, at) for at in session.agent_turns]
    rows = trainer.encoder.load().embed(texts)
    expected = rows @ weights["input.weight"][0, :, 0].numpy() + weights["input.bias"][0, 0].numpy()
    np.testing.assert_allclose(rewards, expected, rtol=1e-4, atol=1e-5)
    # the other seed stands beside it
    other = TurnRewardModel.load(tmp_path / "checkpoints" / "seed_1").rewards(session.utterances)
    assert not np.allclose(rewards, other)


def test_a_second_start_only_tells_and_a_killed_one_goes_on(world, tmp_path):
    first = learn(world, tmp_path)
    assert learn(world, tmp_path) == first
    (tmp_path / "summary.json").unlink()
    shutil.rmtree(tmp_path / "checkpoints" / "final")
    again = learn(world, tmp_path)
    for summary in (first, again):
        del summary["seconds"]
    assert again == first


def test_hidden_rewards_change_nothing_but_the_measure_that_is_about_them(world, tmp_path):
    bare = tmp_path / "candor"
    shutil.copytree(world / "candor", bare)
    (bare / HIDDEN_REWARDS).unlink()
    seen = learn(world, tmp_path / "seen")
    unseen = learn(world, tmp_path / "unseen", f"dataset.root={bare}")
    assert "spearman_hidden" not in unseen
    assert unseen["global_mse"] == seen["global_mse"]
    weights = [
        (tmp_path / name / "checkpoints/final/turn_reward.safetensors")
        for name in ("seen", "unseen")
    ]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_geli_goes_on_from_the_encoder_and_head_that_faces_trained(world, tmp_path):
    faces = tmp_path / "faces"
    summary = learn(
        world,
        faces,
        "trainer=reward_model/li/finetuned",
        "trainer.tune.epochs=1",
        "trainer.arms.controls=false",
    )
    assert {"encoder/train", "encoder/val"} <= set(summary["curves"])
    both = learn(
        world, tmp_path / "both", f"trainer.encoder.model={faces}", f"trainer.start={faces}"
    )
    assert both["encoder"] == str(faces / "checkpoints" / "encoder")
    # the model of the first run moves with its encoder
    moved = tmp_path / "moved"
    faces.rename(moved)
    assert len(TurnRewardModel.load(moved).rewards([])) == 0
    # of its 32 numbers a token one mean for the context, and one for the response
    assert TurnRewardModel.load(moved).loaded.dimension == 2 * 32


def test_a_run_without_an_encoder_of_its_own_cannot_be_one(world, tmp_path):
    learn(world, tmp_path / "plain")
    with pytest.raises(ConfigError, match="trained no encoder"):
        learn(world, tmp_path / "next", f"trainer.encoder.model={tmp_path / 'plain'}")


def test_a_start_that_does_not_exist_is_named(world, tmp_path):
    with pytest.raises(RunError, match="holds no turn reward model"):
        learn(world, tmp_path / "run", f"trainer.start={tmp_path / 'none'}")


def test_where_a_language_model_says_nothing_usable_scores_are_learned_in_equal_parts(
    world, tmp_path
):
    summary = learn(
        world,
        tmp_path,
        "trainer=reward_model/llm_geli",
        "llm=scripted",
        "trainer.labelling.retries=0",
        "trainer.arms.controls=false",
    )
    assert summary["method"] == "distil"
    told = summary["labelling"]
    assert told["uniform"] == told["sessions"] > 0
    # equal parts amount to the score exactly, which says nothing of any prediction
    assert told["label_sum_mse_train"] == pytest.approx(0.0, abs=1e-9)
    assert summary["global_mse"]["value"] > 0.1


def test_the_released_recipe_runs_in_two_stages(world, tmp_path):
    small = [f"trainer.encoder.model={world / 'bart'}", "trainer.encoder.max_length=96"]
    faces = tmp_path / "faces"
    once = ["trainer.tune.epochs=1", "trainer.training.epochs=0"]
    learn(world, faces, "trainer=reward_model/li/paper", *small, *once)
    # no epoch of a frozen encoder follows: the head is the one that learned with it
    kept = TurnRewardModel.load(faces).params
    tuned = load_file(faces / "checkpoints" / "encoder" / "tuned_head.safetensors")
    for name, weight in kept.items():
        torch.testing.assert_close(weight, tuned[name])
    both = learn(
        world,
        tmp_path / "both",
        "trainer=reward_model/geli/paper",
        *small,
        f"trainer.encoder.model={faces}",
        f"trainer.start={faces}",
    )
    objective = both["methods"]["geli"]["objective"]
    assert (objective["draws"], objective["length"], objective["replaced"]) == (160, 160, True)
    model = TurnRewardModel.load(tmp_path / "both")
    # 10 times the answer is learned: 160 rewards of 0.5 are 80, which is 8 points
    assert model.score([0.5, 0.5]) == pytest.approx(8.0)


@pytest.mark.parametrize("method", ["rrd", "ircr", "rudder"])
def test_what_geli_is_compared_with_runs_as_released(world, tmp_path, method):
    summary = learn(
        world,
        tmp_path,
        f"trainer=reward_model/{method}/paper",
        f"trainer.encoder.model={world / 'bart'}",
        "trainer.encoder.max_length=96",
        "trainer.training.epochs=1",
    )
    assert summary["method"] == method
