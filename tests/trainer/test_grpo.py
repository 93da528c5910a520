import json

import pytest
from safetensors.torch import load_file

from drl.errors import ConfigError
from drl.tree.store import read_trees
from tests.llm.tiny_model import save_tiny_model
from tests.trainer.text_game import (
    ADAPTER,
    GRPO,
    make_game,
    metrics_of,
    play,
    same_weights,
    stop_after,
    summary_of,
)

LINES = ("Hello there.", "And then?", "Good.")


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    return make_game(tmp_path_factory.mktemp("game"), GRPO)


@pytest.fixture(scope="module")
def dialogues(game, tmp_path_factory):
    """The same game in chats of three turns, whose other side is scripted."""
    folder = tmp_path_factory.mktemp("dialogues")
    tasks = folder / "tasks.jsonl"
    rows = [
        {"id": name, "instructions": ["Talk."], "human_turns": LINES, "goals": []}
        for name in ("one", "two")
    ]
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [
        *(each for each in game if not each.startswith(("dataset", "llm.model", "llm.chat"))),
        *("dataset=jsonl_tasks", f"dataset.path={tasks}", "rollout.max_steps=3"),
        *(f"llm.model={save_tiny_model(folder / 'model')}", "agent.max_tokens=1"),
        *("trainer.tasks_per_update=2", "credit=goal_events", "trainer.baseline=turn"),
    ]


def function_of(game):
    return next(each for each in game if each.startswith("reward.function")).split(":")[0]


@pytest.mark.slow
def test_a_policy_learns_what_is_paid_for(game, tmp_path):
    folder = play(game, tmp_path / "run", "trainer.updates=24")
    course = summary_of(folder)["training"]
    assert course["last_score"] > course["first_score"] + 0.2
    curves = summary_of(folder)["curves"]
    assert curves["episode/score"]["x"] == list(range(1, 25))
    assert {"entropy", "clip_ratio/region_mean"} <= curves.keys()


def test_a_run_keeps_its_texts_its_numbers_and_an_adapter(game, tmp_path):
    folder = play(game, tmp_path / "run", "trainer.grpo.num_iterations=2", "trainer.grpo.beta=0.1")
    assert len(list(read_trees(folder / "rollouts.jsonl"))) == 32
    lines = metrics_of(folder)
    # two passes over two pieces make four steps, and one line
    assert [line["update"] for line in lines] == [1, 2]
    assert all(line["sampler/log_prob_gap"] < 1e-4 for line in lines)
    assert all(line["num_rows"] == line["num_trajectories"] == 16 for line in lines)
    assert all(line["kl"] > 0.0 for line in lines)  # from the second step on
    summary = summary_of(folder)
    assert summary["data"]["dialogues"] == 32
    assert summary["training"]["last_kl"] == lines[1]["kl"]
    assert (folder / ADAPTER).is_file()
    assert not (folder / "checkpoints" / "resume").exists()
    assert (folder / "report.html").is_file()


def test_of_a_dialogue_just_what_the_policy_wrote_is_learned(dialogues, tmp_path):
    folder = play(dialogues, tmp_path / "run")
    lines = metrics_of(folder)
    # two updates of two tasks, four times each, of three turns of one token
    assert sum(line["num_turns"] for line in lines) == 2 * 2 * 4 * 3
    assert all(line["trained_tokens"] == line["num_turns"] for line in lines)
    # a reply of half a letter is read back as another one, and begins a row of its own
    for line in lines:
        assert line["num_trajectories"] <= line["num_rows"] < line["num_turns"]
        assert line["objective/scores"] == pytest.approx(line["episode/score"])
        assert line["sampler/log_prob_gap"] < 1e-4


def test_equal_rewards_are_skipped_and_said(game, tmp_path, capsys):
    folder = play(game, tmp_path / "run", f"{function_of(game)}:same")
    assert summary_of(folder)["training"]["skipped_updates"] == 2
    assert summary_of(folder)["data"]["trained_tokens"] == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "update 2 is skipped: all rewards that are compared are equal" in said
    learned = load_file(folder / ADAPTER)
    assert not any(weight.any() for name, weight in learned.items() if "lora_B" in name)


def test_a_dialogue_without_others_to_compare_with_is_not_learned_from(game, tmp_path, capsys):
    folder = play(game, tmp_path / "run", "trainer.trials=1", "trainer.updates=1")
    (line,) = metrics_of(folder)
    assert (line["skipped"], line["num_unused_turns"], line["trained_tokens"]) == (1.0, 4.0, 0.0)
    assert "raise trainer.trials" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_that_was_stopped_ends_in_the_weights_of_one_that_was_not(game, tmp_path):
    changes = ("trainer.updates=3", "trainer.save_every=1", "trainer.grpo.num_iterations=2")
    straight = play(game, tmp_path / "straight", *changes)
    stop_after(game, 40)  # in the third batch of sixteen
    with pytest.raises(KeyboardInterrupt):
        play(game, tmp_path / "stopped", *changes)
    assert len(metrics_of(tmp_path / "stopped")) == 2
    stopped = play(game, tmp_path / "stopped", *changes)
    # all but rounding: which texts share a batch is a matter of time
    assert same_weights(straight, stopped, atol=1e-4)
    assert [line["update"] for line in metrics_of(stopped)] == [1, 2, 3]


@pytest.mark.slow
@pytest.mark.parametrize("train", ["all", "lm_head"])
def test_weights_of_the_model_itself_are_held_against_the_model_as_it_came(game, tmp_path, train):
    one_step = ("trainer.grpo.gradient_accumulation_steps=2", "trainer.grpo.beta=0.1")
    folder = play(game, tmp_path / "run", f"trainer.weights.train={train}", *one_step)
    first, second = metrics_of(folder)
    assert first["kl"] == pytest.approx(0.0, abs=1e-9)
    assert second["kl"] > 1e-6
    assert (folder / "checkpoints" / "model" / "model.safetensors").is_file()


@pytest.mark.slow
def test_siblings_of_one_prefix_are_compared_in_trees(dialogues, tmp_path):
    trees = ("rollout=josh", "rollout.collapse_to=never", "rollout.max_steps=3")
    trees = (*trees, "rollout.beam_size=4", "trainer.trials=1", "trainer.updates=1")
    folder = play(dialogues, tmp_path / "run", *trees, "credit=tree")
    (line,) = metrics_of(folder)
    assert (line["skipped"], line["num_unused_turns"]) == (0.0, 0.0)
    assert line["num_trajectories"] == 8
    with pytest.raises(ConfigError, match="credit=tree"):
        play(dialogues, tmp_path / "shared", *trees)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["agent.temperature=0"], "agent.temperature=0"),
        (["~credit"], "credit is not chosen"),
        (["trainer.grpo.gradient_accumulation_steps=4"], "must be a multiple"),
        (["trainer.grpo.steps_per_generation=0"], "steps_per_generation=0"),
        (["trainer.grpo.epsilon=0"], "epsilon=0"),
        (["trainer.grpo.loss_type=cispo"], "use 5"),
        (["trainer.grpo.loss_type=grpo"], "loss_type"),
        (["trainer.grpo.beta=-1"], "beta=-1"),
        (["trainer.weights.train=all", "llm.dtype=bfloat16"], "llm.dtype=float32"),
        (["trainer.evaluate_trials=1"], "eval_dataset is not chosen"),
    ],
)
def test_settings_that_cannot_work_are_refused_with_what_to_do(game, tmp_path, changes, message):
    with pytest.raises(ConfigError, match=message):
        play(game, tmp_path / "run", *changes)
