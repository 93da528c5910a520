"""The report: all trees of a run in one HTML file that opens without a network.

The page is a template (`template/`) with data islands: the summary, one compressed chunk per tree
that the browser unpacks when the tree is opened, and a small index for everything before that.
Dialogue text reaches the page as data only; the content policy allows nothing but our own script.
"""

import base64
import gzip
import hashlib
import html
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path

from drl.errors import RunError
from drl.report.index import index_row
from drl.report.task_card import TaskCard
from drl.tree.codec import to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import JSON

_SCRIPTS = (
    "terms.js",
    "dom.js",
    "data.js",
    "tree_model.js",
    "layout.js",
    "drawing.js",
    "canvas.js",
    "turn.js",
    "panel.js",
    "charts.js",
    "curves.js",
    "summary.js",
    "task_list.js",
    "task_page.js",
    "viewer.js",
)
_SLOT = re.compile(r"<!--slot:(\w+)-->")


def write_report(
    path: Path,
    title: str,
    summary: Mapping[str, JSON],
    tasks: Iterable[tuple[TaskCard, DialogueTree]],
) -> None:
    """Write the report of a run to `path`; a reader sees the old file or the whole new one.

    Trees are taken one at a time and not kept; there may be none. `curves` of `summary` are drawn:
    by name `{"x": [...], "y": [...], "x_label": str}`, with `low` and `high` a band around y; null
    is a gap. Other entries that the page does not know are shown by their shape (numbers,
    intervals, tables).

    Raises:
        RunError: the file cannot be written.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            for piece in _pieces(title, summary, tasks):
                file.write(piece)
        partial.replace(path)
    except OSError as error:
        raise RunError(
            f"{path}: the report cannot be written: {error}; free space or choose another folder"
        ) from error
    finally:
        partial.unlink(missing_ok=True)


def _pieces(
    title: str, summary: Mapping[str, JSON], tasks: Iterable[tuple[TaskCard, DialogueTree]]
) -> Iterator[bytes]:
    """The file from top to bottom; the index comes last because it is known last."""
    template = _SLOT.split(_read("viewer.html"))
    style = _read("viewer.css")
    script = f'(() => {{\n"use strict";\n{"".join(map(_read, _SCRIPTS))}}})();\n'
    rows: list[JSON] = []
    texts = {
        "policy": _content_policy(style, script),
        "title": html.escape(title),
        "style": style,
        "script": script,
    }
    for position, part in enumerate(template):
        if position % 2 == 0:
            yield part.encode()
        elif part == "trees":
            for card, tree in tasks:
                yield _chunk(len(rows), card, tree)
                rows.append(index_row(card, tree))
        elif part == "summary":
            yield _island({"title": title, "summary": summary})
        elif part == "index":
            yield _island(rows)
        else:
            yield texts[part].encode()


def _read(name: str) -> str:
    return (resources.files("drl.report") / "template" / name).read_text(encoding="utf-8")


def _content_policy(style: str, script: str) -> str:
    """Nothing is loaded, and only this very script and style count."""
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _chunk(position: int, card: TaskCard, tree: DialogueTree) -> bytes:
    """A tree and its card, compressed, as a block of text that no browser runs."""
    outcomes = {str(leaf.id): tree.outcome(leaf).value for leaf in tree.leaves(continuations=True)}
    about = {
        "task": card.task_id,
        "trial": card.trial,
        "domains": card.domains,
        "goals": [{"kind": kind, "arguments": arguments} for kind, arguments in card.goals],
        "instructions": card.instructions,
        "score": card.score,
        "outcomes": outcomes,
    }
    payload = b'{"card":' + _island(about) + b',"tree":' + to_line(tree) + b"}"
    packed = base64.b64encode(gzip.compress(payload, mtime=0))
    return b'<script type="text/plain" id="tree-%d">%s</script>\n' % (position, packed)


def _island(value: JSON) -> bytes:
    """JSON in plain ASCII that cannot end the element it stands in."""
    text = json.dumps(_finite(value), allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("ascii")


def _finite(value: JSON) -> JSON:
    """The value with null for numbers that JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_finite(item) for item in value]
    return value
