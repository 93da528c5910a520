"""Rows as lines of JSON in TRL's formats, read back with every fault named by file and line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from drl.errors import DataError
from drl.llm.base import Message, ToolUse
from drl.miner.base import DPORow, Form, KTORow, Origin, Row, SFTRow
from drl.types import JSON, ToolSpec

_MOST = 3.4e38
"""The largest weight of a pair, as losses are in float32."""
_ROLES = ("system", "user", "assistant", "tool")


def read_rows(path: Path, form: Form) -> Iterator[Row]:
    """The rows of a file, one at a time.

    Keys that drl does not know are passed over. `trained` of an SFT row lists the positions of the
    messages to learn from; without it all of the agent's are learned. Of either, none is learned
    that has the `weight` 0, as OpenAI's format has it.

    Raises:
        DataError: there is no such file, it holds no rows, or a line is no row of this form.
    """
    try:
        lines = path.open("rb")  # a line that is no UTF-8 is a fault of that line
    except OSError as error:
        raise DataError(
            f"{path}: cannot be read ({error.strerror}); name a file of rows"
        ) from error
    is_empty = True
    with lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                is_empty = False
                try:
                    yield _row(json.loads(line), form, f"{path.name}:{number}")
                except (ValueError, RecursionError) as error:
                    raise DataError(
                        f"{path}:{number}: is no row for {form} ({error}); write it as TRL's "
                        "documentation of dataset formats has it, or make the file with drl export"
                    ) from error
    if is_empty:
        raise DataError(f"{path}: holds no rows; name a file that does")


def read_origin(raw: JSON) -> Origin | None:
    """What stands under `origin` or `rejected_origin` in a row; None where that names no run.

    Rewards are left out.

    Raises:
        ValueError: it names a run, but no place in it.
    """
    if not (isinstance(raw, Mapping) and "run" in raw and "task_id" in raw):
        return None
    nodes, step, trial = raw.get("nodes") or [], raw.get("step"), raw.get("trial", 0)
    if not isinstance(nodes, list) or not isinstance(trial, int):
        raise ValueError("origin.nodes must be a list and origin.trial a number")
    return Origin(
        run=str(raw["run"]),
        task_id=str(raw["task_id"]),
        trial=trial,
        nodes=tuple(node for node in nodes if isinstance(node, int)),
        step=step if isinstance(step, int) else None,
    )


def _row(raw: JSON, form: Form, place: str) -> Row:
    """A row of one form.

    Raises:
        ValueError: it is none, with the reason.
    """
    if not isinstance(raw, Mapping):
        raise ValueError("it is no object")
    tools = _tools(raw.get("tools"))
    origin = _origin(raw.get("origin"), place)
    if form == "sft":
        messages = _messages(raw, "messages")
        return SFTRow(
            messages=messages, trained=_trained(raw, messages), tools=tools, origin=origin
        )
    prompt = _messages(raw, "prompt")
    if form == "kto":
        label = raw.get("label")
        if not isinstance(label, bool):
            raise ValueError(f"label={label!r} must be true or false")
        completion = _output(raw, "completion")
        return KTORow(prompt=prompt, completion=completion, label=label, tools=tools, origin=origin)
    chosen, rejected = _output(raw, "chosen"), _output(raw, "rejected")
    if chosen == rejected:
        raise ValueError("chosen and rejected are equal")
    return DPORow(
        prompt=prompt,
        chosen=chosen,
        rejected=rejected,
        weight=_weight(raw.get("weight", 1.0)),
        tools=tools,
        origin=origin,
        rejected_origin=_origin(raw.get("rejected_origin"), place),
    )


def _messages(raw: Mapping[str, JSON], key: str) -> tuple[Message, ...]:
    listed = raw.get(key)
    if not isinstance(listed, list) or not listed:
        raise ValueError(f"{key} must be a list of messages")
    return tuple(_message(message, f"{key}.{place}") for place, message in enumerate(listed))


def _message(raw: JSON, key: str) -> Message:
    if not isinstance(raw, Mapping):
        raise ValueError(f"{key} is no object")
    role, content = raw.get("role"), raw.get("content")
    content = "" if content is None else content
    if role not in _ROLES or not isinstance(content, str):
        raise ValueError(f"{key} needs a role of {', '.join(_ROLES)} and a text as content")
    calls = raw.get("tool_calls") or []
    answers = raw.get("tool_call_id")
    if not isinstance(calls, list):
        raise ValueError(f"{key}.tool_calls must be a list")
    return Message(
        role,  # pyright: ignore[reportArgumentType] it is one of them
        content,
        tool_calls=tuple(_tool_use(call, f"{key}.tool_calls") for call in calls),
        tool_call_id=answers if isinstance(answers, str) else None,
    )


def _tool_use(raw: JSON, key: str) -> ToolUse:
    function = raw.get("function") if isinstance(raw, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if (
        not isinstance(raw, Mapping)
        or not isinstance(function, Mapping)
        or not isinstance(name, str)
    ):
        raise ValueError(f"{key} must hold objects with a function that has a name")
    arguments = function.get("arguments", {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolUse(str(raw.get("id", "")), name, text)


def _output(raw: Mapping[str, JSON], key: str) -> Message:
    messages = _messages(raw, key)
    if len(messages) != 1 or messages[0].role != "assistant":
        raise ValueError(f"{key} must be one message of the assistant")
    return messages[0]


def _weight(weight: JSON) -> float:
    if isinstance(weight, int | float) and not isinstance(weight, bool) and 0 < weight <= _MOST:
        return float(weight)
    raise ValueError(f"weight={str(weight)[:40]} must be a number above 0 that float32 can hold")


def _trained(raw: Mapping[str, JSON], messages: Sequence[Message]) -> tuple[int, ...]:
    own = tuple(place for place, message in enumerate(messages) if message.role == "assistant")
    listed = raw.get("trained")
    if listed is None:
        listed = list(own)
    if not isinstance(listed, list) or not all(place in own for place in listed):
        raise ValueError("trained must list positions of messages of the assistant")
    weights = _weights(raw)
    trained = tuple(place for place in own if place in listed and weights[place])
    if not trained:
        raise ValueError("no message of the assistant is trained")
    return trained


def _weights(raw: Mapping[str, JSON]) -> list[int]:
    """OpenAI's, of each message; 1 where none stands."""
    weights: list[int] = []
    messages = raw["messages"]
    assert isinstance(messages, list), "they were read before"
    for place, message in enumerate(messages):
        assert isinstance(message, Mapping), "they were read before"
        weight = message.get("weight", 1)
        if weight not in (0, 1):
            raise ValueError(f"messages.{place}.weight={weight!r} must be 0 or 1")
        weights.append(int(weight))
    return weights


def _tools(raw: JSON) -> tuple[ToolSpec, ...]:
    listed = json.loads(raw) if isinstance(raw, str) else raw
    if listed is None:
        return ()
    if not isinstance(listed, list):
        raise ValueError("tools must be a list")
    return tuple(_tool(tool) for tool in listed)


def _tool(raw: JSON) -> ToolSpec:
    function = raw.get("function") if isinstance(raw, Mapping) else None
    parameters = function.get("parameters", {}) if isinstance(function, Mapping) else None
    if not isinstance(function, Mapping) or not isinstance(parameters, Mapping):
        raise ValueError("tools must be in OpenAI's format, with a function in each")
    if not isinstance(function.get("name"), str):
        raise ValueError("tools must have names")
    return ToolSpec(str(function["name"]), str(function.get("description") or ""), parameters)


def _origin(raw: JSON, place: str) -> Origin:
    """Where a row says it comes from; a row of another maker comes from its line."""
    return read_origin(raw) or Origin(run=place, task_id=place, trial=0, nodes=())
