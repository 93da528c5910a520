"""Keys and addresses from the environment or `.env`, and how keys are kept out of texts.

A config names the variable that holds a key, never the key: so it can be printed, hashed and
stored. Texts that a server sends pass `scrub` before anyone sees them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from drl.errors import ConfigError

HIDDEN = "***"

_ENV_FILE = ".env"
_NAME = re.compile(r"[A-Z_][A-Z0-9_]*")
_LINE = re.compile(r"\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*?)\s*")
_KEY_LIKE = re.compile(r"\b(?:sk|pk|key)-[\w*.…-]{4,}")
"""Keys as OpenAI writes them."""
_STARS = "***"
"""How servers mask the middle of a key."""
_BLANKS = re.compile(r"(\s+)")
_SHORTEST_SECRET = 4
_SHORTEST_PART = 8
"""Of a beginning of the key that is hidden as well: less would hide common words."""
_QUOTED = re.compile(r"""(['"])(.*?)\1\s*(?:#.*)?""")
_COMMENT = re.compile(r"\s#")


def check_name(setting: str, name: str | None) -> None:
    """Refuse what cannot name an environment variable; it may be a key, so it is not shown.

    Raises:
        ConfigError: it is not made of capitals, digits and underscores.
    """
    if name is not None and not _NAME.fullmatch(name):
        raise ConfigError(
            f"{setting} must be the name of an environment variable (capitals, digits and "
            "underscores), not a key; what was given is not shown"
        )


def read_key(setting: str, name: str) -> str:
    """The key in a variable.

    Raises:
        ConfigError: it is missing, or holds what no key holds.
    """
    key = (lookup(name) or "").strip()
    if not key:
        raise ConfigError(
            f"{setting}={name} is set neither in the environment nor in {_ENV_FILE} of the working "
            f"directory; put the key there, or set {setting}=null for a server that wants none"
        )
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise ConfigError(
            f"{setting}={name} holds blanks or characters that no key has; copy the key anew"
        )
    return key


def lookup(name: str) -> str | None:
    """The value of a variable in the environment, or else in `.env`; None if in neither.

    Raises:
        ConfigError: `.env` is there and cannot be read.
    """
    value = os.environ.get(name)
    if value is not None:
        return value
    try:
        # no decoding error: it would carry the whole file
        text = Path(_ENV_FILE).read_text(encoding="utf-8-sig", errors="replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise ConfigError(
            f"{_ENV_FILE} cannot be read ({error.strerror}); make it a text file of NAME=value "
            "lines, or remove it"
        ) from error
    for line in text.splitlines():
        found = _LINE.fullmatch(line)
        if found and found.group(1) == name:
            value = _unquote(found.group(2))
    return value


def scrub(text: str, key: str) -> str:
    """The text without the key and anything that looks like one."""
    if len(key) >= _SHORTEST_SECRET:
        text = text.replace(key, HIDDEN)
        # servers shorten what they repeat: the longest beginnings of the key go first
        for length in range(len(key) - 1, _SHORTEST_PART - 1, -1):
            text = text.replace(key[:length], HIDDEN)
    # word by word: one pattern for it would take quadratic time on a long word
    words = (HIDDEN if _STARS in word else word for word in _BLANKS.split(text))
    return _KEY_LIKE.sub(HIDDEN, "".join(words))


def _unquote(value: str) -> str:
    quoted = _QUOTED.fullmatch(value)
    if quoted:
        return quoted.group(2)
    return _COMMENT.split(value, maxsplit=1)[0].rstrip()
