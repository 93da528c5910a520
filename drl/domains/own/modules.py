"""Users' Python code, named by a file (`path/to/tools.py`) or a module (`package.module`)."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from hashlib import blake2b
from inspect import isclass, isfunction
from pathlib import Path
from traceback import extract_tb
from types import ModuleType

_LOADED: dict[Path, tuple[bytes, ModuleType]] = {}
"""Files that were loaded, with a hash of the content they had then."""

_HOMES: list[Path] = []
"""Folders of files that were loaded, the last one first."""


class LoadingError(Exception):
    """Code that cannot be loaded; the message says why, with the line where it broke."""


def is_file(reference: str) -> bool:
    """Whether a reference names a file rather than a module."""
    return reference.endswith(".py")


def load(reference: str, folder: Path) -> ModuleType:
    """The module behind a reference; a path is relative to `folder`.

    A file is loaded once per content, and may import its neighbours.

    Raises:
        LoadingError: there is no such file or module, or it raises while it is imported.
    """
    try:
        if is_file(reference):
            return _load_file(_existing(reference, folder))
        return importlib.import_module(reference)
    except LoadingError:
        raise
    except (Exception, SystemExit) as error:  # users' code may raise anything while imported
        raise LoadingError(f"it cannot be imported: {describe(error)}") from error


def load_function(reference: str, folder: Path) -> Callable[..., object]:
    """The function behind `path.py:function` (relative to `folder`) or `package.module:function`.

    Raises:
        LoadingError: it cannot be loaded, or there is none.
    """
    source, colon, name = reference.rpartition(":")
    if not colon or not source or not name.isidentifier():
        raise LoadingError("it must read path.py:function or package.module:function")
    module = load(source, folder)
    function = vars(module).get(name)
    if not callable(function) or isclass(function):
        own = [n for n, v in vars(module).items() if isfunction(v) and not n.startswith("_")]
        raise LoadingError(f"{source} has no function {name}; it has: {', '.join(own) or 'none'}")
    return function


def content_digest(reference: str, folder: Path) -> str:
    """Eight hex digits of the code behind a reference; empty if a module has no source file.

    Raises:
        LoadingError: there is no such file or module.
    """
    if is_file(reference):
        path = _existing(reference, folder)
    else:
        origin = load(reference, folder).__file__
        if origin is None:
            return ""
        path = Path(origin)
    return blake2b(path.read_bytes(), digest_size=4).hexdigest()


def describe(error: BaseException) -> str:
    """An error of users' code: its class, its message, and the line of theirs that raised it."""
    said = message_of(error)
    if isinstance(error, SyntaxError):
        return said  # its own text names the line
    frames = [frame for frame in extract_tb(error.__traceback__) if _is_theirs(frame.filename)]
    return f"{said} ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else said


def message_of(error: BaseException) -> str:
    """An error's class and message on one line."""
    try:
        message = str(error)
    except Exception:  # users' errors may fail even at this
        message = "(its message cannot be read)"
    return " ".join(f"{type(error).__name__}: {message}".split())


def _is_theirs(filename: str) -> bool:
    homes = (Path(__file__).parents[2], sys.prefix, sys.base_prefix)
    path = Path(filename)
    return path.is_file() and not any(path.is_relative_to(home) for home in homes)


def _existing(reference: str, folder: Path) -> Path:
    path = (folder / reference).resolve()
    if not path.is_file():
        raise LoadingError(f"there is no such file in {folder.resolve()}")
    return path


def _load_file(path: Path) -> ModuleType:
    content = blake2b(path.read_bytes()).digest()
    loaded = _LOADED.get(path)
    if loaded is not None and loaded[0] == content:
        return loaded[1]
    _show_neighbours(path.parent)
    module = _by_its_name(path) if loaded is None else None
    _LOADED[path] = (content, module or _under_another_name(path, content))
    return _LOADED[path][1]


def _show_neighbours(folder: Path) -> None:
    """Let a file import what lies beside it: behind all packages, before other users' folders.

    What another folder's file of the same name was imported as stays with those who have it.
    """
    others = [home for home in _HOMES if home != folder]
    for neighbour in folder.glob("*.py"):
        known = sys.modules.get(neighbour.stem)
        if known and known.__file__ and Path(known.__file__).resolve().parent in others:
            del sys.modules[neighbour.stem]
    if folder in _HOMES or str(folder) not in sys.path:  # else it has a place of its own
        _HOMES[:] = [folder, *others]
        places = [str(home) for home in _HOMES]
        sys.path[:] = [place for place in sys.path if place not in places] + places


def _by_its_name(path: Path) -> ModuleType | None:
    """The module as its neighbours would import it; None where the name means another one."""
    spec = importlib.util.find_spec(path.stem) if path.stem.isidentifier() else None
    if spec is None or spec.origin is None or Path(spec.origin).resolve() != path:
        return None
    return importlib.import_module(path.stem)


def _under_another_name(path: Path, content: bytes) -> ModuleType:
    name = f"{path.stem}_{content.hex()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise LoadingError("it is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up while it is imported
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
