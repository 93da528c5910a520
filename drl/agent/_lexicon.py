"""The words that the tools bring along: domains, slots, and the names and values they hold."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from drl.domains.toolwoz import vocabulary as words
from drl.domains.toolwoz.comprehension import Mention, PhraseIndex, by_form, read_values, tokens
from drl.domains.toolwoz.vocabulary import word_set
from drl.types import Toolbox

Tool = tuple[str, tuple[str, ...]]
"""A tool's name and parameters."""
Values = tuple[str, str, tuple[str, ...]]
"""A tool, one of its parameters, and the values known for it."""

_VOCABULARY: Final = (
    *(words.AREAS, words.PRICE_RANGES, words.DAYS, words.STATIONS, words.CUISINES),
    *(words.HOTEL_TYPES, words.ATTRACTION_TYPES),
)
_EVERYDAY: Final = frozenset({("the", "place"), ("the", "junction")})
"""Names that are everyday words: read as names only where the words before say so."""
_NAMING: Final = word_set("called named name visit about book try mean there")


class Lexicon:
    """What can be searched and booked, by which slots, and how to find its names in text."""

    def __init__(self, tools: Sequence[Tool], values: Sequence[Values]) -> None:
        self.searches: dict[str, tuple[str, ...]] = {}
        self.bookings: dict[str, tuple[str, ...]] = {}
        for name, slots in tools:
            action, _, domain = name.partition("_")
            if slots and action in ("search", "book"):
                (self.searches if action == "search" else self.bookings)[domain] = slots
        self.values: dict[tuple[str, str], tuple[str, ...]] = {}
        for tool, slot, known in values:
            action, _, domain = tool.partition("_")
            if action == "search":
                self.values[domain, slot] = known
        self._names = PhraseIndex(
            (alias, (domain, name))
            for (domain, slot), names in self.values.items()
            if slot == "name"
            for name in names
            for alias in _aliases(name)
        )
        self._own_values = PhraseIndex(self._values_beyond_vocabulary())

    def names_in(self, text: tuple[str, ...]) -> list[Mention]:
        """The names of entities that occur in a text, in order."""
        return [
            Mention("name", name, start, end, domain)
            for start, end, (domain, name) in self._names.find(text)
            if text[start:end] not in _EVERYDAY or (start > 0 and text[start - 1] in _NAMING)
        ]

    def read(self, text: tuple[str, ...]) -> tuple[Mention, ...]:
        """All names and values in a text, in order."""
        found = self.names_in(text)
        taken = [False] * len(text)
        for name in found:
            taken[name.start : name.end] = [True] * (name.end - name.start)
        for start, end, (domain, slot, value) in self._own_values.find(text, taken):
            found.append(Mention(slot, value, start, end, domain))
            taken[start:end] = [True] * (end - start)
        found.extend(read_values(text, tuple(taken) if found else ()))
        return tuple(sorted(found, key=lambda mention: mention.start))

    def takes(self, domain: str, slot: str) -> bool:
        """Whether a domain can be searched or booked by a slot."""
        return slot in self.searches.get(domain, ()) or slot in self.bookings.get(domain, ())

    def domain_of(self, slot: str) -> str | None:
        """The first domain that takes a slot."""
        return next((domain for domain in self.searches if self.takes(domain, slot)), None)

    def _values_beyond_vocabulary(self) -> Iterator[tuple[str, tuple[str, str, str]]]:
        known = {tokens(form) for table in _VOCABULARY for form, _ in by_form(table)}
        for (domain, slot), values in self.values.items():
            if slot in ("name", *words.AMENITIES):
                continue
            for value in values:
                if len(value) > 2 and tokens(value) not in known:
                    yield value, (domain, slot, value)


def lexicon_of(toolbox: Toolbox) -> Lexicon:
    """The lexicon of a toolbox; built once for all toolboxes that hold the same."""
    tools = tuple((spec.name, _slots(spec.parameters)) for spec in toolbox.specs)
    values = tuple(
        (tool, slot, tuple(known))
        for tool, slots in toolbox.values.items()
        for slot, known in slots.items()
    )
    return _lexicon(tools, values)


@lru_cache(maxsize=16)
def _lexicon(tools: tuple[Tool, ...], values: tuple[Values, ...]) -> Lexicon:
    return Lexicon(tools, values)


def _slots(parameters: Mapping[str, object]) -> tuple[str, ...]:
    properties = parameters.get("properties")
    return tuple(properties) if isinstance(properties, Mapping) else ()


def _aliases(name: str) -> Iterator[str]:
    """The name, and the name without its article where enough of it is left."""
    yield name
    if name.startswith("the ") and len(rest := name[4:]) > 5 and rest not in ("place", "junction"):
        yield rest
    for ending in (" restaurant", " guest house", " bed and breakfast"):
        if name.endswith(ending) and " " in name.removesuffix(ending):
            yield name.removesuffix(ending)
