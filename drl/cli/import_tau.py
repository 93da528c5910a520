"""`drl import tau`: published dialogues of tau-bench as a run, graded by our rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from drl.cli._runs import ConfOption, check_conf, resumable

if TYPE_CHECKING:
    from omegaconf import DictConfig

    from drl.domains.tau.result_file import Result
    from drl.types import JSON

_AGENTS = {
    "tool-calling": "function_calling/tau",
    "few-shot": "function_calling/tau",
    "react": "react/tau",
    "act": "react/act",
}
"""Ours that speak as those of tau-bench do; the examples of few-shot are not known."""

_MODELS = ("llm.model", "user_llm.model")
_UNKNOWN = "unknown"


def tau(
    file: Annotated[Path, typer.Argument(help="A result file, as tau-bench's run.py writes them.")],
    overrides: Annotated[
        list[str] | None, typer.Argument(help="What the file does not tell, as llm.model=gpt-4o.")
    ] = None,
    domain: Annotated[
        Literal["retail", "airline"], typer.Option(help="Whose tasks they are.")
    ] = "retail",
    split: Annotated[str, typer.Option(help="Of which split.")] = "test",
    data: Annotated[
        Literal["tau1", "tau1_old"], typer.Option(help="The form of the data they were made on.")
    ] = "tau1",
    rules: Annotated[Literal["tau1", "josh"], typer.Option(help="The rules to grade by.")] = "tau1",
    conf: ConfOption = Path("conf"),
) -> None:
    """Replay published dialogues without a model, and say how often our grade is theirs.

    The folder of the run is for drl view and drl compare. Who played is taken from the name of the
    file where it is as tau-bench writes it.
    """
    from drl.domains.tau.result_file import read_results
    from drl.launch import register_resolvers, run_config
    from drl.runtime.compose import compose
    from drl.runtime.config import to_plain

    results = read_results(file)
    register_resolvers()
    said = list(overrides or [])
    chosen = [
        f"dataset={'tau_bench' if domain == 'retail' else 'tau_bench/airline'}",
        *(f"dataset.data={data}", f"dataset.split={split}", "environment=tau", "reward=goal_api"),
        f"reward@score={'db_state' if rules == 'tau1' else 'db_state/josh'}",
        *("rollout=single/tau", "trainer=tau_results", "llm=openai", "llm@user_llm=openai"),
        f"user_simulator={'tau' if data == 'tau1' else 'tau/old'}",
        *(f"agent={_agent(file, results)}", f"name=tau_{domain}_import"),
    ]
    config = compose(check_conf(conf), [*chosen, *said])
    _set(config, _known(file), said)
    _set(config, {"dataset.ids": _ids(file, results, to_plain(config))}, said)
    folder = Path(config.hydra.run.dir)
    with resumable(str(folder)):
        run_config(to_plain(config), conf.resolve(), folder)
    guessed = _guessed(file, results, said)
    if guessed:
        print(
            f"Who played is not known, for {file.name} is not named as tau-bench names its files. "
            f"Kept as {' '.join(guessed)}; say what is true after the name of the file."
        )


def _guessed(file: Path, results: Sequence[Result], said: Sequence[str]) -> list[str]:
    """What neither the name of the file nor an override tells of who played, as it is kept."""
    from drl.domains.tau.result_file import origin_of

    if origin_of(file) is not None:
        return []
    kept = {"agent": _agent(file, results), **dict.fromkeys(_MODELS, _UNKNOWN)}
    return [f"{key}={value}" for key, value in kept.items() if not _is_said(key, said)]


def _agent(file: Path, results: Sequence[Result]) -> str:
    """Our agent of the form in which the dialogues are written."""
    from drl.domains.tau.result_file import origin_of
    from drl.domains.tau.trajectory import form_of

    origin = origin_of(file)
    if origin is not None:
        return _AGENTS[origin.agent]
    is_text = any(form_of(result.messages) == "text" for result in results)
    return "react/tau" if is_text else "function_calling/tau"


def _known(file: Path) -> dict[str, JSON]:
    """What is known of the file and of who played."""
    import hashlib

    from drl.domains.tau.result_file import origin_of

    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    known: dict[str, JSON] = {"trainer.file": str(file), "trainer.sha256": digest}
    origin = origin_of(file)
    if origin is None:
        return known | dict.fromkeys(_MODELS, _UNKNOWN)
    return known | {
        "agent.temperature": origin.temperature,
        "llm.model": origin.model,
        "user_llm.model": origin.user_model,
        "user_simulator.strategy": origin.user,
    }


def _ids(file: Path, results: Sequence[Result], config: Mapping[str, JSON]) -> JSON:
    """The tasks that the file is of; null for the whole split.

    Raises:
        DataError: it is of other tasks.
    """
    from drl.dataset.base import Dataset
    from drl.runtime.config import build_as, check_nodes
    from drl.trainer.tau_results import by_task

    node = config["dataset"]
    assert isinstance(node, Mapping), "an option of the group was chosen"
    check_nodes({"dataset": node})
    tasks = build_as("dataset", node, Dataset).load()
    found = {task_id for task_id, _ in by_task(file, results, tasks)}
    ids = [task.id for task in tasks if task.id in found]
    return None if len(ids) == len(tasks) else ids


def _set(config: DictConfig, values: Mapping[str, JSON], said: Sequence[str]) -> None:
    """Set what was not said otherwise; values may hold any character, unlike overrides."""
    from omegaconf import OmegaConf

    for key, value in values.items():
        if not _is_said(key, said):
            OmegaConf.update(config, key, value)


def _is_said(key: str, said: Sequence[str]) -> bool:
    return any(override.lstrip("+").startswith(f"{key}=") for override in said)
