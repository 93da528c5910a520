"""`drl estimate`: what an experiment will cost, before it is paid for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from drl.cli._runs import ConfOption, check_conf, resumable


def estimate(
    experiment: Annotated[str, typer.Argument(help="An experiment, such as toolwoz_josh.")],
    overrides: Annotated[
        list[str] | None, typer.Argument(help="Overrides, as run.py takes them.")
    ] = None,
    tasks: Annotated[int, typer.Option("--tasks", help="Tasks to roll out, at least 1.")] = 5,
    conf: ConfOption = Path("conf"),
) -> None:
    """Foretell cost and time of an experiment from a handful of its tasks, run for real.

    Their answers are kept, so the run itself does not pay for them again.
    """
    from collections.abc import Mapping

    from drl.errors import ConfigError
    from drl.launch import register_resolvers, run_config
    from drl.runtime.compose import compose
    from drl.runtime.config import config_hash, to_plain

    folder_of_groups = check_conf(conf)
    register_resolvers()
    chosen = [f"+experiment={experiment}", *(overrides or ())]
    config = compose(folder_of_groups, chosen)
    plain = to_plain(config)
    trainer = plain.get("trainer")
    if not isinstance(trainer, Mapping) or "trials" not in trainer:
        raise ConfigError(
            f"experiment={experiment} rolls nothing out (its trainer has no setting trials), so "
            "there is nothing to estimate; choose one with trainer=collect or trainer=evaluate"
        )
    node = to_plain(compose(folder_of_groups, ["trainer=estimate"]))["trainer"]
    assert isinstance(node, Mapping), "conf/trainer/estimate.yaml is a node"
    plain["trainer"] = {**node, "num_tasks": tasks, "trials": trainer["trials"]}
    folder = Path(config.hydra.run.dir)
    if not any(override.startswith("hydra.run.dir=") for override in chosen):
        folder = folder.with_name(config_hash(plain))
    with resumable(str(folder)):
        run_config(plain, folder_of_groups, folder)
