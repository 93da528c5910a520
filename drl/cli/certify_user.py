"""`drl certify-user`: whether a simulated user stays true to its part."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from drl.cli._runs import ConfOption, check_conf, resumable

if TYPE_CHECKING:
    from drl.types import JSON

_OWN = ("agent", "rollout", "llm", "judge_llm", "score")
"""What it does without, or chooses itself."""


def certify_user(
    user: Annotated[str, typer.Argument(help="A user simulator, such as agenda or goal.")],
    overrides: Annotated[
        list[str] | None,
        typer.Argument(help="Overrides, such as llm@user_llm=openai or trainer.max_leakage=0.1."),
    ] = None,
    tasks: Annotated[int, typer.Option("--tasks", help="Tasks to talk about.")] = 50,
    experiment: Annotated[
        str, typer.Option("--experiment", help="Whose tasks, environment and models.")
    ] = "toolwoz_eval",
    conf: ConfOption = Path("conf"),
) -> None:
    """Let a user simulator talk to the oracle and to the rule agent, and hold it to limits.

    Exits with 1 and a line for each limit that is broken.
    """
    from drl.launch import register_resolvers, run_config
    from drl.runtime.compose import compose
    from drl.runtime.config import config_hash, to_plain

    groups = check_conf(conf)
    register_resolvers()
    mine, others = _split(overrides or [])
    config = compose(groups, [f"+experiment={experiment}", f"user_simulator={user}", *others])
    node = to_plain(compose(groups, ["trainer=certify_user", f"trainer.num_tasks={tasks}", *mine]))
    plain: dict[str, JSON] = {k: v for k, v in to_plain(config).items() if k not in _OWN}
    plain["trainer"] = node["trainer"]
    folder = Path(config.hydra.run.dir)
    if not any(override.startswith("name=") for override in others):
        plain["name"] = f"certify_{user.replace('/', '_')}"
    if not any(override.startswith("hydra.run.dir=") for override in others):
        folder = folder.parents[1] / str(plain["name"]) / config_hash(plain)
    with resumable(str(folder)):
        summary = run_config(plain, groups, folder)
    _fail_by(summary["broken_rules"])


def _fail_by(broken: JSON) -> None:
    assert isinstance(broken, list), "the trainer's summary has this form"
    for line in broken:
        typer.echo(line, err=True)
    if broken:
        raise typer.Exit(1)


def _split(overrides: list[str]) -> tuple[list[str], list[str]]:
    """Overrides of this command's own trainer, and of the experiment.

    Raises:
        ConfigError: one is of a part that the command chooses itself.
    """
    from drl.errors import ConfigError

    for override in overrides:
        name = override.lstrip("+~").partition("=")[0].partition(".")[0]
        if name in _OWN or override.startswith("trainer="):
            raise ConfigError(
                f"{override}: certify-user chooses its agents and rollout itself; say "
                "trainer.SETTING=VALUE, such as trainer.rollout.max_steps=20"
            )
    mine = [override for override in overrides if override.startswith("trainer.")]
    return mine, [override for override in overrides if override not in mine]
