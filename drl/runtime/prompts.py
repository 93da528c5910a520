"""The texts that models are told; each is a file beside the code that uses it."""

import re
from functools import lru_cache
from importlib.resources import files

_PLACE = re.compile(r"\{(\w+)\}")


def fill(package: str, name: str, **texts: str) -> str:
    """The prompt `name` of a package, each `{place}` in it filled; what fills it is left as it is.

    Raises:
        KeyError: the prompt has a place that no text was given for.
        FileNotFoundError: there is no such prompt.
    """
    return _PLACE.sub(lambda place: texts[place.group(1)], _read(package, name))


@lru_cache(maxsize=64)
def _read(package: str, name: str) -> str:
    return (files(package) / "prompts" / name).read_text(encoding="utf-8").strip()
