"""Where the package tau2 is, and its modules.

tau2-bench (Sierra, MIT) is on GitHub only; the project `tau2` of the Python package index has
nothing to do with it. It is found where it is installed, or in a checkout.

Its modules are imported without its `__init__`, which would load its runner and litellm: an empty
module stands in for `tau2` in this process, so do not run tau2's own programs in the same one.
"""

from __future__ import annotations

import importlib
import logging
import sys
import tomllib
from dataclasses import dataclass
from hashlib import blake2b
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Final

from drl.errors import ConfigError

NAME: Final = "tau2"
INSTALL: Final = "pip install git+https://github.com/sierra-research/tau2-bench"
_REMEDY: Final = (
    f"with Python 3.12 or 3.13 run `{INSTALL}` and set TAU2_DATA_DIR to the folder data/ of that "
    "repository, or set dataset.root to a checkout of it"
)
_READ: Final = {".json", ".toml", ".yaml", ".md", ".txt", ".py"}
"""Endings of files that decide what a domain does."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Package:
    """The folder of the package's modules, and the setting that led there."""

    folder: Path
    root: str | None

    def module(self, name: str) -> ModuleType:
        """A module of it, such as `domains.telecom.environment`.

        Raises:
            ConfigError: it cannot be imported, or another tau2 is in use in this process.
        """
        _claim(self)
        if find_spec("loguru") is not None:  # tau2 logs every call there
            importlib.import_module("loguru").logger.disable(NAME)
        try:
            return importlib.import_module(f"{NAME}.{name}")
        except ModuleNotFoundError as error:
            missing = str(error.name)
            raise ConfigError(
                f"{self.where}: {NAME}.{name} needs the module {missing}, which is not installed; "
                f"install it, or all of tau2: {_REMEDY}"
            ) from error
        except Exception as error:  # the package may raise anything while it is imported
            raise ConfigError(
                f"{self.where}: {NAME}.{name} cannot be imported: {type(error).__name__}: {error}; "
                f"{_REMEDY}"
            ) from error

    @property
    def where(self) -> str:
        """The setting, and where it led."""
        return f"dataset.root={_shown(self.root)} ({self.folder})"

    @property
    def domains(self) -> tuple[str, ...]:
        """The folders of its domains."""
        return tuple(sorted(p.parent.name for p in self.folder.glob("domains/*/environment.py")))

    def data(self, domain: str) -> Path:
        """The folder of a domain's data.

        Raises:
            ConfigError: it is not there.
        """
        folder = Path(self.module("utils.utils").DATA_DIR) / "tau2" / "domains" / domain
        if not folder.is_dir():
            raise ConfigError(
                f"{self.where}: tau2 looks for its data in {folder}, which is not there; set "
                "TAU2_DATA_DIR to the folder data/ of a tau2-bench checkout, or set dataset.root "
                "to the checkout"
            )
        return folder

    def version(self, domain: str) -> str:
        """Its number, the domain, and a hash of the domain's data and code.

        Raises:
            ConfigError: the data is not there.
        """
        data = self.data(domain)
        content = blake2b(digest_size=6)
        for folder in (data, self.folder / "domains" / domain, self.folder / "environment"):
            for path in sorted(folder.rglob("*")):
                if path.suffix in _READ and path.is_file():
                    content.update(path.relative_to(folder).as_posix().encode())
                    content.update(path.read_bytes())
        return f"{NAME}-{self._number()}-{domain}-{content.hexdigest()}"

    def _number(self) -> str:
        """As the checkout or the installed distribution says; unnumbered where neither does."""
        if self.root is not None:
            project = Path(self.root) / "pyproject.toml"
            if not project.is_file():
                return "unnumbered"
            return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"])
        names = metadata.packages_distributions().get(NAME, [NAME])
        try:
            return metadata.version(names[0])
        except metadata.PackageNotFoundError:
            return "unnumbered"


def find(root: str | None) -> Package:
    """The package in a checkout, or the installed one.

    A checkout has it in `src/tau2` or `tau2`.

    Raises:
        ConfigError: it is not there.
    """
    if root is not None:
        for folder in (Path(root) / "src" / NAME, Path(root) / NAME):
            if _is_tau2_bench(folder):
                return Package(folder.resolve(), root)
        raise ConfigError(
            f"dataset.root={root} holds no tau2-bench (seen from {Path.cwd()}): neither src/tau2 "
            "nor tau2 has its domains; name a checkout of sierra-research/tau2-bench, or use null "
            "for an installed one"
        )
    # importlib.util.find_spec would meet the stand-in
    specs = (finder.find_spec(NAME, None) for finder in sys.meta_path)
    spec = next((each for each in specs if each is not None), None)
    places = [Path(place) for place in (spec.submodule_search_locations or ())] if spec else []
    for folder in places:
        if _is_tau2_bench(folder):
            return Package(folder.resolve(), root)
    found = (
        f"the tau2 in {places[0]} is another package of that name, without tau2-bench's domains"
        if places
        else "tau2-bench is not installed (the project tau2 of the package index is another one)"
    )
    raise ConfigError(f"dataset.root=null: {found}; {_REMEDY}")


def _is_tau2_bench(folder: Path) -> bool:
    return (folder / "domains").is_dir() and (folder / "environment" / "environment.py").is_file()


def _claim(package: Package) -> None:
    """Let `tau2` stand for this package in the process."""
    present = sys.modules.get(NAME)
    if present is None:
        stand_in = ModuleType(NAME, "Stands in for tau2, so that its runner need not be loaded.")
        stand_in.__path__ = [str(package.folder)]
        sys.modules[NAME] = stand_in
        _LOG.info("reading tau2 from %s", package.folder)
        return
    used = [Path(place).resolve() for place in present.__path__]
    if package.folder not in used:
        raise ConfigError(
            f"{package.where}: this process already reads tau2 from {used[0]}, and can read only "
            "one; run the other in a process of its own"
        )


def _shown(root: str | None) -> str:
    return "null" if root is None else root
