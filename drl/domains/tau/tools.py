"""The tools by name, and how a call of one is carried out: whatever happens, a text comes back."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from drl.domains.tau import (
    airline_booking,
    airline_changes,
    airline_reads,
    calculate,
    repairs,
    retail_items,
    retail_orders,
    retail_reads,
)
from drl.domains.tau.refusal import RefusedError
from drl.domains.tau.tables import Tables
from drl.types import JSON

Domain = Literal["retail", "airline"]
Mode = Literal["faithful", "fixed"]
Function: TypeAlias = Callable[..., str | None]

TRANSFER: Final = "transfer_to_human_agents"
"""The tool that ends a dialogue."""

_MAX_DEPTH: Final = 64
"""Of lists and objects in arguments; the deepest real one has 3."""

_MAX_BITS: Final = 1024
"""Of whole numbers in arguments, about what a float holds."""

_MAX_CHARACTERS: Final = 1_000_000
"""Of one text in arguments; one tool multiplies what it is given."""

_BAD_CALL: Final = (TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
"""What a tool may raise when it is called with nonsense."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a function of the databases and its arguments."""

    name: str
    function: Function
    parameters: tuple[str, ...]
    writes: bool


def carry_out(
    tools: Mapping[str, Tool], tables: Tables, name: str, arguments: Mapping[str, JSON]
) -> str | None:
    """What the agent reads; None only for a fourth certificate, as published.

    A call that fails gives "Error: " and why. The arguments are copied, so that no record shares
    a list with them.
    """
    tool = tools.get(name) if isinstance(name, str) else None
    if tool is None:
        return f"Unknown action {name}"
    try:
        return tool.function(tables, **_fitting(tool, arguments))
    except _BAD_CALL as error:
        return f"Error: {error}"


def is_error(text: JSON) -> bool:
    """Whether what a tool returned says that the call was not carried out."""
    return isinstance(text, str) and text.startswith(("Error: ", "Unknown action "))


def _fitting(tool: Tool, arguments: Mapping[str, JSON]) -> dict[str, JSON]:
    """A copy of the arguments, which are the tool's parameters and no others.

    Raises:
        RefusedError: they are not; in the words of Python, which agents read in tau-bench.
    """
    if not isinstance(arguments, Mapping):
        raise RefusedError("arguments must be an object of names and values")
    method = "".join(word.capitalize() for word in tool.name.split("_")) + ".invoke()"
    for name in arguments:
        if name not in tool.parameters:
            raise RefusedError(f"{method} got an unexpected keyword argument '{name}'")
    missing = [f"'{name}'" for name in tool.parameters if name not in arguments]
    if missing:
        listed = missing[0] if len(missing) == 1 else _series(missing)
        plural = "" if len(missing) == 1 else "s"
        raise RefusedError(
            f"{method} missing {len(missing)} required positional argument{plural}: {listed}"
        )
    return {name: _copied(value, _MAX_DEPTH) for name, value in arguments.items()}


def _series(quoted: list[str]) -> str:
    comma = "," if len(quoted) > 2 else ""
    return f"{', '.join(quoted[:-1])}{comma} and {quoted[-1]}"


def _copied(value: JSON, depth: int) -> JSON:
    if depth == 0:
        raise RefusedError("arguments are nested too deeply")
    if isinstance(value, Mapping):
        return {str(key): _copied(member, depth - 1) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(member, depth - 1) for member in value]
    if isinstance(value, int) and value.bit_length() > _MAX_BITS:
        raise RefusedError("int too large to convert to float")
    if isinstance(value, str) and len(value) > _MAX_CHARACTERS:
        raise RefusedError("arguments are too long")
    if value is None or isinstance(value, str | int | float):
        return value
    raise RefusedError(f"arguments cannot hold a {type(value).__name__}")


def _calculate(tables: Tables, expression: str) -> str:
    return calculate.calculate(expression)


def _think(tables: Tables, thought: str) -> str:
    return ""


def _transfer_to_human_agents(tables: Tables, summary: str) -> str:
    return "Transfer successful"


_SHARED: Final = (_calculate, _think, _transfer_to_human_agents)

_READS: Final[Mapping[Domain, tuple[Function, ...]]] = {
    "retail": (
        retail_reads.find_user_id_by_email,
        retail_reads.find_user_id_by_name_zip,
        retail_reads.get_order_details,
        retail_reads.get_product_details,
        retail_reads.get_user_details,
        retail_reads.list_all_product_types,
    ),
    "airline": (
        airline_reads.get_reservation_details,
        airline_reads.get_user_details,
        airline_reads.list_all_airports,
        airline_reads.search_direct_flight,
        airline_reads.search_onestop_flight,
    ),
}
_WRITES: Final[Mapping[Domain, tuple[Function, ...]]] = {
    "retail": (
        retail_orders.cancel_pending_order,
        retail_items.exchange_delivered_order_items,
        retail_orders.modify_pending_order_address,
        retail_items.modify_pending_order_items,
        retail_orders.modify_pending_order_payment,
        retail_orders.modify_user_address,
        retail_items.return_delivered_order_items,
    ),
    "airline": (
        airline_booking.book_reservation,
        airline_booking.cancel_reservation,
        airline_booking.send_certificate,
        airline_changes.update_reservation_baggages,
        airline_changes.update_reservation_flights,
        airline_changes.update_reservation_passengers,
    ),
}
_REPAIRED: Final[Mapping[str, Function]] = {
    function.__name__: function
    for function in (
        repairs.book_reservation,
        repairs.cancel_pending_order,
        repairs.cancel_reservation,
        repairs.search_onestop_flight,
        repairs.send_certificate,
        repairs.update_reservation_flights,
    )
}


def _published(domain: Domain) -> dict[str, Tool]:
    functions = (*_SHARED, *_READS[domain], *_WRITES[domain])
    tools = [_tool(function, writes=function in _WRITES[domain]) for function in functions]
    return {tool.name: tool for tool in tools}


def _tool(function: Function, *, writes: bool) -> Tool:
    _, *parameters = inspect.signature(function).parameters
    return Tool(function.__name__.lstrip("_"), function, tuple(parameters), writes)


def _fixed(published: Mapping[str, Tool]) -> dict[str, Tool]:
    return {
        name: replace(tool, function=_REPAIRED.get(name, tool.function))
        for name, tool in published.items()
    }


TOOLS: Final[Mapping[Domain, Mapping[str, Tool]]] = {
    "retail": _published("retail"),
    "airline": _published("airline"),
}
"""The tools as published, bugs included."""

FIXED_TOOLS: Final[Mapping[Domain, Mapping[str, Tool]]] = {
    domain: _fixed(tools) for domain, tools in TOOLS.items()
}
"""The same tools, repaired."""


def tools_of(domain: Domain, mode: Mode) -> Mapping[str, Tool]:
    """The tools of a domain by name."""
    return TOOLS[domain] if mode == "faithful" else FIXED_TOOLS[domain]
