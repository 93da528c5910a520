"""`calls.jsonl`: a line per request to a model, and what they add up to by purpose.

A line tells who asked (purpose, task, trial, node), which model, samples, tokens, seconds, dollars
(null: price unknown) and retries. Samples that the response cache answered stand in lines of their
own with `from_cache`: they cost nothing, and tokens and seconds are what was spared. A request that
ended in an outage has no samples, but retries and seconds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pydantic_core
from pydantic import TypeAdapter, ValidationError

from drl.calls.prices import Price
from drl.errors import RunError
from drl.llm.base import Usage
from drl.runtime.lines import LineFile, whole_lines
from drl.types import JSON

FILE_NAME = "calls.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """One request that was answered, by a model or from the cache.

    `began` is the Unix time at which the request left (the first time, if it is from the cache).
    `keys` name the samples as the cache does: one that is used again has the same key.
    """

    purpose: str
    task_id: str | None
    trial: int | None
    node: int | None
    model: str
    samples: int
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    usd: float | None = 0.0
    retries: int = 0
    from_cache: bool = False
    began: float = 0.0
    keys: tuple[str, ...] = ()


_ENTRY = TypeAdapter(Entry)


def read_entries(path: Path) -> Iterator[Entry]:
    """The entries of a ledger in order; a cut last line is passed over.

    Raises:
        RunError: a line is damaged.
    """
    for number, line in whole_lines(path):
        try:
            yield _ENTRY.validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "line"
            raise RunError(
                f"{path}:{number}: not a line of a ledger ({where}: {first['msg']}); move the file "
                "away, which forgets what was spent so far"
            ) from error


@dataclass(slots=True)
class Total:
    """What the entries of one purpose and model add up to; `usd` is None once a price is unknown.

    `cached_samples` came from the response cache and are not in the other numbers.
    """

    requests: int = 0
    samples: int = 0
    cached_samples: int = 0
    tokens_in: int = 0
    tokens_cached: int = 0
    tokens_out: int = 0
    seconds: float = 0.0
    usd: float | None = 0.0
    retries: int = 0

    def add(self, entry: Entry) -> None:
        """Take one entry into account."""
        if entry.from_cache:
            self.cached_samples += entry.samples
            return
        self.requests += 1
        self.samples += entry.samples
        self.tokens_in += entry.tokens_in
        self.tokens_cached += entry.tokens_cached
        self.tokens_out += entry.tokens_out
        self.seconds += entry.seconds
        self.retries += entry.retries
        self.usd = None if self.usd is None or entry.usd is None else self.usd + entry.usd


@dataclass(slots=True)
class Ledger:
    """The open ledger of a run; what earlier starts wrote is counted in.

    Raises:
        RunError: the file cannot be written, or a line in it is damaged.
    """

    path: Path
    totals: dict[tuple[str, str], Total] = field(default_factory=lambda: defaultdict(Total))
    _lines: LineFile = field(init=False)

    def __post_init__(self) -> None:
        """Nothing is opened yet."""
        self._lines = LineFile(self.path)

    def __enter__(self) -> Ledger:
        self._lines.__enter__()
        self.totals.clear()
        for entry in read_entries(self.path):
            self._count(entry)
        return self

    def __exit__(self, *failure: object) -> None:
        self._lines.__exit__(*failure)

    def write(self, entry: Entry) -> None:
        """Add an entry."""
        self._lines.append(pydantic_core.to_json(entry))
        self._count(entry)

    def price_earlier(self, model: str, price: Price) -> None:
        """Count at this price what earlier starts asked of a model while its price was unknown.

        Else a sum that is unknown once would stay so, and a budget would count nothing of it.
        """
        for (_, name), total in self.totals.items():
            if name == model and total.usd is None:
                used = Usage(total.tokens_in, total.tokens_cached, total.tokens_out)
                total.usd = price.of(used)

    def _count(self, entry: Entry) -> None:
        self.totals[entry.purpose, entry.model].add(entry)

    @property
    def spent_tokens(self) -> int:
        """Tokens in and out of all requests so far."""
        return sum(total.tokens_in + total.tokens_out for total in self.totals.values())

    @property
    def spent_usd(self) -> float:
        """Dollars so far, as far as prices are known."""
        return sum(total.usd or 0.0 for total in self.totals.values())

    def to_json(self) -> Mapping[str, JSON]:
        """Totals as `purpose: model`, for `summary.json`; unknown dollars are the word."""
        rows: dict[str, JSON] = {}
        for (purpose, model), total in sorted(self.totals.items()):
            usd = "unknown" if total.usd is None else round(total.usd, 6)
            rows[f"{purpose}: {model}"] = asdict(total) | {
                "seconds": round(total.seconds, 3),
                "usd": usd,
            }
        return rows
