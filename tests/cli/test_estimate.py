"""`drl estimate` as people meet it."""

import json

import pytest
from cli.running import DATA, drl, error_of

from drl.tree.store import read_trees


def test_it_foretells_an_experiment_in_a_folder_of_its_own(tmp_path):
    folder = f"hydra.run.dir={tmp_path / 'estimate'}"
    done = drl("estimate", "toolwoz_josh", folder, f"data_dir={DATA}", "--tasks", "3")
    assert done.returncode == 0, done.stderr
    assert "0 requests, no cost but time" in done.stdout
    found = json.loads((tmp_path / "estimate" / "estimate.json").read_text())
    assert (found["n"], found["calls"], found["usd"]["value"]) == (3, {}, 0.0)
    assert found["seconds"]["low"] < found["seconds"]["value"] < found["seconds"]["high"]
    trees = list(read_trees(tmp_path / "estimate" / "rollouts.jsonl"))
    assert len(trees) == 3
    # they are spread over the split, so they are not the first three of 450
    assert found["num_rollouts"] == 450
    assert sorted(tree.task_id for tree in trees)[0] > "MUL0004.json"

    again = drl("estimate", "toolwoz_josh", folder, f"data_dir={DATA}", "--tasks", "3")
    assert again.stdout == done.stdout


def test_trials_of_the_experiment_count(tmp_path):
    overrides = ["trainer=evaluate", "trainer.trials=4", "dataset.limit=2", "rollout=single"]
    folder = f"hydra.run.dir={tmp_path / 'estimate'}"
    done = drl("estimate", "toolwoz_josh", *overrides, folder, f"data_dir={DATA}")
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "estimate" / "estimate.json").read_text())
    assert (found["n"], found["num_rollouts"], found["trials"]) == (2, 8, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "experiment=nothing is not known; known: "),
        (["toolwoz_validate"], "experiment=toolwoz_validate rolls nothing out"),
        (["toolwoz_josh", "--tasks", "0"], "trainer.num_tasks=0 must be at least 1"),
        (["toolwoz_josh", "agent=react"], "llm is not chosen, but this agent speaks through one"),
        (["toolwoz_josh", "rollout.beam_sise=3"], "rollout has no setting beam_sise"),
        (["toolwoz_josh", "--conf", "drl"], "--conf drl: there is no drl/config.yaml"),
    ],
)
def test_a_mistake_is_one_clear_line(arguments, message, tmp_path):
    folder = [] if "--conf" in arguments else [f"hydra.run.dir={tmp_path / 'run'}"]
    assert message in error_of(drl("estimate", *arguments, *folder))


def test_outside_of_the_checkout_it_says_where_to_start(tmp_path):
    message = error_of(drl("estimate", "toolwoz_josh", cwd=tmp_path))
    assert "--conf conf: there is no conf/config.yaml" in message
