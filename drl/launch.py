"""From a command line to a finished run: compose, check, build, run.

`run.py` calls `main`. Everything that can be known to be wrong is found by `preflight`, before
Hydra starts a job: names, keys, types, what constructors refuse, for every job of a sweep.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from rich.console import Console

from drl.agent.base import Agent
from drl.calls.prices import price_of
from drl.calls.settings import CallSettings
from drl.credit.base import Credit
from drl.dataset.base import Dataset
from drl.environment.base import Environment
from drl.errors import ConfigError, DrlError
from drl.evaluation.sweep_console import SweptRun, print_sweep
from drl.llm.base import LLM
from drl.miner.base import Miner
from drl.reward.base import Reward
from drl.rollout.base import Rollout
from drl.runtime.compose import compose, jobs_of, options, unknown_key
from drl.runtime.config import build_as, check_nodes, config_hash, to_plain
from drl.runtime.extras import missing_packages_named
from drl.runtime.run_dir import RunDir, make_folder, score_of
from drl.trainer.base import Parts, Trainer
from drl.types import JSON
from drl.user_simulator.base import UserSimulator

_SETTINGS: dict[str, type] = {"name": str, "seed": int, "data_dir": str}
_KINDS: dict[str, type] = {
    "dataset": Dataset,
    "environment": Environment,
    "agent": Agent,
    "user_simulator": UserSimulator,
    "reward": Reward,
    "score": Reward,
    "credit": Credit,
    "rollout": Rollout,
    "miner": Miner,
    "eval_dataset": Dataset,
    "eval_user_simulator": UserSimulator,
    "eval_rollout": Rollout,
    "llm": LLM,
    "user_llm": LLM,
    "judge_llm": LLM,
    "calls": CallSettings,
    "trainer": Trainer,
}
_LLMS = ("llm", "user_llm", "judge_llm")
_CHOICES = {
    "score": "reward@score",
    "eval_dataset": "dataset@eval_dataset",
    "eval_user_simulator": "user_simulator@eval_user_simulator",
    "eval_rollout": "rollout@eval_rollout",
    "user_llm": "llm@user_llm",
    "judge_llm": "llm@judge_llm",
}
"""How to choose a part whose group has another name."""
_STDERR = Console(stderr=True, highlight=False, soft_wrap=True)


def main(conf: Path) -> None:
    """Run the command line with the config groups in the folder `conf`."""
    register_resolvers()
    try:
        jobs = jobs_of(sys.argv[1:])
        for overrides in jobs.overrides:
            preflight(conf, overrides, is_sweep=jobs.is_sweep)
    except DrlError as error:
        _fail(error)
    except KeyboardInterrupt:
        sys.exit(130)
    finished: list[SweptRun] = []

    def job(config: DictConfig) -> None:
        swept = _job(config)
        if jobs.is_sweep:
            finished.append(swept)

    hydra.main(version_base="1.3", config_path=str(conf), config_name="config")(job)()
    if len(finished) > 1:  # a launcher of another kind runs its jobs elsewhere
        print_sweep(finished)


def preflight(conf: Path, overrides: Sequence[str], *, is_sweep: bool = False) -> None:
    """Compose and build one job as it will be, and make its folder; nothing is loaded or run.

    Raises:
        ConfigError: what is wrong, in one line with the known names; a job of a sweep is named.
        RunError: the folder cannot be made.
    """
    try:
        config = compose(conf, overrides)
        with missing_packages_named():
            assemble(to_plain(config), conf)
        make_folder(Path(config.hydra.sweep.dir if is_sweep else config.hydra.run.dir))
    except ConfigError as error:
        raise ConfigError(
            f"{error} (job {' '.join(overrides)})" if is_sweep else str(error)
        ) from None


def assemble(plain: Mapping[str, JSON], conf: Path) -> tuple[Trainer, Parts]:
    """Check all nodes of a resolved config, then build them; construction loads nothing."""
    nodes = {key: value for key, value in plain.items() if key not in _SETTINGS}
    for key, node in nodes.items():
        if key not in _KINDS:
            raise ConfigError(unknown_key(conf, key))
        if not (isinstance(node, Mapping) and "_target_" in node):
            raise ConfigError(f"{key} has settings but is not chosen; add {_how(key, conf)}")
    check_nodes(nodes)
    _check_settings(plain)
    if "calls" not in nodes:
        raise ConfigError("calls cannot be taken away; leave it as conf/config.yaml has it")
    built = _build(nodes)
    trainer = built.pop("trainer", None)
    if not isinstance(trainer, Trainer):  # its kind was checked, so there is none
        raise ConfigError(f"trainer is not chosen; known: {', '.join(options(conf, 'trainer'))}")
    _check_needs(trainer, built, conf)
    built["score"] = score_of(built)
    parts = Parts(config=plain, **built)  # pyright: ignore[reportArgumentType]
    _check_models(parts, conf)
    if parts.rollout and parts.agent:
        parts.rollout.check(parts.agent)
    _check_cuts(parts)
    trainer.check_parts(parts)
    return trainer, parts


def _build(nodes: Mapping[str, JSON]) -> dict[str, object]:
    """The object of each node; equal model nodes share one, so that one set of weights serves."""
    built: dict[str, object] = {}
    models: list[tuple[JSON, object]] = []
    for key, node in nodes.items():
        assert isinstance(node, Mapping), "assemble refused everything else"
        same = [model for other, model in models if other == node]
        built[key] = same[0] if same else build_as(key, node, _KINDS[key])
        if key in _LLMS:
            models.append((node, built[key]))
    return built


def _check_models(parts: Parts, conf: Path) -> None:
    """Participants that speak through a model have one, and a dollar budget can be kept."""
    for group, participant, key, llm in (
        ("agent", parts.agent, "llm", parts.llm),
        ("user_simulator", parts.user_simulator, "user_llm", parts.user_llm),
        ("reward", parts.reward, "judge_llm", parts.judge_llm),
        ("score", parts.score, "judge_llm", parts.judge_llm),
    ):
        if participant is not None and participant.uses_llm and llm is None:
            raise ConfigError(
                f"{key} is not chosen, but this {group} speaks through one; add {_how(key, conf)}"
            )
    for key, llm in zip(_LLMS, (parts.llm, parts.user_llm, parts.judge_llm), strict=True):
        if parts.calls.budget_usd is None or llm is None:
            continue
        if price_of(llm, parts.calls.prices) is None:
            raise ConfigError(
                f"calls.budget_usd={parts.calls.budget_usd} cannot be kept: the price of "
                f"{key}.model={llm.model} is not known; add '+calls.prices={{{llm.model}: "
                "{input: DOLLARS, output: DOLLARS}}' (per million tokens), or use "
                "calls.budget_tokens"
            )


def _check_cuts(parts: Parts) -> None:
    """What goes with rollouts that cut branches because of what they earned."""
    credit, reward, rollout = parts.credit, parts.reward, parts.rollout
    if rollout is None or not rollout.cuts_branches:
        return
    if credit and credit.needs_siblings:
        raise ConfigError(
            f"rollout: this one cuts branches, or tries no more, because of what others earned, "
            f"and {type(credit).__name__} would be biased by that; set rollout=josh/no_collapse, "
            "or rollout=best_of_n by num_dialogues, or choose another credit"
        )
    if reward and not reward.pays_turns:
        raise ConfigError(
            "reward: this one pays for no turn, and the rollout cuts branches, or tries no more, "
            "by what turns earned; grade with it (reward@score=NAME) beside a reward that pays "
            "for them, as reward=goal_api, or set rollout=best_of_n by num_dialogues"
        )


def _how(key: str, conf: Path) -> str:
    """The override that chooses a part, with the names it knows; presets of a name not."""
    choice = _CHOICES.get(key, key)
    names = [n for n in options(conf, choice.partition("@")[0]) if "/" not in n]
    return f"{choice}=NAME (known: {', '.join(names)})"


def _check_settings(plain: Mapping[str, JSON]) -> None:
    for key, kind in _SETTINGS.items():
        value = plain.get(key)
        if type(value) is not kind:
            raise ConfigError(f"{key}={value!r} must be {kind.__name__}")
    name = str(plain["name"])
    if not name or name != Path(name).name or name in (".", ".."):
        raise ConfigError(f"name={name!r} names a folder in outputs; leave out slashes and dots")


def _check_needs(trainer: Trainer, built: Mapping[str, object], conf: Path) -> None:
    for group in trainer.needs:
        if group not in built:
            raise ConfigError(
                f"{group} is not chosen, but {type(trainer).__name__} needs one; "
                f"add {_how(group, conf)}, or +experiment=NAME first, which chooses all parts "
                "(python run.py --help lists them)"
            )


def run(conf: Path, overrides: Sequence[str]) -> Path:
    """Run one job in this process and return its folder; for commands that are made of runs.

    Raises:
        ConfigError, DataError, RunError: as the job does.
        KeyboardInterrupt: was asked to stop; the same call goes on.
    """
    register_resolvers()
    config = compose(conf, overrides)
    folder = Path(config.hydra.run.dir)
    run_config(to_plain(config), conf, folder)
    return folder


def run_config(plain: Mapping[str, JSON], conf: Path, folder: Path) -> Mapping[str, JSON]:
    """Run one job from its resolved config, in a folder of choice; returns its summary.

    Raises:
        ConfigError, DataError, RunError, KeyboardInterrupt: as `run` does.
    """
    quieten()
    trainer, parts = assemble(plain, conf)
    run_dir = RunDir(folder)
    if not (run_dir.leads or trainer.takes_several_processes):
        raise ConfigError(
            f"RANK={os.environ['RANK']} makes this one of several processes, but "
            f"{type(trainer).__name__} runs in one; start it with python run.py"
        )
    with run_dir, missing_packages_named():
        run_dir.claim(parts.config)
        return trainer.run(parts, run_dir)


def register_resolvers() -> None:
    """Make known what our configs compute; before any of them is composed."""
    OmegaConf.register_new_resolver("config_hash", _hash_of_root, replace=True)


def quieten() -> None:
    """Show warnings once each and bars on terminals, and let a stop by signal be an interrupt."""
    handler = logging.StreamHandler()
    handler.addFilter(_FirstOfItsKind())
    logging.basicConfig(
        level="WARNING", format="%(levelname)s: %(message)s", handlers=[handler], force=True
    )
    if not sys.stderr.isatty():  # bars of libraries, as transformers shows while it unpacks weights
        os.environ.setdefault("TQDM_DISABLE", "1")
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _job(config: DictConfig) -> SweptRun:
    """One job, in the process that Hydra chose for it."""
    hydra_config = HydraConfig.get()
    folder = Path(hydra_config.runtime.output_dir)
    conf = Path(next(s.path for s in hydra_config.runtime.config_sources if s.provider == "main"))
    overrides = list(hydra_config.overrides.task)
    if hydra_config.mode is RunMode.MULTIRUN:
        print(f"\nJob {hydra_config.job.num}: {' '.join(overrides)}", flush=True)
    try:
        return SweptRun(overrides, folder, run_config(to_plain(config), conf, folder))
    except DrlError as error:
        _fail(error)
    except KeyboardInterrupt:
        _STDERR.print(f"Stopped. What is finished is in {folder}; the same command goes on there.")
        sys.exit(130)


class _FirstOfItsKind(logging.Filter):
    """Lets each message through once: what breaks one dialogue often breaks them all."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this message was not shown before."""
        text = record.getMessage()
        is_new = text not in self._seen
        self._seen.add(text)
        return is_new


def _hash_of_root(*, _root_: DictConfig) -> str:
    return config_hash(to_plain(_root_))


def _fail(error: DrlError) -> NoReturn:
    """One clear line instead of a traceback."""
    _STDERR.print(f"error: {' '.join(str(error).split())}", style="bold red", markup=False)
    sys.exit(2)
