"""Arms, arrays and finished groups of a reward model run, without an encoder."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from drl.errors import ConfigError, DataError
from drl.launch import assemble, register_resolvers
from drl.runtime.compose import compose
from drl.runtime.config import to_plain
from drl.runtime.metrics import METRICS, read_metrics
from drl.trainer._reward_model_arms import ArmSettings, method_name
from drl.trainer._reward_model_data import labels_of, material, usable
from drl.trainer._reward_model_heads import HEADS, Plan, learn_heads, rewards_of
from drl.turn_reward.embed import Embedded
from drl.turn_reward.store import Span
from tests.trainer.recorded import sessions
from tests.turn_reward.learning import LI, LINEAR, RRD, TRAINING

CONF = Path(__file__).parents[2] / "conf"
GELI = replace(RRD, local="labels", link="affine")
ALONE = ArmSettings(beside=[], session_weights=[], learning_rates=[], controls=False)
PLAN = Plan(
    head=LINEAR,
    training=replace(TRAINING, epochs=3),
    seeds=2,
    at_once=3,
    score_range=(1.0, 9.0),
    seed=0,
)


def names(settings, objective=GELI):
    return [arm.name for arm in settings.arms(objective, 0.1)]


def stuff(given=None, **targets):
    """Embeddings of two numbers: how many words a turn has, and whether it is warm."""
    given = given or sessions()
    rows, spans = [], {}
    for each in given:
        spans[each.id] = Span(len(rows), len(each.agent_turns), None)
        rows += [[len(each.turns[at].text.split()), at / 8] for at in each.agent_turns]
    embedded = Embedded(np.array(rows, dtype=np.float32), spans)
    return material(given, embedded, targets, "cpu")


def test_methods_are_called_as_in_the_papers():
    assert method_name(GELI) == "geli"
    assert method_name(replace(GELI, session="ircr")) == "geli_ircr"
    assert method_name(LI) == "li"
    assert method_name(RRD) == "rrd"
    assert method_name(replace(LI, local="targets")) == "distil"


def test_a_run_learns_its_method_first_and_each_other_once():
    settings = replace(ALONE, beside=["rrd", "geli", "li"], session_weights=[0.1], controls=True)
    assert names(settings) == [
        "geli",
        "geli session_weight=0.1",
        "rrd",
        "li",
        "geli shuffled_faces",
        "geli shuffled_both",
    ]


def test_controls_shuffle_what_a_method_learns_from():
    controls = replace(ALONE, controls=True)
    assert names(controls, RRD) == ["rrd", "rrd shuffled_scores"]
    assert names(controls, LI) == ["li", "li shuffled_faces"]
    # with shuffled faces GELI is held against RRD, which then is learned too
    assert names(controls) == ["geli", "geli shuffled_faces", "geli shuffled_both", "rrd"]


def test_ircr_beside_another_method_scales_scores_from_0_to_1():
    arm = replace(ALONE, beside=["ircr"]).arms(replace(RRD, total="sum", length=160), 0.1)[1]
    assert (arm.objective.normalise, arm.objective.total) == ("minmax", "mean")


def test_rudder_beside_another_method_has_an_lstm():
    arms = replace(ALONE, beside=["rudder"]).arms(GELI, 0.1)
    assert [arm.head(LINEAR).kind for arm in arms] == ["linear", "lstm"]


def test_an_unknown_method_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match="beside=gelli is unknown; use some of sum, uniform"):
        replace(ALONE, beside=["gelli"])


def test_a_sweep_that_leaves_scores_without_a_say_is_refused():
    with pytest.raises(
        ConfigError, match=r"trainer\.arms\.session_weights=0: .*session_weight=0 lets them"
    ):
        replace(ALONE, session_weights=[0.0]).arms(GELI, 0.1)


def test_sessions_without_turns_or_any_answer_are_left_out():
    first, second, third, *rest = sessions()
    silent = replace(first, turns=tuple(turn for turn in first.turns if turn.reaction is None))
    blank = tuple(replace(turn, reaction=None) for turn in second.turns)
    unknown = replace(second, turns=blank, score=None)
    unscored = replace(third, score=None)
    assert usable([silent, unknown, unscored, *rest]) == [unscored, *rest]


def test_a_part_without_sessions_is_an_error():
    with pytest.raises(DataError, match="left in test"):
        usable(sessions(num_test=0))


def test_shuffles_stay_within_their_split_and_leave_the_other_signal_alone():
    many = stuff(sessions(num_train=40))
    scores = many.shuffled("shuffled_scores", 1)
    train = many.numbers["train"]
    assert not np.array_equal(scores.scores_B[train], many.truth.scores_B[train])
    for numbers in many.numbers.values():
        np.testing.assert_array_equal(
            np.sort(scores.scores_B[numbers]), np.sort(many.truth.scores_B[numbers])
        )
    np.testing.assert_array_equal(scores.labels_N, many.truth.labels_N)
    faces = many.shuffled("shuffled_faces", 1)
    assert not np.array_equal(faces.labels_N, many.truth.labels_N)
    assert np.array_equal(faces.scores_B, many.truth.scores_B)
    assert not np.array_equal(faces.labels_N, many.shuffled("shuffled_faces", 2).labels_N)


def test_what_is_unknown_stays_unknown_where_it_was():
    some = stuff()
    labels = some.truth.labels_N.copy()
    labels[::3] = np.nan
    known = replace(some, truth=replace(some.truth, labels_N=labels))
    shuffled = known.shuffled("shuffled_both", 0).labels_N
    np.testing.assert_array_equal(np.isnan(shuffled), np.isnan(labels))


def test_targets_of_sessions_are_laid_along_the_turns():
    given = sessions()
    num_turns = len(labels_of(given[1]))
    found = stuff(given, **{given[1].id: np.arange(float(num_turns))}).truth.targets_N
    before = len(labels_of(given[0]))
    np.testing.assert_array_equal(found[before : before + num_turns], np.arange(num_turns))
    assert np.isnan(found[:before]).all()


def learn(folder, plan=PLAN):
    folder.mkdir(exist_ok=True)
    arms = replace(ALONE, beside=["rrd", "rudder"], controls=True).arms(GELI, 0.05)
    return learn_heads(arms, stuff(), plan, folder, num_before=0, start=None)


def test_heads_are_those_of_all_arms_and_seeds(tmp_path):
    learned = learn(tmp_path)
    found = [(each.arm.name, each.head.kind) for each in learned]
    expected = ["geli", "rrd", "geli shuffled_faces", "geli shuffled_both"]
    assert (
        found
        == [(name, "linear") for name in expected for _ in range(2)] + [("rudder", "lstm")] * 2
    )
    assert learned[0].seed == learned[2].seed != learned[1].seed
    rewards = rewards_of(learned[:2], stuff(), "test")
    assert [each.shape for each in rewards] == [(2, 4)] * 6


def test_a_killed_run_goes_on_and_ends_as_one_that_was_not(tmp_path):
    whole = learn(tmp_path / "whole")
    learn(tmp_path / "killed")
    # groups of 3 heads: 8 linear ones are 3 groups; the second and the last had not finished
    files = sorted((tmp_path / "killed" / HEADS).glob("*.json"))
    assert len(files) == 4
    files[1].unlink()
    files[3].unlink()
    kept = (files[0].stat().st_mtime_ns, files[2].stat().st_mtime_ns)
    resumed = learn(tmp_path / "killed")
    assert kept == (files[0].stat().st_mtime_ns, files[2].stat().st_mtime_ns)
    for one, other in zip(whole, resumed, strict=True):
        assert (one.arm, one.seed, one.scaling, one.best_epoch) == (
            other.arm,
            other.seed,
            other.scaling,
            other.best_epoch,
        )
        for name, weight in one.params.items():
            assert torch.equal(weight, other.params[name])
    for folder in ("whole", "killed"):
        told = read_metrics(tmp_path / folder / METRICS)
        assert [line["update"] for line in told] == list(range(1, 13))


def test_every_epoch_tells_the_losses_of_every_arm(tmp_path):
    learn(tmp_path)
    first = read_metrics(tmp_path / METRICS)[0]
    assert {"geli/train", "geli/val", "geli/val_session", "geli/val_local"} <= set(first)


def test_what_is_kept_holds_no_pickle(tmp_path):
    learn(tmp_path)
    files = {file.suffix for file in (tmp_path / HEADS).iterdir()}
    assert files == {".json", ".safetensors"}
    about = json.loads((tmp_path / HEADS / "000.json").read_text())
    assert [each["arm"] for each in about["members"]] == ["geli", "geli", "rrd"]


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["trainer.training.epochs=0"], "keeps what heads begin with"),
        (["trainer=reward_model/llm_geli"], "llm is not chosen"),
        (["trainer.objective.local=targets"], "do not go together"),
        (["dataset=prompts", "dataset.prompts=[Hello]"], "use dataset=candor"),
        (["trainer.head.dropout=1.0"], r"trainer.head.dropout=1.0 must lie in \[0, 1\)"),
        (["trainer.arms.beside=[x]"], "trainer.arms.beside=x is unknown"),
    ],
)
def test_settings_that_do_not_go_together_are_refused_before_anything_is_read(more, message):
    register_resolvers()
    chosen = ["dataset=candor", "trainer=reward_model/geli", *more]
    with pytest.raises(ConfigError, match=message):
        assemble(to_plain(compose(CONF, chosen)), CONF)
