"""The two rules that hold the layout together: config mirrors code, and plug-ins are leaves."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import required
from hydra.utils import get_class
from omegaconf import OmegaConf

from drl.launch import assemble
from drl.runtime.compose import compose, options
from drl.runtime.config import build, check_nodes, to_plain

ROOT = Path(__file__).parents[2]
CONF = ROOT / "conf"
NOT_GROUPS = {"experiment", "debug", "hydra"}
GROUPS = sorted(
    path.name for path in CONF.iterdir() if path.is_dir() and path.name not in NOT_GROUPS
)
CHOICES = [(group, choice) for group in GROUPS for choice in options(CONF, group)]
EXPERIMENTS = options(CONF, "experiment")


def compose_group(group: str, choice: str) -> dict:
    return to_plain(compose(CONF, required.choice(group, choice)))[group]


@pytest.mark.parametrize(("group", "choice"), CHOICES)
def test_config_fits_its_target_and_builds(group, choice):
    node = compose_group(group, choice)
    module = node["_target_"].rpartition(".")[0]
    assert module == f"drl.{group}.{choice.split('/')[0]}"
    signature = inspect.signature(get_class(node["_target_"]))
    given = {key for key in node if not key.startswith("_")}
    assert given == set(signature.parameters)
    assert all(p.default is p.empty for p in signature.parameters.values())
    check_nodes({group: node})
    build(group, node)


@pytest.mark.parametrize("group", GROUPS)
def test_every_module_has_a_config(group):
    modules = {path.stem for path in (ROOT / "drl" / group).glob("[!_]*.py")} - {"base"}
    assert modules == {choice.split("/")[0] for g, choice in CHOICES if g == group}


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_every_experiment_builds_also_as_a_tiny_one(experiment):
    for debug in ([], ["+debug=tiny"], ["+debug=tiny_model"]):
        overrides = [f"+experiment={experiment}", *debug]
        trainer, parts = assemble(to_plain(compose(CONF, overrides)), CONF)
        assert trainer
        assert parts.name == experiment


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_first_look_is_small_wherever_an_experiment_plays_or_learns(experiment):
    plain = to_plain(compose(CONF, [f"+experiment={experiment}", "+debug=tiny_model"]))
    for dataset in ("dataset", "eval_dataset"):
        assert plain.get(dataset, {}).get("limit", 0) <= 2
    for rollout in ("rollout", "eval_rollout"):
        assert plain.get(rollout, {}).get("max_steps", 0) <= 2
    trainer = plain["trainer"]
    for settings in (trainer, trainer.get("learn", {})):
        assert settings.get("updates", 0) <= 2
        assert settings.get("evaluate_trials", 0) <= 1
        assert not settings.get("check_forgetting", False)


def test_every_bound_of_a_first_look_is_of_a_setting_that_some_experiment_has():
    most = OmegaConf.load(CONF / "debug" / "tiny.yaml").at_most
    bounds = set(_keys(OmegaConf.to_container(most)))
    for overrides in ([f"+experiment={e}"] for e in EXPERIMENTS):
        bounds -= set(_keys(to_plain(compose(CONF, overrides))))
    trainings = to_plain(compose(CONF, ["trainer=sft/cpu", "trainer.source=[]"]))
    assert bounds <= set(_keys(trainings)), "nothing has such a setting"


def _keys(node, prefix=""):
    for key, value in node.items():
        yield from _keys(value, f"{prefix}{key}.") if isinstance(value, dict) else [prefix + key]


@pytest.mark.parametrize(
    ("experiment", "trainer"),
    [
        *[("text_ppo", each) for each in ("evaluate", "grpo", "collect")],
        *[("toolwoz_ppo", each) for each in ("evaluate", "grpo", "collect")],
        *[("toolwoz_self_train_smollm2", each) for each in ("evaluate", "collect")],
    ],
)
def test_what_an_experiment_trains_with_goes_when_another_trainer_is_chosen(experiment, trainer):
    config = compose(CONF, [f"+experiment={experiment}", f"trainer={trainer}"])
    assert assemble(to_plain(config), CONF)


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_an_experiment_says_its_command_and_has_a_page(experiment):
    text = (CONF / "experiment" / f"{experiment}.yaml").read_text()
    assert text.startswith("# @package _global_\n")
    assert f"# python run.py +experiment={experiment}\n" in text
    page = text.split("described in ")[1].split("\n")[0]
    assert (ROOT / page).is_file()


@pytest.mark.parametrize(("group", "choice"), CHOICES)
def test_the_first_comment_of_an_option_says_what_it_is(group, choice):
    first = (CONF / group / f"{choice}.yaml").read_text().splitlines()[0]
    assert first.startswith(f"# conf/{group}/{choice}.yaml")
    assert len(first) > len(f"# conf/{group}/{choice}.yaml") + 15


def test_plugins_are_leaves():
    plugins = {f"drl.{group}.{choice.split('/')[0]}" for group, choice in CHOICES}
    for path in sorted((ROOT / "drl").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if module.startswith(("drl.compat.", "drl.cli.")):
            continue  # public faces of other systems name the parts that they stand for
        imported = {
            node.module
            for node in ast.walk(ast.parse(path.read_text()))
            if isinstance(node, ast.ImportFrom) and node.module
        }
        assert not (imported & plugins) - {module}, module


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("drl", {"numpy", "pydantic", "hydra", "scipy", "rich"}),
        ("drl.launch", {"torch", "transformers", "pandas", "openai"}),
        ("drl.cli.main", {"torch", "numpy", "scipy", "hydra"}),
    ],
)
def test_importing_is_light(module, heavy):
    script = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not set(done.stdout.split()) & heavy
