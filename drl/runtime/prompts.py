"""The texts that models are told: files beside the code that uses them, or ones of a user's own."""

import re
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from drl.errors import ConfigError

_PLACE = re.compile(r"\{(\w+)\}")


def fill(package: str, name: str, **texts: str) -> str:
    """The prompt `name` of a package, each `{place}` in it filled; what fills it is left as it is.

    Raises:
        KeyError: the prompt has a place that no text was given for.
        FileNotFoundError: there is no such prompt.
    """
    return _PLACE.sub(lambda place: texts[place.group(1)], _read(package, name))


def own_prompt(key: str, path: str, place: str) -> str:
    """The prompt in a file of a user's own, which has this `{place}`.

    Args:
        key: the setting that names the file.
        path: of the file.
        place: without its braces.

    Raises:
        ConfigError: it cannot be read, or has no such place.
    """
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{key}={path} cannot be read ({error}); name a text file") from error
    if f"{{{place}}}" not in text:
        raise ConfigError(
            f"{key}={path} has no {{{place}}}, so it would tell nothing of the task; write "
            f"{{{place}}} where that belongs"
        )
    return text


def fill_own(text: str, **texts: str) -> str:
    """A prompt of a user's own, filled; braces around anything else are left as they are."""
    return _PLACE.sub(lambda place: texts.get(place.group(1), place.group()), text)


@lru_cache(maxsize=64)
def _read(package: str, name: str) -> str:
    return (files(package) / "prompts" / name).read_text(encoding="utf-8").strip()
