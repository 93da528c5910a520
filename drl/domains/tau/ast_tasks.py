"""Reads tau-bench's Python files as data: they are parsed, and never run.

Tasks are calls such as `Task(user_id=..., actions=[Action(...)])` in a list, and a tool is a class
whose `get_info` returns its JSON description.
"""

import ast
from collections.abc import Iterator, Mapping
from typing import Final, cast

from drl.types import JSON

_BUILT: Final = frozenset({"Task", "Action"})
"""What the list of tasks is built from; no other call is read."""


class UnreadableError(ValueError):
    """A file that is not written as tau-bench's are; the message says where."""


def tasks(text: str, file: str) -> list[Mapping[str, JSON]]:
    """The tasks that a module assigns to a name that begins with TASKS.

    Each has `user_id`, `instruction`, `actions` (objects of `name` and `kwargs`) and `outputs`.
    Who annotated a task is left out, as in the original.

    Args:
        text: of the module.
        file: where it is from, for messages.

    Raises:
        UnreadableError: it is no Python, holds no such list, or one that has to be run to be known.
    """
    for name, value in _assigned(_parse(text, file)):
        if name.startswith("TASKS"):
            listed = _data(value, file)
            if not isinstance(listed, list):
                raise UnreadableError(f"{name} in {file} is no list of tasks")
            return [_task(entry, f"{name}[{n}] in {file}") for n, entry in enumerate(listed)]
    raise UnreadableError(f"{file} assigns nothing to TASKS, so there are no tasks to read")


def tool_files(text: str, file: str) -> list[str]:
    """The modules of the tools that an `__init__` lists in ALL_TOOLS, in that order.

    Raises:
        UnreadableError: as `tasks`.
    """
    module = _parse(text, file)
    homes = {
        name.name: str(node.module)
        for node in module.body
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    for name, value in _assigned(module):
        if name == "ALL_TOOLS" and isinstance(value, ast.List):
            classes = [entry.id if isinstance(entry, ast.Name) else "" for entry in value.elts]
            unknown = [name for name in classes if name not in homes]
            if unknown:
                raise UnreadableError(
                    f"ALL_TOOLS in {file} names what {file} does not import: {unknown}"
                )
            return [homes[name].rpartition(".")[2] for name in classes]
    raise UnreadableError(f"{file} has no list ALL_TOOLS")


def tool_info(text: str, file: str) -> Mapping[str, JSON]:
    """What `get_info` of the tool in a module returns: OpenAI's function format.

    Raises:
        UnreadableError: as `tasks`.
    """
    for node in ast.walk(_parse(text, file)):
        if isinstance(node, ast.FunctionDef) and node.name == "get_info":
            for statement in node.body:
                if isinstance(statement, ast.Return) and statement.value is not None:
                    return _info(_data(statement.value, file), file)
    raise UnreadableError(f"{file} has no get_info that returns the description of a tool")


def _parse(text: str, file: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableError(f"{file} is no Python module that can be read: {error}") from error


def _assigned(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Names on the top level of a module, with what is assigned to them."""
    for node in module.body:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    yield target.id, node.value
        elif (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and node.value is not None
        ):
            yield node.target.id, node.value


def _data(node: ast.expr, file: str) -> JSON:
    """An expression as data; a call of a class is its keywords."""
    if isinstance(node, ast.Call):
        named = isinstance(node.func, ast.Name) and node.func.id in _BUILT
        if not named or node.args or any(keyword.arg is None for keyword in node.keywords):
            raise UnreadableError(
                f"{file}, line {node.lineno}: this call has to be run to be known"
            )
        return {str(keyword.arg): _data(keyword.value, file) for keyword in node.keywords}
    if isinstance(node, ast.List):
        return [_data(entry, file) for entry in node.elts]
    if isinstance(node, ast.Dict) and None not in node.keys:
        keys = [_data(cast(ast.expr, key), file) for key in node.keys]
        return {str(key): _data(value, file) for key, value in zip(keys, node.values, strict=True)}
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError) as error:
        raise UnreadableError(f"{file}, line {node.lineno}: this is no plain value") from error
    if not isinstance(value, str | int | float | bool | None):
        raise UnreadableError(f"{file}, line {node.lineno}: {value!r:.60} is no JSON value")
    return value


def _task(entry: JSON, place: str) -> Mapping[str, JSON]:
    """The four parts of a task, checked."""
    if not isinstance(entry, Mapping):
        raise UnreadableError(f"{place} is no task")
    missing = [
        name for name in ("user_id", "instruction", "actions", "outputs") if name not in entry
    ]
    if missing:
        raise UnreadableError(f"{place} lacks {', '.join(missing)}")
    actions, outputs = entry["actions"], entry["outputs"]
    if not (
        isinstance(entry["user_id"], str)
        and isinstance(entry["instruction"], str)
        and isinstance(actions, list)
        and all(_is_action(action) for action in actions)
        and isinstance(outputs, list)
        and all(isinstance(output, str) for output in outputs)
    ):
        raise UnreadableError(f"{place} is not made as tau-bench's tasks are")
    return {
        "user_id": entry["user_id"],
        "instruction": entry["instruction"],
        "actions": actions,
        "outputs": outputs,
    }


def _is_action(action: JSON) -> bool:
    return (
        isinstance(action, Mapping)
        and isinstance(action.get("name"), str)
        and isinstance(action.get("kwargs"), Mapping)
    )


def _info(value: JSON, file: str) -> Mapping[str, JSON]:
    function = value.get("function") if isinstance(value, Mapping) else None
    known = isinstance(function, Mapping) and (
        isinstance(function.get("name"), str)
        and isinstance(function.get("description"), str)
        and isinstance(function.get("parameters"), Mapping)
    )
    if not known:
        raise UnreadableError(f"get_info in {file} returns no description of a function")
    return cast(Mapping[str, JSON], value)
