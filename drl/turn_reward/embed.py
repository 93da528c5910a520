"""The stage `embed`: every agent turn of all sessions goes through a frozen encoder, once.

What it gives lies below `<root>/embeddings`, in a folder for each encoder, text format and version
of the data, from where any number of objectives and seeds are trained. A killed run goes on where
it was.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from drl.errors import DataError
from drl.runtime.progress import progress_bar
from drl.turn_reward.encoder import Encoder
from drl.turn_reward.session import Session
from drl.turn_reward.store import EmbeddingStore, Span, StoreWriter
from drl.turn_reward.text_format import TextFormat

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LOG = logging.getLogger(__name__)

_TURNS_AT_ONCE = 256
"""Turns of one chunk: texts of like length are batched within it, and a kill loses no more.

Chunks are stored as a whole, so a run that goes on has the very batches of one that was not ended.
"""


@dataclass(frozen=True)
class Embedded:
    """The embeddings of sessions, mapped from disk.

    `matrix` float [N, d] may hold rows of other sessions too; `spans` says which are whose.
    """

    matrix: NDArray[np.floating]
    spans: Mapping[str, Span]

    def of(self, session_id: str) -> NDArray[np.floating]:
        """The embeddings [T, d] of the agent turns of a session, in order."""
        span = self.spans[session_id]
        return self.matrix[span.start : span.end]


def embed(
    sessions: Sequence[Session],
    encoder: Encoder,
    text_format: TextFormat,
    root: Path,
    version: str,
) -> Embedded:
    """The embeddings of all agent turns; those that are on disk already are not made again.

    Args:
        sessions: whose ids differ.
        encoder: loaded.
        text_format: of the turns.
        root: the folder for data.
        version: of the data that the sessions come from.

    Raises:
        DataError: two sessions share an id, the store cannot be written or read, or holds other
            rows than were written.
        ConfigError: as `encoder.embed`.
    """
    digests = {session.id: _digest(session) for session in sessions}
    if len(digests) < len(sessions):
        raise DataError("two sessions share an id; each embedding must belong to one of them")
    store = _store(encoder, text_format, root, version)
    known: Mapping[str, Span] = store.spans()
    if any(digest not in known for digest in digests.values()):
        with store.writing() as writer:
            new = {
                digests[session.id]: session
                for session in sessions
                if digests[session.id] not in writer.spans  # another process may have been there
            }
            _fill(writer, new, encoder, text_format)
            known = writer.spans
    used = {name: known[digest] for name, digest in digests.items()}
    store.check(used.values())
    return Embedded(store.matrix(), used)


def _fill(
    writer: StoreWriter, new: Mapping[str, Session], encoder: Encoder, text_format: TextFormat
) -> None:
    """Embed sessions, by their digests."""
    num_turns = sum(len(session.agent_turns) for session in new.values())
    with progress_bar("Embedding turns", num_turns) as bar:
        for chunk in _chunks(new):
            rows = _rows(list(chunk.values()), encoder, text_format)
            parts = dict(zip(chunk, rows, strict=True))
            writer.append(parts)
            bar.advance(sum(map(len, parts.values())), note=next(reversed(chunk.values())).id)
    if encoder.num_cut:
        _LOG.warning(
            "%d agent turns are longer than the encoder can read; the last part of each stands "
            "for it",
            encoder.num_cut,
        )


def _store(encoder: Encoder, text_format: TextFormat, root: Path, version: str) -> EmbeddingStore:
    about = {
        "encoder": encoder.digest,
        "text_format": text_format.digest,
        "data_version": version,
    }
    name = blake2b("\x1f".join(about.values()).encode(), digest_size=8).hexdigest()
    folder = root / "embeddings" / name
    return EmbeddingStore(folder, encoder.dimension, encoder.stored_as, about)


def _digest(session: Session) -> str:
    """Equal for sessions in which the same was said, by the same sides."""
    digest = blake2b(digest_size=16)
    for turn in session.turns:
        text = turn.text.encode("utf-8", "surrogatepass")
        digest.update(f"{turn.role} {len(text)} ".encode() + text)
    return digest.hexdigest()


def _chunks(sessions: Mapping[str, Session]) -> Iterator[dict[str, Session]]:
    """Sessions in groups that are embedded together."""
    chunk: dict[str, Session] = {}
    num_turns = 0
    for digest, session in sessions.items():
        chunk[digest] = session
        num_turns += len(session.agent_turns)
        if num_turns >= _TURNS_AT_ONCE:
            yield chunk
            chunk, num_turns = {}, 0
    if chunk:
        yield chunk


def _rows(
    sessions: Sequence[Session], encoder: Encoder, text_format: TextFormat
) -> Iterator[NDArray[np.float32]]:
    """The embeddings of each session."""
    texts = []
    for session in sessions:
        utterances = session.utterances
        texts += [text_format.render(utterances, place) for place in session.agent_turns]
    rows = encoder.embed(texts)
    start = 0
    for session in sessions:
        count = len(session.agent_turns)
        yield rows[start : start + count]
        start += count
