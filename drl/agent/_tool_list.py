"""Tools as a prompt lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from drl.runtime.written_json import to_text
from drl.types import JSON, Toolbox, ToolCall

_FEW = 30
"""Known values of a parameter are listed up to this many; names of places run into hundreds."""


def described(toolbox: Toolbox) -> str:
    """Each tool with its parameters, their meaning and the values that they may take."""
    lines: list[str] = []
    for spec in toolbox.specs:
        lines.append(f"{spec.name}: {_line(spec.description)}")
        known = toolbox.values.get(spec.name, {})
        required = spec.parameters.get("required")
        needed = required if isinstance(required, list | tuple) else ()
        for name, schema in _properties(spec.parameters):
            must = " (required)" if name in needed else ""
            lines.append(f"  {name}{must}: {_meaning(schema, known.get(name, ()))}")
    return "\n".join(lines) or "(none: speak only)"


def listed(toolbox: Toolbox) -> str:
    """Each tool with the names of its parameters, as short as can be."""
    lines = (
        f"{spec.name}({', '.join(name for name, _ in _properties(spec.parameters))})"
        for spec in toolbox.specs
    )
    return "\n".join(lines) or "(none)"


def an_example(toolbox: Toolbox) -> ToolCall:
    """A call that could be made: of the first tool with parameters whose values are few."""
    for spec in toolbox.specs:
        known = toolbox.values.get(spec.name, {})
        choices = {
            name: _choices(s, known.get(name, ())) for name, s in _properties(spec.parameters)
        }
        arguments = {name: values[0] for name, values in choices.items() if values}
        if arguments:
            return ToolCall(spec.name, dict(list(arguments.items())[:2]))
    return ToolCall(toolbox.specs[0].name if toolbox.specs else "tool", {})


def as_json(toolbox: Toolbox) -> str:
    """The tools in the OpenAI function format, indented."""
    specs = [spec.to_openai() for spec in toolbox.specs]
    return to_text(specs, indent=2)


def _properties(parameters: Mapping[str, JSON]) -> Iterator[tuple[str, Mapping[str, JSON]]]:
    properties = parameters.get("properties")
    if isinstance(properties, Mapping):
        for name, schema in properties.items():
            yield name, schema if isinstance(schema, Mapping) else {}


def _meaning(schema: Mapping[str, JSON], known: tuple[str, ...]) -> str:
    parts: list[str] = []
    kind = schema.get("type", "string")
    if kind in ("object", "array"):
        parts.append(to_text(schema))
    else:
        if kind != "string":
            parts.append(to_text(kind) if not isinstance(kind, str) else kind)
        if "description" in schema:
            parts.append(_line(str(schema["description"])))
    values = _choices(schema, known)
    if values:
        lead = "one of " if "enum" in schema else "known values are "
        parts.append(lead + ", ".join(map(str, values)))
    return "; ".join(parts) or "any text"


def _choices(schema: Mapping[str, JSON], known: tuple[str, ...]) -> tuple[JSON, ...]:
    """The values that a parameter may take, or else those known to exist if they are few."""
    choices = schema.get("enum")
    if isinstance(choices, list | tuple):
        return tuple(choices)
    return known if len(known) <= _FEW else ()


def _line(text: str) -> str:
    return " ".join(text.split())
