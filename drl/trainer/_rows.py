"""The rows of a training: mined once into the run folder, or read from files of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from drl.errors import ConfigError
from drl.miner.base import Form, Row
from drl.mining.card import Card
from drl.mining.export import export
from drl.mining.mine import mine
from drl.mining.row_file import read_rows
from drl.mining.source import open_source
from drl.runtime.run_dir import RunDir
from drl.trainer.base import Parts
from drl.types import JSON

MINED = Path("data") / "train.jsonl"
"""The mined rows, below the run folder; their card lies beside them."""

_ROW_FILE = ".jsonl"


def claim_rows(parts: Parts, run_dir: RunDir, source: Sequence[str], form: Form) -> Iterator[Row]:
    """All rows of the sources, which are runs, `josh_release`, or files of rows.

    Raises:
        ConfigError: no source is named, or there is no miner for a run.
        RunError: a source is no run.
        DataError: no row comes of them, or a row cannot be read.
    """
    if not source:
        raise ConfigError(
            "trainer.source=[] names nothing to learn from; name runs, josh_release or FILE.jsonl"
        )
    files = [Path(name) for name in source if name.endswith(_ROW_FILE)]
    runs = [name for name in source if not name.endswith(_ROW_FILE)]
    if runs:
        mined = run_dir.path / MINED
        if not mined.exists():
            _mine(parts, run_dir, runs, form)
        files = [mined, *files]
    return chain.from_iterable(read_rows(file, form) for file in files)


def _mine(parts: Parts, run_dir: RunDir, runs: Sequence[str], form: Form) -> None:
    """Write the rows of runs, in the language of `agent` or else of the agent that played."""
    if parts.miner is None:
        raise ConfigError(
            f"miner is not chosen, but trainer.source names a run ({runs[0]}) whose trees have to "
            "be mined; add miner=josh_clean"
        )
    sources = [open_source(name, Path(str(parts.config["data_dir"]))) for name in runs]
    node = parts.config["miner"]
    assert isinstance(node, Mapping), "launch built the miner from it"
    card = Card(
        file=MINED.name,
        file_format=form,
        policy=_name(node),
        settings=node,
        agent=_name(parts.config.get("agent")) if parts.agent is not None else None,
        sources=sources,
        command=str(run_dir.provenance()["command"]),
    )
    export(mine(parts.miner, sources, parts.agent, form), card, run_dir.path / MINED, force=True)


def _name(node: JSON) -> str:
    """The plug-in that a node names."""
    assert isinstance(node, Mapping), "launch refuses everything else"
    return str(node["_target_"]).split(".")[-2]
