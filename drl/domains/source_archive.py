"""A source archive from the Python package index, without running anything that is in it.

pip runs an archive's own setup.py to learn its name, even if it is only asked to download it. So
pip gets a build backend of ours, which says the name and nothing else; and it compares the checksum
before that. The user's settings for pip (index, proxy, certificates) hold.
"""

from __future__ import annotations

import os
from pathlib import Path

from drl.domains.package_index import pip_download

_BACKEND = '''\
"""Stands in for setuptools while pip asks a source archive for its name."""

from pathlib import Path


class _Backend:
    def prepare_metadata_for_build_wheel(self, folder, settings=None):
        name = "{stem}-{version}.dist-info"
        (Path(folder) / name).mkdir()
        lines = "Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n"
        (Path(folder) / name / "METADATA").write_text(lines)
        return name


__legacy__ = _Backend()
'''


def download(name: str, version: str, sha256: str, folder: Path, *, size: str, remedy: str) -> Path:
    """The archive of a distribution that names no build backend, in `folder`.

    Args:
        name: of the distribution.
        version: of it.
        sha256: of the archive; another one is refused before it is opened.
        folder: an empty one.
        size: of the download, to be shown while it lasts.
        remedy: what to do where there is no index, for the message.

    Raises:
        DataError: pip cannot get it, or it is another one.
    """
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{name}=={version} --hash=sha256:{sha256}\n", encoding="utf-8")
    asked = ("--no-binary", name, "--no-build-isolation", "--requirement", str(wanted))
    return pip_download(
        asked,
        folder,
        "*.tar.gz",
        what=f"the source of {name} {version} ({size})",
        remedy=remedy,
        variables={"PYTHONPATH": _search_path(_backend(name, version, folder))},
    )


def _backend(name: str, version: str, folder: Path) -> Path:
    """A folder in which Python finds our backend under the name of setuptools."""
    place = folder / "backend"
    package = place / "setuptools"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    text = _BACKEND.format(name=name, stem=name.replace("-", "_"), version=version)
    (package / "build_meta.py").write_text(text, encoding="utf-8")
    return place


def _search_path(first: Path) -> str:
    """Where Python looks for modules: here first, then where it looked before."""
    before = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(first), *([before] if before else [])])
