"""`drl export`: saved trees as rows for fine-tuning, or as a result file of tau-bench."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from drl.cli._runs import ConfOption, check_conf
from drl.errors import ConfigError

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
        Literal["sft", "dpo", "kto", "openai", "tau"],
        typer.Option("--format", help="A format of TRL, OpenAI's, or tau-bench's result file."),
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
    With --format tau the file is a result file of tau-bench, of one run and without a policy.
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

    if file_format == "tau":
        if policy is not None:
            raise ConfigError(f"--policy {policy}: a result file holds all dialogues; leave it out")
        nodes = _nodes(check_conf(conf), _POLICY["sft"], agent, settings or [])
        _write_results(runs, _built(nodes)[1], out, data_dir, force=force)
        return
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


def _write_results(
    runs: Sequence[str], writer: Agent | None, out: Path, data_dir: Path, *, force: bool
) -> None:
    """Write the result file of one run.

    Raises:
        ConfigError: there are several runs, whose tries would have equal numbers, or the agent
            writes nothing that a result file could hold.
    """
    from drl.calls.ledger import FILE_NAME, read_entries
    from drl.mining.opening import open_source
    from drl.mining.tau_results import TauExport, user_costs, write_results
    from drl.reward.base import Reward
    from drl.rollout.base import Rollout
    from drl.runtime.stored_run import StoredRun

    if len(runs) > 1:
        raise ConfigError(f"{runs[1]}: a result file is of one run; export each on its own")
    source = open_source(runs[0], data_dir)
    stored = StoredRun(Path(runs[0]), data_dir)
    ledger = stored.folder / FILE_NAME
    agent = writer or source.agent
    if not agent.uses_llm:
        raise ConfigError(
            "--format tau: a result file holds what a model saw and wrote, and "
            f"{type(agent).__name__} of {runs[0]} speaks through none; name the form to write in "
            "with --agent function_calling/tau, or react/tau"
        )
    results = TauExport(
        source=source,
        agent=agent,
        score=stored.part("score" if "score" in stored.config else "reward", Reward),
        is_search=stored.part("rollout", Rollout).is_search,
        user_costs=user_costs(read_entries(ledger)) if ledger.is_file() else {},
    )
    print(f"Results: {write_results(results, out, force=force)} in {out}")
