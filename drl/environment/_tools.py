"""The tools that users bring: what a model is told of them, and when two calls say the same."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from re import fullmatch
from typing import Literal

from drl.domains.own.plain import to_plain
from drl.errors import ConfigError
from drl.types import JSON, Toolbox, ToolCall, ToolSpec

CompareTexts = Literal["loose", "exact"]
"""How texts in arguments compare: loosely (case and extra white space aside), or exactly."""


class BadCallError(ValueError):
    """A call that names no tool or does not fit its parameters; says how it would."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool and how it reads arguments: types coerced, defaults filled in.

    `read` raises BadCallError where they do not fit.
    """

    spec: ToolSpec
    read: Callable[[Mapping[str, JSON]], dict[str, object]]


class Toolset:
    """All tools of an environment by name; `key` is the setting that named them."""

    def __init__(self, key: str, tools: Sequence[Tool]) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        for name in self._tools:
            if not fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
                raise ConfigError(
                    f"{key}: tool {name} has a name that models cannot call; use up to 64 "
                    "letters, digits, _ and -"
                )
        if not tools:
            raise ConfigError(f"{key} offers no tool; a dialogue needs at least one")
        values = {tool.spec.name: dict(_closed_sets(tool.spec)) for tool in tools}
        self.toolbox = Toolbox(
            tuple(tool.spec for tool in tools), {n: known for n, known in values.items() if known}
        )

    def read(self, call: ToolCall) -> dict[str, object]:
        """The arguments as the tool takes them.

        Raises:
            BadCallError: there is no such tool, or the arguments do not fit its parameters.
        """
        tool = self._tools.get(call.name)
        if tool is None:
            raise BadCallError(f"there is no tool {call.name}; tools: {', '.join(self._tools)}")
        if not isinstance(call.arguments, Mapping):
            raise BadCallError("arguments must be an object of names and values")
        try:
            return tool.read(call.arguments)
        except BadCallError as error:
            raise BadCallError(f"{error}; {_usage(tool.spec)}") from error

    def is_same(self, first: ToolCall, second: ToolCall, compare_texts: CompareTexts) -> bool:
        """Whether two calls say the same to the same tool; one that does not fit says nothing."""
        if first.name != second.name:
            return False
        try:
            said = [to_plain(self.read(call)) for call in (first, second)]
        except ValueError:  # what does not fit, or has no JSON form
            return False
        if compare_texts == "loose":
            said = [_fold(arguments) for arguments in said]
        return said[0] == said[1]


def _usage(spec: ToolSpec) -> str:
    """What a tool takes, in one line."""
    required = spec.parameters.get("required")
    needed = required if isinstance(required, Sequence) else ()
    said = [
        f"{name} ({_kind(spec, schema)}{'' if name in needed else ', optional'})"
        for name, schema in _properties(spec).items()
    ]
    return f"{spec.name} takes {', '.join(said) or 'no arguments'}"


def _kind(spec: ToolSpec, schema: Mapping[str, JSON]) -> str:
    choices, kind, either = schema.get("enum"), schema.get("type"), schema.get("anyOf")
    if isinstance(choices, Sequence):
        return "one of " + ", ".join(map(str, choices))
    if isinstance(either, Sequence):
        return " or ".join(_kind(spec, _resolved(spec, option)) for option in either)
    return kind if isinstance(kind, str) else "anything"


def _properties(spec: ToolSpec) -> dict[str, Mapping[str, JSON]]:
    """The schemas of a tool's parameters, references followed."""
    properties = spec.parameters.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    return {name: _resolved(spec, schema) for name, schema in known.items()}


def _resolved(spec: ToolSpec, schema: JSON) -> Mapping[str, JSON]:
    if not isinstance(schema, Mapping):
        return {}
    definitions = spec.parameters.get("$defs")
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    found = definitions.get(name) if isinstance(definitions, Mapping) else None
    return found if isinstance(found, Mapping) else schema


def _closed_sets(spec: ToolSpec) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The parameters whose values are listed, with those that are texts."""
    for name, schema in _properties(spec).items():
        choices = schema.get("enum")
        if isinstance(choices, Sequence):
            texts = tuple(choice for choice in choices if isinstance(choice, str))
            if texts:
                yield name, texts


def _fold(value: JSON) -> JSON:
    if isinstance(value, str):
        return " ".join(value.casefold().split())
    if isinstance(value, Mapping):
        return {key: _fold(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [_fold(item) for item in value]
    return value
