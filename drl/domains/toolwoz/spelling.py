"""How names, which the data writes in small letters, look in a sentence."""

from string import capwords
from typing import Final

from drl.domains.toolwoz.vocabulary import word_set

_SMALL: Final = word_set("a and at in of on the")
_CAPITALS: Final = word_set("adc hk")
_COMMON_NOUNS: Final = word_set(
    "gastropub seafood international fusion vegetarian vegan steakhouse"
)


def title(name: str) -> str:
    """A name with capitals, as people write it: 'Museum of Classical Archaeology'."""
    words = [_capitalised(word) for word in name.split()]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]]) if words else ""


def cuisine(value: str) -> str:
    """A cuisine with capitals where it names a place: 'Modern European', 'seafood'."""
    return value if value in _COMMON_NOUNS else capwords(value)


def listed(parts: list[str]) -> str:
    """'a', 'a and b', 'a, b and c'."""
    return " and ".join(part for part in (", ".join(parts[:-1]), *parts[-1:]) if part)


def _capitalised(word: str) -> str:
    if word in _CAPITALS:
        return word.upper()
    return word if word in _SMALL else capwords(word, "-")
