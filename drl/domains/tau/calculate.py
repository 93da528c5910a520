"""A calculator for agents: sums of numbers as Python works them out, and no other code.

Source: the tool of tau-bench gives its text to `eval`. This one walks the syntax tree, so that it
has the same results and errors, but refuses whatever would take long (9**9**9).
"""

import ast
import operator
from collections.abc import Callable
from typing import Final, TypeAlias, cast

from drl.domains.tau.refusal import RefusedError

Operand: TypeAlias = float
"""Whatever Python makes of the expression: `()` is a tuple, and (-8)**0.5 is complex."""

_ALLOWED: Final = "0123456789+-*/(). "
_MAX_CHARACTERS: Final = 10_000
_MAX_BITS: Final = 32_768
"""Of whole numbers on the way; results beyond 1,024 bits are an error anyway."""

_BINARY: Final[dict[type[ast.operator], Callable[[Operand, Operand], Operand]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}
_UNARY: Final[dict[type[ast.unaryop], Callable[[Operand], Operand]]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}


def calculate(expression: str) -> str:
    """The value of an arithmetic expression, rounded to two digits after the point.

    Raises:
        RefusedError: it holds other characters, is longer than 10,000, or has no value.
    """
    if not all(character in _ALLOWED for character in expression):
        raise RefusedError("invalid characters in expression")
    if not isinstance(expression, str):  # a list of characters, say, comes this far
        raise RefusedError("expression must be a text")
    if len(expression) > _MAX_CHARACTERS:
        raise RefusedError("expression is too long")
    try:
        tree = ast.parse(expression.lstrip(" "), "<string>", mode="eval")
        value = _value(tree.body)
        return str(round(float(value), 2))
    except (RecursionError, MemoryError) as error:
        raise RefusedError("expression is nested too deeply") from error
    except (SyntaxError, TypeError, ValueError, ArithmeticError) as error:
        raise RefusedError(str(error)) from error


def _value(node: ast.expr) -> Operand:
    pending: list[ast.BinOp] = []
    while isinstance(node, ast.BinOp):  # long sums are deep to the left
        pending.append(node)
        node = node.left
    value = _operand(node)
    for outer in reversed(pending):
        right = _value(outer.right)
        _refuse_huge(type(outer.op), value, right)
        value = _BINARY[type(outer.op)](value, right)
    return value


def _operand(node: ast.expr) -> Operand:
    match node:
        case ast.Constant(value):
            return cast(Operand, value)
        case ast.UnaryOp(operation, operand):
            return _UNARY[type(operation)](_value(operand))
        case ast.Call(function, arguments):
            called = _value(function)
            for argument in arguments:
                _value(argument)
            raise TypeError(f"'{type(called).__name__}' object is not callable")
        case ast.Tuple(elts=[]):
            return cast(Operand, ())
        case _:
            raise RefusedError("invalid syntax")


def _refuse_huge(operation: type[ast.operator], left: Operand, right: Operand) -> None:
    """Refuse a whole number of more bits than `_MAX_BITS`, before it is worked out."""
    if not isinstance(left, int) or not isinstance(right, int):
        return
    if operation is ast.Pow and right > 0 and abs(left) > 1:
        num_bits = left.bit_length() * right
    elif operation is ast.Mult:
        num_bits = left.bit_length() + right.bit_length()
    else:
        return
    if num_bits > _MAX_BITS:
        raise OverflowError("int too large to convert to float")
