"""What calls of tools gave, as models read it."""

from drl.runtime.written_json import to_text
from drl.types import JSON, ToolResult


def value_of(result: ToolResult) -> JSON:
    """What a call gave, or its error where it gave nothing."""
    if result.value is None and result.error is not None:
        return {"error": result.error}
    return result.value


def as_text(result: ToolResult) -> str:
    """What a call gave as tau-bench hands it on: a text as it is, else JSON; errors say so."""
    if result.value is None and result.error is not None:
        return f"Error: {result.error}"
    value = result.value
    return value if isinstance(value, str) else to_text(value, ascii_only=True)
