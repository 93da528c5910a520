"""Rows into a file, streaming; the file and what lies beside it appear whole or not at all.

FILE.jsonl             the rows
FILE.jsonl.card.md     the data card
FILE.jsonl.origins.jsonl   for OpenAI, whose format holds no origins: those of line n on line n
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from drl.errors import RunError
from drl.miner.base import Row
from drl.mining.card import Card, Lengths, evaluation_tasks, few_contrasts
from drl.mining.formats import Format, origins, to_openai, to_trl
from drl.mining.mine import Counts, Mined
from drl.runtime.drafts import drafted_file
from drl.types import JSON

_LOG = logging.getLogger(__name__)

ORIGINS = ".origins.jsonl"
"""What the file of origins is called, after the name of the rows."""

CARD = ".card.md"
"""What the data card is called, after the name of the rows."""


def export(mined: Mined, card: Card, file: Path, *, force: bool) -> Counts:
    """Write all rows with their card; what was counted on the way.

    Says so where rows come of tasks that policies are evaluated on, or hardly tell good from bad.

    Raises:
        RunError: a file is there already, without `force`; or it cannot be written there.
        DataError: there are no rows; then nothing is written.
    """
    names = _names(file, card.file_format)
    _check_places(names, force=force)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            drafts = {
                name: stack.enter_context(drafted_file(name, is_shared=True)) for name in names
            }
            _write(mined, card, file, drafts)
    except OSError as error:
        raise RunError(
            f"{file}: cannot be written ({error.strerror}); make room, or choose another --out"
        ) from error
    for warning in _warnings(mined):
        _LOG.warning("%s: %s", file, warning)
    return mined.counts


def _names(file: Path, file_format: Format) -> list[Path]:
    """The files of one export.

    Raises:
        RunError: there is no name to begin with.
    """
    if not file.name:
        raise RunError(f"{file}: is a folder, and the rows need a file; choose another --out")
    endings = (CARD, ORIGINS) if file_format == "openai" else (CARD,)
    return [file, *(_beside(file, ending) for ending in endings)]


def _check_places(names: Sequence[Path], *, force: bool) -> None:
    """Refuse to replace anything but files, and those without `force`.

    Raises:
        RunError: one is there already.
    """
    for name in names:
        if os.path.lexists(name) and not name.is_file():
            raise RunError(f"{name}: is there, and is no file of rows; choose another --out")
        if name.exists() and not force:
            raise RunError(f"{name}: is there already; add --force to replace it")


def _write(mined: Mined, card: Card, file: Path, drafts: Mapping[Path, Path]) -> None:
    lengths = Lengths()
    with ExitStack() as stack:
        rows = stack.enter_context(drafts[file].open("w", encoding="utf-8"))
        beside = _beside(file, ORIGINS)
        side = None
        if beside in drafts:
            side = stack.enter_context(drafts[beside].open("w", encoding="utf-8"))
        for row in mined:
            _write_row(row, card.file_format, rows, side)
            lengths.add(row.num_characters)
    text = card.to_markdown(mined.counts, lengths, _warnings(mined))
    drafts[_beside(file, CARD)].write_text(text, encoding="utf-8")


def _warnings(mined: Mined) -> list[str]:
    found = (evaluation_tasks(mined.counts), few_contrasts(mined.counts, mined.form))
    return [warning for warning in found if warning is not None]


def _write_row(row: Row, file_format: Format, rows: IO[str], side: IO[str] | None) -> None:
    if side is None:
        rows.write(_line(to_trl(row)))
    else:
        assert file_format == "openai", "only there are origins beside the rows"
        rows.write(_line(to_openai(row)))
        side.write(_line(origins(row)))


def _line(value: Mapping[str, JSON]) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


def _beside(file: Path, ending: str) -> Path:
    return file.with_name(file.name + ending)
