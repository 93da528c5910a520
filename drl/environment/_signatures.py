"""Tools from Python functions: their JSON schemas and how they read arguments.

The type hints say everything: `Literal` becomes an enum, a default makes a parameter optional,
`Annotated[int, "how many"]` describes it, and so does the docstring's "Args:".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema

from drl.environment._docstrings import parse
from drl.environment._tools import BadCallError, Tool
from drl.types import JSON, ToolSpec

STATE = "state"
"""A first parameter of this name takes the environment's state; models are not told of it."""


class NoToolError(TypeError):
    """A function that cannot be a tool; says why."""


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)


class _Untitled(GenerateJsonSchema):
    """Schemas without pydantic's titles, which tell a model nothing."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def takes_state(function: Callable[..., object]) -> bool:
    """Whether the state is handed to a function."""
    return next(iter(inspect.signature(function).parameters), "") == STATE


def tool_of(function: Callable[..., object]) -> Tool:
    """The tool that a function is.

    Raises:
        NoToolError: a parameter has no type hint or no schema, or the docstring is missing.
    """
    documented = parse(function.__doc__ or "")
    if not documented.description:
        raise NoToolError("it has no docstring, whose first paragraph tells a model what it does")
    try:
        parameters = dict(_parameters(function, documented.parameters))
        # other names than the users', which may be those of BaseModel's own attributes
        names = {f"field_{position}": name for position, name in enumerate(parameters)}
        fields: dict[str, Any] = {field: parameters[name] for field, name in names.items()}
        model = create_model(function.__name__, __base__=_Arguments, **fields)
        schema = _schema(model)
    except (PydanticUserError, NameError) as error:
        raise NoToolError(f"its type hints have no JSON schema: {error}") from error

    def read(arguments: Mapping[str, JSON]) -> dict[str, object]:
        try:
            values = model.model_validate(deepcopy(dict(arguments)))
        except ValidationError as error:
            raise BadCallError(_complaint(error)) from error
        return {names[field]: value for field, value in values.__dict__.items()}

    return Tool(ToolSpec(function.__name__, documented.description, schema), read)


def _schema(model: type[BaseModel]) -> dict[str, JSON]:
    schema = model.model_json_schema(schema_generator=_Untitled)
    for part in (schema, *schema.get("$defs", {}).values()):
        part.pop("title", None)
    return {"properties": {}, **schema}


def _parameters(
    function: Callable[..., object], described: Mapping[str, str]
) -> Iterator[tuple[str, tuple[object, FieldInfo]]]:
    """Each parameter with its annotation and its field; the state aside."""
    hints = get_type_hints(function, include_extras=True)
    for position, (name, parameter) in enumerate(inspect.signature(function).parameters.items()):
        if name == STATE and position == 0:
            continue
        _check(name, parameter, hints)
        annotation = hints[name]
        description = _annotated_text(annotation) or described.get(name)
        default = ... if parameter.default is parameter.empty else parameter.default
        yield name, (annotation, Field(default, alias=name, description=description))


def _check(name: str, parameter: inspect.Parameter, hints: Mapping[str, object]) -> None:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise NoToolError(f"it takes *{name}, but a tool names all its parameters")
    if parameter.kind is parameter.POSITIONAL_ONLY:
        raise NoToolError(f"its parameter {name} cannot be given by name")
    if name == STATE:
        raise NoToolError("its parameter state does not come first")
    if name not in hints:
        raise NoToolError(f"its parameter {name} has no type hint")


def _annotated_text(annotation: Any) -> str | None:
    """The text in `Annotated[type, "text"]`."""
    if get_origin(annotation) is not Annotated:
        return None
    return next((part for part in get_args(annotation)[1:] if isinstance(part, str)), None)


def _complaint(error: ValidationError) -> str:
    """Everything that does not fit, in one line."""
    said: list[str] = []
    for problem in error.errors(include_url=False):
        name = ".".join(str(part) for part in problem["loc"])
        if problem["type"] == "extra_forbidden":
            said.append(f"there is no parameter {name}")
        elif problem["type"] == "missing":
            said.append(f"{name} is missing")
        else:
            said.append(f"{name}: {problem['msg'][0].lower()}{problem['msg'][1:]}")
    return ", ".join(said)
