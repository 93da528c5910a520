"""The tools of an MCP server: how their JSON schemas read arguments before a call is sent.

Names are checked, simple types coerced and defaults filled in; the rest is the server's to judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from drl.environment._tools import BadCallError, Tool
from drl.types import JSON, ToolSpec


def tool_of(spec: ToolSpec) -> Tool:
    """A tool of a server as environments hold it."""
    return Tool(spec, partial(_read, spec.parameters))


def _read(schema: Mapping[str, JSON], arguments: Mapping[str, JSON]) -> dict[str, object]:
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    required = schema.get("required")
    needed = required if isinstance(required, Sequence) else ()
    # JSON schema lets unknown names pass unless it says so; here they pass only if it says so
    unknown = [] if schema.get("additionalProperties") else [n for n in arguments if n not in known]
    complaints = [f"there is no parameter {name}" for name in unknown]
    complaints += [f"{name} is missing" for name in needed if name not in arguments]
    if complaints:
        raise BadCallError(", ".join(complaints))
    given: dict[str, object] = {
        name: _coerced(known.get(name), value) for name, value in arguments.items()
    }
    defaults = {
        name: part["default"]
        for name, part in known.items()
        if isinstance(part, Mapping) and "default" in part
    }
    return {**defaults, **given}


def _coerced(schema: JSON, value: JSON) -> JSON:
    """The value, where its text or number plainly means one of the type that is asked for."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    if kind == "string" and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if kind == "boolean" and value in ("true", "false"):
        return value == "true"
    if kind in ("integer", "number") and isinstance(value, str):
        try:
            return int(value) if kind == "integer" else float(value)
        except ValueError:
            return value
    return value
