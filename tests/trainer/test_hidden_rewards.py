"""Nothing that trains opens the hidden rewards: where every such attempt fails, all stages work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from drl.domains.candor.files import HIDDEN_REWARDS
from tests.trainer.policy_runs import CONF, build_world, command

ROOT = Path(__file__).parents[2]

GUARDED = f"""
import sys
from pathlib import Path

by_evaluation, by_others = [], []

def guard(event, args):
    if event != "open" or not str(args[0]).endswith({HIDDEN_REWARDS!r}):
        return
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("drl.evaluation."):
            by_evaluation.append(str(args[0]))
            return
        frame = frame.f_back
    by_others.append(str(args[0]))  # also where somebody catches what follows
    raise PermissionError(f"{{args[0]}} was opened, and not by an evaluation")

sys.addaudithook(guard)
conf, hidden, *overrides = sys.argv[1:]
try:
    open(hidden)
except PermissionError:
    by_others.clear()
    print("guarded")

from drl.launch import register_resolvers, run

register_resolvers()
run(Path(conf), overrides)
print("opened", len(by_evaluation), len(by_others))
"""


@pytest.mark.slow
def test_reward_models_and_a_policy_are_trained_where_hidden_rewards_cannot_be_opened(tmp_path):
    world = build_world(tmp_path / "world")
    folder = tmp_path / "run"
    hidden = world / "candor" / HIDDEN_REWARDS
    arguments = [str(CONF), str(hidden), *command(world, folder)]
    done = subprocess.run(
        [sys.executable, "-c", GUARDED, *arguments], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "guarded"
    # training and test sessions of both reward models, each looked at when all heads were learned
    assert lines[-1] == "opened 4 0"
    for stage in ("stage-1/reward_model", "stage-2/judge"):
        assert "spearman_hidden" in json.loads((folder / stage / "summary.json").read_text())
    assert json.loads((folder / "summary.json").read_text())["course"]
