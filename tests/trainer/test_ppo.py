import json

import pytest

from drl.errors import ConfigError, RunError
from drl.reward.base import RewardError
from drl.tree.store import read_trees
from tests.trainer.text_game import (
    ADAPTER,
    make_game,
    metrics_of,
    play,
    same_weights,
    stop_after,
    summary_of,
)


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    return make_game(tmp_path_factory.mktemp("game"))


@pytest.mark.slow
def test_a_policy_learns_what_is_paid_for(game, tmp_path):
    folder = play(
        game,
        tmp_path / "run",
        *_by_places(game),
        *("trainer.updates=25", "trainer.ppo.gamma=0.5", "trainer.ppo.kl_weight=0"),
        *("trainer.ppo.target_kl=null", "trainer.ppo.epochs=2"),
    )
    course = summary_of(folder)["training"]
    assert course["last_score"] > course["first_score"] + 0.15
    assert summary_of(folder)["curves"]["episode/score"]["x"] == list(range(1, 26))


def _by_places(game):
    """Rewards inside of texts, paid to the tokens that earn them."""
    rules = next(each for each in game if each.startswith("reward.function")).split(":")[0]
    return (f"{rules}:places", "credit=goal_events", "trainer.ppo.level=token")


def test_a_run_keeps_its_texts_its_numbers_and_an_adapter(game, tmp_path):
    folder = play(game, tmp_path / "run")
    trees = list(read_trees(folder / "rollouts.jsonl"))
    # 4 prompts, 4 texts each in either update; trials go on where a prompt comes again
    assert sorted({tree.trial for tree in trees}) == list(range(8))
    assert len(trees) == 32
    lines = metrics_of(folder)
    assert [line["update"] for line in lines] == [1, 2]
    assert lines[0]["objective/kl"] == 0.0
    assert lines[1]["objective/kl"] != 0.0
    assert all(line["policy/first_ratio_error"] < 1e-5 for line in lines)
    assert all(line["sampler/log_prob_gap"] < 1e-4 for line in lines)
    assert summary_of(folder)["data"]["dialogues"] == 32
    assert (folder / ADAPTER).is_file()
    assert not (folder / "checkpoints" / "resume").exists()
    assert (folder / "report.html").is_file()


def test_a_run_that_was_stopped_ends_in_the_weights_of_one_that_was_not(game, tmp_path):
    changes = ("trainer.updates=3", "trainer.save_every=1", "trainer.ppo.kl_weight=0.1")
    straight = play(game, tmp_path / "straight", *changes)
    stop_after(game, 40)  # in the third batch of sixteen
    with pytest.raises(KeyboardInterrupt):
        play(game, tmp_path / "stopped", *changes)
    assert len(metrics_of(tmp_path / "stopped")) == 2
    stopped = play(game, tmp_path / "stopped", *changes)
    # all but rounding: which texts share a batch is a matter of time
    assert same_weights(straight, stopped, atol=1e-5)
    assert [line["update"] for line in metrics_of(stopped)] == [1, 2, 3]


@pytest.mark.parametrize("train", ["all", "lm_head", "last_blocks"])
def test_weights_of_the_model_itself_are_saved_whole(game, tmp_path, train):
    folder = play(
        game,
        tmp_path / "run",
        f"trainer.weights.train={train}",
        "trainer.weights.num_blocks=1",
        "trainer.updates=1",
    )
    after = play(
        [each for each in game if not each.startswith(("llm.model", "trainer", "credit"))],
        tmp_path / "after",
        f"llm.model={folder / 'checkpoints' / 'model'}",
        *("trainer=evaluate", "trainer.trials=1"),
    )
    assert summary_of(after)["n_errors"] == 0


def test_rewards_of_several_names_are_told_and_drawn_apart(game, tmp_path):
    rules = next(each for each in game if each.startswith("reward.function")).split(":")[0]
    folder = play(game, tmp_path / "run", f"{rules}:named")
    for line in metrics_of(folder):
        both = line["reward/early"] + line["reward/always"]
        assert both == pytest.approx(line["episode/score"])
        assert line["reward/always"] == pytest.approx(0.25)
    drawn = summary_of(folder)["curves"]["rewards by name"]["lines"]
    assert set(drawn) == {"early", "always"}
    assert drawn["always"]["y"] == pytest.approx([0.25, 0.25])


