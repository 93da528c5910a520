"""Config nodes against the constructors they name, and the objects that come of them."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from hashlib import blake2b
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from hydra.errors import InstantiationException
from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException
from pydantic import PydanticSchemaGenerationError, TypeAdapter, ValidationError

from drl.errors import ConfigError, DrlError
from drl.runtime.first_look import AT_MOST, bounded
from drl.runtime.run_dir import SIDE_KEYS, essence
from drl.types import JSON

_Part = TypeVar("_Part")
_FULL_KEY = re.compile(r"^full_key: (.+)$", re.MULTILINE)
"""Where in a node Hydra says that a constructor failed."""
_BARE_KEY = re.compile(r"\w+=")
"""How a message begins that names a setting without the place that it has in a config."""


def to_plain(config: DictConfig) -> dict[str, JSON]:
    """The run's own part of a config, resolved and bounded: all but Hydra's node and `at_most`.

    Raises:
        ConfigError: a mandatory value is missing or an interpolation leads nowhere.
    """
    try:
        names = [str(name) for name in config if name != "hydra"]
        part = OmegaConf.masked_copy(config, names)
        plain = OmegaConf.to_container(part, resolve=True, throw_on_missing=True)
    except MissingMandatoryValue as error:
        key = error.full_key
        raise ConfigError(
            f"{key} is not set, and nothing stands for it; add {key}=VALUE"
        ) from error
    except OmegaConfBaseException as error:
        raise ConfigError(f"{error.full_key}: {' '.join(str(error.msg).split())}") from error
    assert isinstance(plain, dict)
    settings = {str(key): value for key, value in plain.items()}
    most = settings.pop(AT_MOST, {})
    if not isinstance(most, Mapping):
        raise ConfigError(f"{AT_MOST}={most!r} must hold settings; say {AT_MOST}.KEY=NUMBER")
    return bounded(settings, most)


def config_hash(plain: Mapping[str, JSON]) -> str:
    """Eight hex digits that are equal for configs of one and the same run."""
    text = json.dumps(essence(dict(plain)), sort_keys=True)
    return blake2b(text.encode(), digest_size=4).hexdigest()


def check_nodes(plain: Mapping[str, JSON], prefix: str = "") -> None:
    """Hold every node with a `_target_` against its constructor's parameters and their types.

    Raises:
        ConfigError: an unknown, missing or wrongly typed setting; the message lists what is known.
    """
    for key, node in plain.items():
        if isinstance(node, Mapping):
            if _is_node(node):
                _check_node(prefix + key, node)
            check_nodes(node, f"{prefix}{key}.")


def build(key: str, node: Mapping[str, JSON]) -> object:
    """The object that a node describes.

    Raises:
        ConfigError: its constructor, or that of a node in it, refuses the settings.
    """
    try:
        return instantiate(dict(node), _convert_="all")
    except InstantiationException as error:
        cause, within = error.__cause__, _FULL_KEY.search(str(error))
        if isinstance(cause, ConfigError) and within:
            raise ConfigError(_placed(str(cause), f"{key}.{within[1]}")) from None
        if isinstance(cause, DrlError):
            raise cause from None
        raise ConfigError(f"{key}: cannot be built: {error.__cause__ or error}") from error


def _placed(message: str, place: str) -> str:
    """What a constructor of a node inside of another says, with the place of that node."""
    if _BARE_KEY.match(message):  # settings that are used outside of configs too
        return f"{place}.{message}"
    if message.startswith(place):
        return message
    return f"in {place}: {message}"  # plug-ins name settings as if they were at the top


def build_as(key: str, node: Mapping[str, JSON], kind: type[_Part]) -> _Part:
    """The object that a node describes, which is of this kind.

    Raises:
        ConfigError: it is of another one, or as `build`.
    """
    built = build(key, node)
    if not isinstance(built, kind):
        raise ConfigError(
            f"{key}._target_={node['_target_']} is a {type(built).__name__}, which is no "
            f"{kind.__name__}; name one that is"
        )
    return built


def plug_in_of(node: Mapping[str, JSON]) -> str:
    """The name of the option that a node was made of, without its preset."""
    return str(node["_target_"]).split(".")[-2]


def described(node: JSON) -> str:
    """An option and its settings in one line, but for where things lie; "none" without a node."""
    if not isinstance(node, Mapping):
        return "none"
    hidden = {"_target_", *SIDE_KEYS}
    settings = [f"{key}={value}" for key, value in node.items() if key not in hidden]
    name = plug_in_of(node)
    return f"{name} ({', '.join(settings)})" if settings else name


def _check_node(key: str, node: Mapping[str, JSON]) -> None:
    target = str(node["_target_"])
    module, _, name = target.rpartition(".")
    try:
        cls = vars(import_module(module))[name]
    except Exception as error:  # a plug-in's module may raise anything while it is imported
        raise ConfigError(
            f"{key}._target_={target} cannot be imported: {type(error).__name__}: {error}"
        ) from error
    known = inspect.signature(cls).parameters
    # a dataclass has the hints of its fields, also of those that it inherits from other modules
    hints = get_type_hints(cls if is_dataclass(cls) else cls.__init__)
    given = {name: value for name, value in node.items() if not name.startswith("_")}
    for name, value in given.items():
        if name not in known:
            raise ConfigError(
                f"{key}.{name}={value} is not a setting of {target}; known: {', '.join(known)}; "
                f"if an experiment sets it, leave it out with ~{key}.{name}"
            )
        if not _is_node(value):
            _check_type(f"{key}.{name}", value, hints[name])
    missing = [n for n, p in known.items() if n not in given and p.default is p.empty]
    if missing:
        raise ConfigError(f"{key}.{missing[0]} is missing; {target} needs it")


def _is_node(value: JSON) -> bool:
    return isinstance(value, Mapping) and "_target_" in value


def _check_type(key: str, value: JSON, annotation: Any) -> None:
    try:
        TypeAdapter(annotation).validate_python(value, strict=True)
    except PydanticSchemaGenerationError as error:  # one of our own kinds, which nodes describe
        if isinstance(value, Mapping) and all(map(_is_node, value.values())):
            return  # several of them by name; each is checked on its own
        group = key.partition(".")[0]
        raise ConfigError(
            f"{key}={value!r} must be a node with a _target_; add {group}@{key}=NAME"
        ) from error
    except ValidationError as error:
        *others, last = _allowed(annotation)
        if others:  # the first of several reasons says nothing
            wanted = f"{', '.join(others)} or {last}"
        else:
            reason = error.errors()[0]["msg"]
            wanted = f"{last}: {reason[0].lower()}{reason[1:]}"
        raise ConfigError(f"{key}={value!r} must be {wanted}") from error


def _allowed(annotation: Any) -> list[str]:
    """What a value may be, as people say it."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return [str(value) for value in arguments]
    if origin in (Union, UnionType):
        return [name for of in arguments for name in _allowed(of)]
    if annotation is NoneType:
        return ["null"]
    if isinstance(annotation, type) and not arguments:
        return [annotation.__name__]
    return [str(annotation).replace("typing.", "")]
