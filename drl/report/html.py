"""The report: all trees of a run in one HTML file that opens without a network.

The page is a template (`template/`) with data islands: the summary, one compressed chunk per tree
that the browser unpacks when the tree is opened, and a small index for everything before that.
Dialogue text reaches the page as data only; the content policy allows nothing but our own script.
"""

import base64
import gzip
import html
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from drl.report.index import index_row
from drl.report.page import SLOT, content_policy, island, joined_script, read_part, write_page
from drl.report.task_card import TaskCard
from drl.tree.codec import to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import JSON

_FOLDER = "template"
_SCRIPTS = (
    "data.js",
    "terms.js",
    "dom.js",
    "tree_model.js",
    "layout.js",
    "drawing.js",
    "canvas.js",
    "turn.js",
    "panel.js",
    "charts.js",
    "curves.js",
    "bars.js",
    "summary.js",
    "task_list.js",
    "task_page.js",
    "viewer.js",
)


def write_report(
    path: Path,
    title: str,
    summary: Mapping[str, JSON],
    tasks: Iterable[tuple[TaskCard, DialogueTree]],
) -> None:
    """Write the report of a run to `path`; a reader sees the old file or the whole new one.

    Trees are taken one at a time and not kept; there may be none. `curves` of `summary` are drawn:
    by name `{"x": [...], "y": [...], "x_label": str}`, with `low` and `high` a band around y; null
    is a gap. Several lines in one chart are `{"lines": {NAME: line, ...}, "x_label": str}`; one
    with `"beside": NAME` is drawn as the broken companion of that one. Other entries that the page
    does not know are shown by their shape (numbers, intervals, tables).

    Raises:
        RunError: the file cannot be written.
    """
    write_page(path, _pieces(title, summary, tasks), "report")


def _pieces(
    title: str, summary: Mapping[str, JSON], tasks: Iterable[tuple[TaskCard, DialogueTree]]
) -> Iterator[bytes]:
    """The file from top to bottom; the index comes last because it is known last."""
    template = SLOT.split(read_part(_FOLDER, "viewer.html"))
    style = read_part(_FOLDER, "viewer.css")
    script = joined_script(_FOLDER, _SCRIPTS)
    rows: list[JSON] = []
    texts = {
        "policy": content_policy(style, script),
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
            yield island({"title": title, "summary": summary})
        elif part == "index":
            yield island(rows)
        else:
            yield texts[part].encode()


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
    payload = b'{"card":' + island(about) + b',"tree":' + to_line(tree) + b"}"
    packed = base64.b64encode(gzip.compress(payload, mtime=0))
    return b'<script type="text/plain" id="tree-%d">%s</script>\n' % (position, packed)