def test_rewards_inside_a_text_reach_their_tokens(game, tmp_path):
    folder = play(game, tmp_path / "run", *_by_places(game), "trainer.updates=1")
    (line,) = metrics_of(folder)
    assert line["objective/scores"] == pytest.approx(line["episode/score"])
    assert line["num_tokens"] > line["num_turns"]


def test_the_policy_is_evaluated_before_and_after_on_what_it_does_not_learn(game, tmp_path, capsys):
    folder = play(
        game,
        tmp_path / "run",
        *("dataset@eval_dataset=prompts", "eval_dataset.prompts=[Late,Soon]"),
        *("rollout@eval_rollout=single", "eval_rollout.max_steps=1"),
        *("trainer.evaluate_trials=2", "trainer.evaluate_every=1"),
    )
    evaluated = summary_of(folder)["evaluated"]
    assert [each["update"] for each in evaluated] == [0, 1, 2]
    assert all(each["n_tasks"] == 2 for each in evaluated)
    assert "against_start" in evaluated[2]
    told = capsys.readouterr().out
    assert told.count("Run: ") == told.count("Report: ") == 1
    page = (folder / "report.html").read_text()
    shown = json.loads(page.split('id="summary">')[1].split("</script>")[0])["summary"]["evaluated"]
    assert list(shown) == ["start", "update 1", "update 2"]
    assert "mean_reward_minus_start" in shown["update 2"]
    assert str(tmp_path) not in json.dumps(shown)


def test_an_evaluation_that_a_budget_cut_is_finished_by_the_next_start(game, tmp_path):
    evaluating = (
        # prompts of its own: answers of the start to others may be known, and cost nothing
        *("dataset@eval_dataset=prompts", "eval_dataset.prompts=[Never,Always]"),
        *("rollout@eval_rollout=single", "eval_rollout.max_steps=1", "trainer.evaluate_trials=2"),
    )
    with pytest.raises(RunError, match="budget_tokens=1 is used up"):
        play(game, tmp_path / "run", *evaluating, "calls.budget_tokens=1")
    cut = summary_of(tmp_path / "run" / "update-0" / "evaluate")
    assert "stopped" in cut
    play(game, tmp_path / "run", *evaluating)
    whole = summary_of(tmp_path / "run" / "update-0" / "evaluate")
    assert "stopped" not in whole
    assert whole["n_scored"] == 4  # two tasks, twice each


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (["agent.temperature=0"], "agent.temperature=0"),
        (["agent.top_p=0.9"], "agent.top_p=0.9"),
        (["~credit"], "credit is not chosen"),
        (["trainer.ppo.baseline=group"], "set level=dialogue"),
        (
            ["trainer.ppo.baseline=group", "trainer.ppo.level=dialogue", "trainer.trials=1"],
            "raise trials",
        ),
        (["trainer.critic=null"], "choose a critic"),
        (["trainer.weights.train=all", "llm.dtype=bfloat16"], "llm.dtype=float32"),
        (["trainer.check_forgetting=true", "trainer.weights.train=all"], "set it to false"),
        (["trainer.weights.train=last_blocks"], "num_blocks=0"),
        (["trainer.ppo.gamma=1.5"], "gamma=1.5"),
        (["credit=tree", "trainer.ppo.level=dialogue"], "use level=turn"),
        (["trainer.evaluate_trials=1"], "eval_dataset is not chosen"),
    ],
)
def test_settings_that_cannot_work_are_refused_with_what_to_do(game, tmp_path, changes, message):
    with pytest.raises(ConfigError, match=message):
        play(game, tmp_path / "run", *changes)


def test_a_prompt_that_leaves_no_room_is_counted_and_named(game, tmp_path, capsys):
    long = "x" * 2100  # of a context of 2,048
    folder = play(game, tmp_path / "run", f"dataset.prompts=[Once,{long}]", "trainer.updates=1")
    (line,) = metrics_of(folder)
    assert line["episode/unlearned"] == 8.0  # two laps of four texts
    assert line["num_trajectories"] == 8.0
    assert "task 1: nothing can be learned" in capsys.readouterr().err


def test_a_fault_in_a_reward_stops_the_run_with_the_text(game, tmp_path):
    rules = next(each for each in game if each.startswith("reward.function")).split(":")[0]
    with pytest.raises(RewardError, match="no such thing"):
        play(game, tmp_path / "run", f"{rules}:breaks")
