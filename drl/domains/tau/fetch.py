"""Gets tau-bench once and keeps it in a compact form.

A copy of it is in the josh-train 0.1.4 wheel on the Python package index (MIT). The compact form
appears in one rename: whatever interrupts a run, `root` holds either all of it or none. Runs that
meet wait for each other.
"""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from drl.domains import josh_train
from drl.domains.tau import compact, stored
from drl.domains.tau.source import REMEDY, Source
from drl.errors import DataError
from drl.runtime.built_once import built_once
from drl.runtime.packed import content_sha256
from drl.types import JSON


def fetch(root: Path, source: Path | None = None) -> Path:
    """The folder of the compact form below `root`, built if it is not there yet.

    `source` is a josh-train 0.1.4 wheel, its unpacked folder, or a checkout of tau-bench; without
    one the wheel is downloaded through pip.

    Raises:
        DataError: the source is missing, corrupt, another wheel, or holds something else than what
            is there already; there is no network; `root` cannot be written.
    """
    folder = root / compact.FOLDER
    if source is not None and is_fetched(root):
        _check_same(folder, source)

    def build(fresh: Path, work: Path) -> None:
        path = josh_train.download(work, REMEDY) if source is None else source
        with Console(stderr=True).status("reading tau-bench and replaying its labels"):
            compact.write(fresh, _content(path))

    return built_once(folder, compact.WHAT, is_there=lambda: is_fetched(root), build=build)


def is_fetched(root: Path) -> bool:
    """Whether the compact form of this version is there and intact."""
    folder = root / compact.FOLDER
    try:
        manifest = compact.read_manifest(folder)
        for domain in stored.DOMAINS:
            compact.read(folder, domain, manifest)
    except DataError:
        return False
    return True


def _check_same(folder: Path, source: Path) -> None:
    """Refuse a source that holds something else than `folder`.

    Raises:
        DataError: it does.
    """
    there = compact.read_manifest(folder)["content_sha256"]
    if content_sha256(_content(source).texts) != there:
        raise DataError(
            f"{source} holds another tau-bench than {folder}; use another folder for it (--root), "
            f"or delete {folder} first"
        )


def _content(path: Path) -> compact.Content:
    """What the compact form of a source holds.

    Raises:
        DataError: the source cannot be read.
    """
    source = Source(path)
    try:
        kept: dict[str, Mapping[str, JSON]] = {}
        for domain in stored.DOMAINS:
            published = source.domain(domain)
            kept[domain] = {**published, "gold": stored.labels(published, domain)}
        return compact.Content(compact.texts(kept), source.demonstrations())
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is not laid out like tau-bench ({error!r}); {REMEDY}") from error
    finally:
        source.close()
