"""The tables behind the tools, searched through indexes.

A set of rows is an integer whose bit i stands for row i, so a search is a few bitwise ANDs
whatever the size of the table, and its first and last row are the lowest and highest bit.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from drl.types import JSON

Row = Mapping[str, JSON]
"""One entity; shared by all who hold it, so nobody may change it."""
Reading = Callable[[str], str]

Bound = Literal["equal", "from", "after", "until", "before"]


class Column:
    """The rows that hold a text, or lie on one side of it, under one reading."""

    def __init__(self, texts: Sequence[str | None]) -> None:
        positions: dict[str, list[int]] = {}
        for position, text in enumerate(texts):
            if text is not None:
                positions.setdefault(text, []).append(position)
        self._rows = {text: sum(1 << i for i in found) for text, found in positions.items()}
        self._sorted: list[str] | None = None
        self._below: list[int] = []

    def select(self, bound: Bound, text: str) -> int:
        """The rows whose text lies so to `text`; order is that of characters, as for HH:MM."""
        if bound == "equal":
            return self._rows.get(text, 0)
        if self._sorted is None:
            self._sort()
        assert self._sorted is not None
        left = bound in ("from", "before")
        place = bisect_left(self._sorted, text) if left else bisect_right(self._sorted, text)
        below = self._below[place]
        return below if bound in ("before", "until") else self._below[-1] ^ below

    def texts(self) -> list[str]:
        """The distinct texts, in order of their first row."""
        return list(self._rows)

    def _sort(self) -> None:
        self._sorted = sorted(self._rows)
        self._below = [0]
        for text in self._sorted:
            self._below.append(self._below[-1] | self._rows[text])


class Table:
    """The entities of one domain, in the order of the published database."""

    def __init__(self, domain: str, rows: Sequence[Row]) -> None:
        self.domain: Final = domain
        self.key: Final = "trainID" if domain == "train" else "name"
        self.rows: Final = tuple(rows)
        """Every row has every column; what is unknown is None."""
        self.dense_rows: Final = tuple(
            {name: value for name, value in row.items() if value is not None} for row in rows
        )
        """The same rows without the columns they lack."""
        self.everything: Final = (1 << len(self.rows)) - 1
        self._columns: dict[tuple[str, Reading], Column] = {}

    def column(self, name: str, reading: Reading) -> Column:
        """The index of one column; built when first asked for.

        Raises:
            KeyError: there is no such column.
        """
        key = (name, reading)
        column = self._columns.get(key)
        if column is None:
            column = self._columns[key] = Column([_text(row[name], reading) for row in self.rows])
        return column

    def matches(self, query: Mapping[str, str], reading: Reading, *, inclusive: bool) -> int:
        """The rows that satisfy all of a query whose values are already read.

        Trains leave after `leaveAt` and arrive before `arriveBy`; `inclusive` admits those that
        do so exactly then.
        """
        found = self.everything
        for name, text in query.items():
            bound: Bound = "equal"
            if name == "leaveAt":
                bound = "from" if inclusive else "after"
            elif name == "arriveBy":
                bound = "until" if inclusive else "before"
            found &= self.column(name, reading).select(bound, text)
        return found

    def equals(self, values: Mapping[str, str], reading: Reading) -> int:
        """The rows that hold exactly these values, times included."""
        found = self.everything
        for name, text in values.items():
            found &= self.column(name, reading).select("equal", text)
        return found


def first(rows: int) -> int:
    """The position of the first row of a set that is not empty."""
    return (rows & -rows).bit_length() - 1


def last(rows: int) -> int:
    """The position of the last row of a set that is not empty."""
    return rows.bit_length() - 1


def positions(rows: int) -> list[int]:
    """All positions of a set, ascending."""
    found: list[int] = []
    while rows:
        found.append(first(rows))
        rows &= rows - 1
    return found


def _text(value: JSON, reading: Reading) -> str | None:
    return reading(value) if isinstance(value, str) else None
