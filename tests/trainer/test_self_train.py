"""Rounds of self-training: a tiny policy that rings a bell now and then learns to ring it."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from torch.nn.functional import cross_entropy

from drl.agent.base import Agent, Situation
from drl.errors import ConfigError, DataError
from drl.finetune.tokens import ChatTokens
from drl.launch import run
from drl.llm.base import Message
from drl.models.chat_template import ChatTemplate
from drl.models.load import load_base
from drl.runtime.compose import compose
from drl.runtime.config import build, to_plain
from drl.trainer.collect import CollectTrainer
from drl.trainer.self_train import SelfTrainTrainer
from drl.types import Role, Toolbox, ToolSpec, Turn
from tests.llm.tiny_model import llama, save_tiny_model
from tests.trainer.trainings import write_rows

CONF = Path(__file__).parents[2] / "conf"
TOOLS = '''
def ring(state) -> str:
    """Rings the bell."""
    return "dong"
'''
RINGS, SAYS = 'CALL {"ring":{}}', "SAY no"
LINES = ("Please ring.", "Ring it!", "Ring the bell.", "The bell, please.")


@pytest.fixture(scope="module")
def bells(tmp_path_factory):
    """A folder with a tool, its tasks, and a tiny model that rings now and then."""
    folder = tmp_path_factory.mktemp("bells")
    (folder / "tools.py").write_text(TOOLS)
    tasks = [
        {
            "id": f"t{number}",
            "instructions": ["You want the bell rung."],
            "human_turns": [line],
            "goals": [{"name": "ring", "arguments": {}}],
        }
        for number, line in enumerate(LINES * 2)
    ]
    write_rows(folder / "tasks.jsonl", tasks)
    save_tiny_model(folder / "model", llama(hidden_size=64, intermediate_size=128))
    teach(folder / "model")
    return folder


def teach(model: Path) -> None:
    """Let a model learn with all its weights to ring as often as not."""
    agent = build("agent", to_plain(compose(CONF, ["agent=react/compact"]))["agent"])
    assert isinstance(agent, Agent)
    ring = ToolSpec("ring", "Rings the bell.", {"type": "object", "properties": {}})
    loaded = load_base(model, "float32", "cpu")
    tokens = ChatTokens(ChatTemplate(loaded.tokenizer, None), loaded.end_ids)
    optimizer = torch.optim.AdamW(loaded.model.parameters(), lr=3e-3)
    rows = []
    for line in LINES:
        situation = Situation((Turn(Role.USER, line),), (), Toolbox((ring,)), seed=0)
        prompt = agent.request(situation).messages
        rows += [tokens.step(prompt, Message("assistant", output), ()) for output in (RINGS, SAYS)]
    for _ in range(100):
        loss = torch.zeros(())
        for row in rows:
            ids = torch.tensor([row.prompt_ids + row.completion_ids])
            logits = loaded.model(input_ids=ids).logits[0, len(row.prompt_ids) - 1 : -1]
            loss = loss + cross_entropy(logits, torch.tensor(row.completion_ids)) / len(rows)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    loaded.model.save_pretrained(model)


def model(folder: Path) -> list[str]:
    return ["llm=hf", f"llm.model={folder}/model", "llm.dtype=float32", "llm.device=cpu"]


def self_training(folder: Path, *more: str) -> list[str]:
    return [
        *model(folder),
        f"data_dir={folder}/data",
        "agent=react/compact",
        "user_simulator=script",
        "reward=goal_api",
        *("rollout=josh", "rollout.beam_size=4", "rollout.max_steps=2"),
        "miner=josh_clean",
        *("dataset=jsonl_tasks", f"dataset.path={folder}/tasks.jsonl"),
        *("environment=functions", f"environment.tools={folder}/tools.py"),
        *("dataset@eval_dataset=jsonl_tasks", f"eval_dataset.path={folder}/tasks.jsonl"),
        *("rollout@eval_rollout=single", "eval_rollout.max_steps=2"),
        "trainer=self_train",
        *("trainer.learn.fit.learning_rate=3e-3", "trainer.learn.fit.accumulation=1"),
        *("trainer.learn.fit.epochs=4", "trainer.learn.check_forgetting=false"),
        "trainer.evaluate.trials=4",
        *more,
    ]


@pytest.fixture(scope="module")
def trained(bells):
    """The folder of two rounds, and their summary."""
    command = self_training(bells, "trainer.rounds=2", f"hydra.run.dir={bells}/run")
    folder = run(CONF, command)
    return folder, json.loads((folder / "summary.json").read_text())


@pytest.mark.slow
def test_a_policy_that_succeeds_sometimes_learns_to_succeed_more_often(trained):
    _, summary = trained
    base, *rounds = summary["rounds"]
    success = [this["evaluate"]["full_success"]["value"] for this in (base, *rounds)]
    assert 0 < success[0] < 0.5
    assert success[2] > success[0] + 0.25
    against = rounds[1]["against_base"]
    difference = against["measures"]["full_success"]["difference"]
    assert difference["value"] == pytest.approx(success[2] - success[0])
    assert difference["n"] == 8


@pytest.mark.slow
def test_each_round_tells_who_played_and_from_what_it_learned(trained):
    _, summary = trained
    said = [
        {key: this.get(key) for key in ("player", "start_and_reference", "data")}
        for this in summary["rounds"]
    ]
    assert said == [
        {"player": None, "start_and_reference": None, "data": []},
        {"player": "as it came", "start_and_reference": "as it came", "data": ["round-1/collect"]},
        {
            "player": "round-1/learn",
            "start_and_reference": "round-1/learn",
            "data": ["round-2/collect"],
        },
    ]


@pytest.mark.slow
def test_a_second_start_repeats_nothing(trained, bells):
    folder, summary = trained
    names = ("rollouts.jsonl", "adapter_model.safetensors", "metrics.jsonl")
    kept = {path: path.read_bytes() for name in names for path in folder.rglob(name)}
    assert len(kept) == 5 + 2 + 2
    run(CONF, self_training(bells, "trainer.rounds=2", f"hydra.run.dir={folder}"))
    again = json.loads((folder / "summary.json").read_text())
    assert [this["evaluate"]["full_success"] for this in again["rounds"]] == [
        this["evaluate"]["full_success"] for this in summary["rounds"]
    ]
    assert {path: path.read_bytes() for path in kept} == kept


@pytest.mark.slow
def test_a_run_that_was_moved_goes_on(trained, bells, tmp_path, monkeypatch):
    folder, _ = trained
    shutil.copytree(folder, tmp_path / "elsewhere")
    for path in ("learn", "evaluate"):
        shutil.rmtree(tmp_path / "elsewhere" / "round-2" / path)
    (tmp_path / "elsewhere" / "round-1" / "evaluate" / "summary.json").unlink()
    kept = {path: path.read_bytes() for path in (tmp_path / "elsewhere").rglob("rollouts.jsonl")}
    monkeypatch.chdir(tmp_path)
    run(CONF, self_training(bells, "trainer.rounds=2", "hydra.run.dir=elsewhere"))
    assert {path: path.read_bytes() for path in kept} == kept
    weights = [
        (run / "round-2/learn/checkpoints/final/adapter_model.safetensors").read_bytes()
        for run in (folder, tmp_path / "elsewhere")
    ]
    assert weights[0] == weights[1]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (["trainer@trainer.learn=dpo"], "JoshCleanMiner gives no dpo rows, only sft, kto"),
        (["trainer@trainer.learn=dpo", "miner=margin"], "MarginMiner goes by what drl resample"),
        (
            ["agent=rule", "agent.temperature=1"],
            "agent: RuleAgent, which is to write the rows, speaks through no model",
        ),
        (["trainer.learn.source=[x]"], r"trainer\.learn\.source=\['x'\] is not used"),
        (
            ["trainer@trainer.collect=validate"],
            r"trainer\.collect is a ValidateTrainer, which keeps",
        ),
        (["trainer@trainer.evaluate=estimate"], r"trainer\.evaluate is a EstimateTrainer, which"),
        (
            ["trainer.learn.fit.optimizer=newton"],
            r"in trainer\.learn: trainer\.fit\.optimizer=newton",
        ),
        (["trainer.learn.lora.rank=0"], r"in trainer\.learn\.lora: trainer\.lora\.rank=0 must be"),
        (["trainer.collect.trials=0"], r"in trainer\.collect: trainer\.trials=0 must be"),
    ],
)
def test_what_no_round_can_do_is_refused_before_the_first(bells, tmp_path, choices, message):
    command = self_training(bells, *choices, f"hydra.run.dir={tmp_path}/run")
    with pytest.raises(ConfigError, match=message):
        run(CONF, command)
    assert not (tmp_path / "run" / "round-0").exists()


@pytest.mark.slow
def test_a_round_from_the_base_on_all_data_still_plays_with_the_last_policy(bells, tmp_path):
    more = ("trainer.rounds=2", "trainer.start_from=base", "trainer.trees=all_rounds")
    folder = run(CONF, self_training(bells, *more, f"hydra.run.dir={tmp_path}/run"))
    last = json.loads((folder / "summary.json").read_text())["rounds"][2]
    assert last["player"] == "round-1/learn"
    assert last["start_and_reference"] == "as it came"
    assert last["data"] == ["round-1/collect", "round-2/collect"]
    first, second = (
        (folder / f"round-{number}" / "collect" / "provenance.json").read_text()
        for number in (1, 2)
    )
    assert json.loads(first)["config"]["seed"] != json.loads(second)["config"]["seed"]


def test_a_model_on_a_server_cannot_train_itself(bells, tmp_path):
    command = [o for o in self_training(bells) if not o.startswith("llm")]
    with pytest.raises(ConfigError, match="is not on this machine, so it cannot be trained here"):
        run(CONF, [*command, "llm=scripted/react", f"hydra.run.dir={tmp_path}/run"])


def test_a_round_without_a_success_says_where_its_trees_are_and_what_to_change(bells, tmp_path):
    folder = tmp_path / "run"
    settings = self_training(bells, f"hydra.run.dir={folder}")
    tasks = [json.loads(line) for line in (bells / "tasks.jsonl").read_text().splitlines()]
    hopeless = [{**task, "goals": [{"name": "sing", "arguments": {}}]} for task in tasks]
    write_rows(tmp_path / "hopeless.jsonl", hopeless)
    (tmp_path / "tools.py").write_text(TOOLS + TOOLS.replace("ring", "sing"))
    with pytest.raises(DataError) as caught:
        run(
            CONF,
            [
                *settings,
                *(f"{key}.path={tmp_path}/hopeless.jsonl" for key in ("dataset", "eval_dataset")),
                f"environment.tools={tmp_path}/tools.py",
            ],
        )
    message = str(caught.value)
    assert message.startswith(f"round 1: {folder}/round-1/collect: ")
    assert "raise dataset.limit" in message
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["stopped"] == message
    assert [each["round"] for each in summary["rounds"]] == [0]


def test_a_stage_that_trains_nothing_is_refused():
    collect = CollectTrainer(trials=1)
    with pytest.raises(ConfigError, match="which trains no adapter; choose"):
        SelfTrainTrainer(
            rounds=1,
            start_from="last",
            trees="this_round",
            collect=collect,
            learn=collect,
            evaluate=collect,
        )
