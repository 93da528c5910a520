"""Single texts through the ordinary machine: prompts, a model of raw text, a reward function."""

import json
from pathlib import Path

import pytest

from drl.errors import RunError
from drl.launch import run
from drl.reward.base import RewardError
from drl.runtime.run_dir import ROLLOUTS
from drl.tree.dialogue_tree import DialogueTree
from drl.tree.store import read_trees
from drl.types import Role, StopReason
from tests.llm.tiny_model import save_tiny_model

CONF = Path(__file__).parents[2] / "conf"
ROWS = [{"prompt": "Once upon a time", "weight": 0.5}, {"input": "The moon ", "weight": 0.25}]
RULES = """
def variety(prompt, text, weight):
    return weight * len(set(text))

def nothing(prompt, text):
    return None
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    return save_tiny_model(tmp_path_factory.mktemp("model"), template=None)


@pytest.fixture
def start(tmp_path, model):
    """Writes prompts and rules, and runs the machine over them; gives its folder."""
    prompts, rules = tmp_path / "prompts.jsonl", tmp_path / "single_text_rules.py"
    prompts.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    rules.write_text(RULES)

    def begin(*overrides: str, rule: str = "variety") -> Path:
        return run(
            CONF,
            [
                *("dataset=prompts", f"dataset.path={prompts}", "environment=none"),
                *("agent=plain", "agent.max_tokens=12", "user_simulator=script"),
                *("reward=function", f"reward.function={rules}:{rule}"),
                *("rollout=single", "rollout.max_steps=1"),
                *("llm=hf", f"llm.model={model}", "llm.chat_template=plain_text"),
                *("llm.dtype=float32", "llm.device=cpu"),
                *("trainer=evaluate", "trainer.trials=4", f"data_dir={tmp_path}"),
                f"hydra.run.dir={tmp_path / 'run'}",
                *overrides,
            ],
        )

    return begin


def trees_of(folder: Path) -> list[DialogueTree]:
    return list(read_trees(folder / ROLLOUTS))


def test_every_prompt_gets_its_texts_and_every_text_its_reward(start):
    folder = start()
    trees = trees_of(folder)
    assert sorted((tree.task_id, tree.trial) for tree in trees) == [
        (task, trial) for task in ("0", "1") for trial in range(4)
    ]
    scores = []
    for tree in trees:
        asked, answered = tree.nodes
        row = ROWS[int(tree.task_id)]
        assert (asked.turn.role, asked.turn.text) == (
            Role.USER,
            row.get("prompt") or row["input"],
        )
        assert answered.stop is StopReason.MAX_TURNS
        assert answered.turn.text == answered.turn.steps[0].text
        earned = row["weight"] * len(set(answered.turn.text or ""))
        assert sum(event.amount for event in answered.events) == pytest.approx(earned)
        assert answered.score == pytest.approx(earned)
        scores.append(earned)
    assert len(set(scores)) > 2
    summary = json.loads((folder / "summary.json").read_text())
    assert summary["n_errors"] == summary["n_unscored"] == 0
    assert summary["n_tasks"] == 2
    assert summary["mean_reward"]["value"] == pytest.approx(sum(scores) / 8)
    assert (folder / "report.html").is_file()


def test_a_customer_who_is_asked_again_leaves(start):
    folder = start("rollout.max_steps=5", "trainer.trials=1")
    for tree in trees_of(folder):
        assert [node.turn.role for node in tree.nodes] == [Role.USER, Role.AGENT, Role.USER]
        assert tree.nodes[-1].stop is StopReason.USER_ENDED
        assert tree.nodes[-1].score == sum(event.amount for event in tree.nodes[1].events)


def test_what_is_no_reward_stops_the_run_in_one_line(start):
    with pytest.raises(RewardError, match=r"must return numbers, but it is None.*text '") as caught:
        start(rule="nothing")
    assert "\n" not in str(caught.value)


def test_a_run_does_not_go_on_with_another_reward_function(start, tmp_path):
    start("trainer.trials=1")
    (tmp_path / "single_text_rules.py").write_text(RULES.replace("weight *", "2 * weight *"))
    with pytest.raises(RunError, match=r"began on reward reward-\w+, but reward-\w+ is there now"):
        start("trainer.trials=1")
