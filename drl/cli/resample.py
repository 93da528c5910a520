"""`drl resample`: what the labels of a search are worth, by playing its branches on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drl.cli._runs import ConfOption, check_conf, check_run, resumable

if TYPE_CHECKING:
    from drl.types import JSON


def resample(
    run: Annotated[Path, typer.Argument(help="The folder of a search, outputs/NAME/HASH.")],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(help="Changes that make no other run, such as calls.budget_usd=5."),
    ] = None,
    continuations: Annotated[
        int | None, typer.Option(help="Dialogues played from each saved branch.")
    ] = None,
    max_nodes: Annotated[
        str | None, typer.Option(help="Places of choice drawn from each tree, or all.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Another seed draws other places, customers and agents.")
    ] = None,
    conf: ConfOption = Path("conf"),
) -> None:
    """Play saved branches of a search on with fresh customers, to see how often they succeed.

    The results lie in a folder inside of RUN; the same command goes on there. What is not said
    comes from conf/trainer/resample.yaml.
    """
    from drl.launch import run_config
    from drl.runtime.config import config_hash
    from drl.trainer.resample import check_source

    said = {
        "continuations": continuations,
        "max_nodes": "null" if max_nodes == "all" else max_nodes,
        "seed": seed,
    }
    settings = [f"trainer.{key}={value}" for key, value in said.items() if value is not None]
    config = _config(check_run(run), [*settings, *(overrides or [])], check_conf(conf))
    check_source(run, config)
    folder = run / f"resample-{config_hash(config)}"
    with resumable(str(folder)):
        run_config(config, conf, folder)


def _config(run: Path, overrides: list[str], conf: Path) -> dict[str, JSON]:
    """The config of a run with this trainer in place of its own, and the given changes.

    Raises:
        ConfigError: a change of the trainer cannot be read; other changes are checked by launch.
    """
    from omegaconf import DictConfig, OmegaConf

    from drl.launch import register_resolvers
    from drl.runtime.compose import compose
    from drl.runtime.config import to_plain
    from drl.runtime.stored_run import StoredRun

    register_resolvers()
    of_trainer = [change for change in overrides if change.startswith("trainer.")]
    trainer = to_plain(compose(conf, ["trainer=resample", *of_trainer]))["trainer"]
    # a plus, as messages of runs have it, says nothing here: what is not there is added anyway
    others = [change.lstrip("+") for change in overrides if change not in of_trainer]
    changed = OmegaConf.merge(
        OmegaConf.create(dict(StoredRun(run).config)), OmegaConf.from_dotlist(others)
    )
    assert isinstance(changed, DictConfig), "a run stored it"
    return to_plain(changed) | {"trainer": trainer}
