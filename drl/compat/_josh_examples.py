"""Leaves out training examples that are there already, in time linear in their size."""

from drl.compat._josh_parts import Example


class ExampleIndex:
    """Finds an example among many by its content.

    The list belongs to the caller, who may exchange, empty or extend it at any time; the index
    then reads it again.
    """

    def __init__(self) -> None:
        self._examples: list[Example] = []
        self._positions: dict[int, list[int]] = {}
        self._num_read = 0

    def extend(self, examples: list[Example], fresh: list[Example]) -> None:
        """Append to `examples` what it does not hold yet; equality decides, as with `in`."""
        if examples is not self._examples or len(examples) != self._num_read:
            self._read(examples)
        for example in fresh:
            positions = self._positions.setdefault(fingerprint(example), [])
            if not any(examples[position] == example for position in positions):
                positions.append(len(examples))
                examples.append(example)
        self._num_read = len(examples)

    def _read(self, examples: list[Example]) -> None:
        self._examples = examples
        self._positions = {}
        for position, example in enumerate(examples):
            self._positions.setdefault(fingerprint(example), []).append(position)


def fingerprint(value: object) -> int:
    """A hash for messages and all that may lie in them; equal values give equal hashes.

    Unhashable objects of unknown kind share one hash, so equality has the last word.
    """
    if isinstance(value, dict):
        return hash(frozenset((key, fingerprint(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return hash((isinstance(value, list), *map(fingerprint, value)))
    try:
        return hash(value)
    except TypeError:
        return 0
