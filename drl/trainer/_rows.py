"""The rows of a training: mined once into the run folder, or read from files of rows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from drl.errors import ConfigError, RunError
from drl.miner.base import Form, Row
from drl.mining.card import Card
from drl.mining.export import export
from drl.mining.mine import mine
from drl.mining.opening import open_source
from drl.mining.row_file import read_rows
from drl.runtime.config import plug_in_of
from drl.runtime.run_dir import RunDir, make_folder
from drl.trainer.base import Parts
from drl.types import JSON

MINED = Path("data") / "train.jsonl"
"""The mined rows, below the run folder; their card lies beside them."""

_DIGESTS = Path("data") / "files.json"
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


def check_files(run_dir: RunDir, source: Sequence[str]) -> None:
    """Hold the files of rows against those that the run was trained on; one may be gone.

    Raises:
        RunError: one has changed since.
    """
    kept = run_dir.path / _DIGESTS
    if not kept.exists():
        return
    before = json.loads(kept.read_text())
    for name, digest in _digests(source).items():
        if before.get(name) != digest:
            raise RunError(
                f"{name}: has changed since {run_dir.path} began to learn from it; bring the old "
                "file back, or choose another folder with hydra.run.dir=DIR"
            )


def keep_digests(run_dir: RunDir, source: Sequence[str]) -> None:
    """Write down what the files of rows hold, as the training begins.

    Raises:
        RunError: that cannot be written.
    """
    digests = _digests(source)
    if digests and not (run_dir.path / _DIGESTS).exists():
        make_folder((run_dir.path / _DIGESTS).parent)
        run_dir.write_json(str(_DIGESTS), digests)


def _mine(parts: Parts, run_dir: RunDir, runs: Sequence[str], form: Form) -> None:
    """Write the rows of runs, in the language of `agent` or else of the agent that played."""
    if parts.miner is None:
        raise ConfigError(
            f"miner is not chosen, but trainer.source names a run ({runs[0]}) whose trees have to "
            "be mined; add miner=josh_clean"
        )
    sources = [open_source(name, Path(str(parts.config["data_dir"]))) for name in runs]
    node, agent = parts.config["miner"], parts.config.get("agent")
    assert isinstance(node, Mapping), "launch built the miner from it"
    card = Card(
        file=MINED.name,
        file_format=form,
        policy=plug_in_of(node),
        settings=node,
        agent=plug_in_of(agent) if isinstance(agent, Mapping) else None,
        sources=sources,
        command=str(run_dir.provenance()["command"]),
    )
    export(mine(parts.miner, sources, parts.agent, form), card, run_dir.path / MINED, force=True)


def _digests(source: Sequence[str]) -> dict[str, JSON]:
    """Of the files of rows that are there, by their names as given."""
    files = [name for name in source if name.endswith(_ROW_FILE) and Path(name).is_file()]
    return {name: _digest(Path(name)) for name in files}


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
