"""Trees as lines of JSON and back, by the fields of their dataclasses."""

from math import isfinite

from pydantic import TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from drl.errors import DataError
from drl.tree.dialogue_tree import DialogueTree

_TREE = TypeAdapter(DialogueTree)
_MEMORY_ONLY = {"nodes": {"__all__": {"turn": {"steps": {"__all__": {"sampled"}}}}}}


def to_line(tree: DialogueTree) -> bytes:
    """One line of JSON without its line break; fields that hold their default are left out.

    Raises:
        DataError: a participant put something into the tree that could not be read back.
    """
    try:
        line = _TREE.dump_json(tree, exclude=_MEMORY_ONLY, exclude_defaults=True, warnings="error")
    except (PydanticSerializationError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise DataError(f"a tree cannot be stored: {reason}") from error
    _check(tree)  # as it is, since a number that is none would be read back as nothing
    from_line(line)
    return line


def from_line(line: bytes) -> DialogueTree:
    """The tree that `to_line` wrote.

    Raises:
        DataError: the line is not such a tree.
    """
    try:
        tree = _TREE.validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise DataError(f"not a stored tree: {where or 'line'}: {first['msg']}") from error
    _check(tree)
    return tree


def _check(tree: DialogueTree) -> None:
    """Refuse what no rollout stores: parents that come later, open ends, numbers that are none.

    Raises:
        DataError: with the node.
    """
    goes_on: set[tuple[int, bool]] = set()
    for place, node in enumerate(tree.nodes):
        if node.id != place or not (node.parent is None or 0 <= node.parent < place):
            raise DataError(
                f"not a stored tree: nodes.{place}: id {node.id} and parent {node.parent} must be "
                "its place in the list and an earlier one"
            )
        amounts = {f"events.{at}.amount": event.amount for at, event in enumerate(node.events)}
        for name, number in {"score": node.score, **amounts}.items():
            if number is not None and not isfinite(number):
                raise DataError(
                    f"not a stored tree: nodes.{place}.{name}: {number} must be a finite number"
                )
        if node.parent is not None:
            goes_on.add((node.parent, node.continuation))
    for node in tree.nodes:
        # continuations are added below dialogues that have ended
        if node.stop is None and (node.id, node.continuation) not in goes_on:
            raise DataError(
                f"not a stored tree: nodes.{node.id}: nothing follows and it has no stop; a "
                "dialogue must end with the reason"
            )
