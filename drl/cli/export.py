"""`drl export`: saved trees as rows for fine-tuning, here or at the maker of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from drl.cli._runs import ConfOption, check_conf

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from drl.agent.base import Agent
    from drl.miner.base import Miner
    from drl.types import JSON

_POLICY = {"sft": "josh_clean", "kto": "josh_clean", "dpo": "siblings", "openai": "josh_clean"}
"""What chooses rows of a format unless it is said."""


def export(
    runs: Annotated[
        list[str], typer.Argument(help="Folders of runs, outputs/NAME/HASH, or josh_release.")
    ],
    file_format: Annotated[
        Literal["sft", "dpo", "kto", "openai"],
        typer.Option("--format", help="A format of TRL, or OpenAI's."),
    ],
    out: Annotated[Path, typer.Option("--out", help="The file of rows, one JSON object a line.")],
    policy: Annotated[
        str | None,
        typer.Option(help="A miner; josh_clean unless said, siblings for dpo."),
    ] = None,
    agent: Annotated[
        str | None, typer.Option(help="In whose language to write, such as react/compact.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of policy or agent: miner.KEY=VALUE, agent.KEY=..."),
    ] = None,
    data_dir: Annotated[Path, typer.Option(help="Folder for data.")] = Path("data"),
    force: Annotated[bool, typer.Option("--force", help="Replace what is there.")] = False,
    conf: ConfOption = Path("conf"),
) -> None:
    """Make rows for fine-tuning of saved trees, without any model calls.

    Beside FILE a card tells where the rows come from. The last line is one JSON object of counts.
    """
    import json
    import shlex
    import sys

    from drl.mining.card import Card
    from drl.mining.export import CARD
    from drl.mining.export import export as write
    from drl.mining.formats import form_of
    from drl.mining.mine import mine
    from drl.mining.opening import open_source

    name = policy or _POLICY[file_format]
    nodes = _nodes(check_conf(conf), name, agent, settings or [])
    miner, writer = _built(nodes)
    sources = [open_source(run, data_dir) for run in runs]
    mined = mine(miner, sources, writer, form_of(file_format, miner))
    card = Card(
        file=out.name,
        file_format=file_format,
        policy=name,
        settings=nodes["miner"],
        agent=agent,
        sources=sources,
        command=shlex.join(["drl", *sys.argv[1:]]),
    )
    counts = write(mined, card, out, force=force)
    print(f"Rows: {out}, described in {out}{CARD}")
    print(json.dumps(counts.to_json()))


def _nodes(
    conf: Path, policy: str, agent: str | None, settings: Sequence[str]
) -> dict[str, Mapping[str, JSON]]:
    """The nodes of the miner and, if one is named, of the agent.

    Raises:
        ConfigError: an option or a setting is not known, or belongs to neither.
    """
    from collections.abc import Mapping

    from drl.errors import ConfigError
    from drl.launch import register_resolvers
    from drl.runtime.compose import compose
    from drl.runtime.config import check_nodes, to_plain

    register_resolvers()
    groups = ["miner", "agent"] if agent else ["miner"]
    said = [s if s.partition("=")[0].count(".") else f"miner.{s}" for s in settings]
    for setting in said:
        if "=" not in setting and not setting.startswith("~"):
            raise ConfigError(
                f"--set {setting.removeprefix('miner.')!r}: says no value; write KEY=VALUE"
            )
        if setting.lstrip("+~").partition(".")[0] not in groups:
            raise ConfigError(
                f"--set {setting}: only settings of {' and '.join(groups)} can be said; write "
                "miner.KEY=VALUE, or agent.KEY=VALUE with --agent"
            )
    chosen = [f"miner={policy}", *([f"agent={agent}"] if agent else [])]
    plain = to_plain(compose(conf, [*chosen, *said]))
    nodes = {key: node for key in groups if isinstance(node := plain[key], Mapping)}
    check_nodes(nodes)
    return nodes


def _built(nodes: Mapping[str, Mapping[str, JSON]]) -> tuple[Miner, Agent | None]:
    """The miner, and the agent that writes, if one was named."""
    from drl.agent.base import Agent
    from drl.miner.base import Miner
    from drl.runtime.config import build_as

    miner = build_as("miner", nodes["miner"], Miner)
    agent = build_as("agent", nodes["agent"], Agent) if "agent" in nodes else None
    return miner, agent
