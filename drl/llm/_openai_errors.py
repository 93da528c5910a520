"""What it means when an OpenAI-compatible server refuses: wait, mend the config, or cut the branch.

Servers agree on status codes and little else. How they word a prompt that is too long is known for
OpenAI, vLLM, SGLang and llama.cpp.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from email.utils import parsedate_to_datetime
from typing import NamedTuple

from drl.errors import ConfigError, DrlError
from drl.llm._credentials import scrub
from drl.llm._retry import Trouble
from drl.llm.base import ContextOverflowError
from drl.types import JSON

LONGEST_QUOTE = 300
"""Characters of a server's own words in a message."""

MOST_NAMES = 12
"""Models that a message lists."""

_AUTHENTICATION = {401}
_BUSY = {429, 503, 529}
_PASSING = {408, 409, 425, *_BUSY}
_NO_MONEY = ("insufficient_quota", "billing_hard_limit_reached")
_OVERFLOW = re.compile(
    r"context[ _](?:length|size|window)|(?:model|input) length|exceed_context_size"
    r"|input tokens exceed",
    re.IGNORECASE,
)
_LIMIT = re.compile(
    r"(?:context (?:length|size|window)|model length|configured limit)"
    r"(?: is| of| only| \()*\D{0,2}(\d+)",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"(?:resulted in|total of|requested|passed|request has|contains|(?:request|input|prompt) \("
    r"(?:length )?)\D{0,2}(\d+)",
    re.IGNORECASE,
)


class RefusedRequestError(ConfigError):
    """The server does not take the request as it stands."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer with a status of 400 or more, as it came; its words may echo a key."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Asked(NamedTuple):
    """What was asked where, for messages: model, address, variable of the key, tokens to make."""

    model: str
    address: str
    api_key_env: str | None
    max_tokens: int


def meaning(refusal: Refusal, asked: Asked, key: str) -> Trouble | DrlError:
    """What to raise: `Trouble` for what may pass, else an error that ends the call.

    Args:
        refusal: what the server sent.
        asked: what it was asked.
        key: taken out of everything that is quoted.
    """
    status = refusal.status
    details = _details(refusal.body)
    said = _quote(details, refusal.body, key)
    where = f"llm.model={asked.model} at {asked.address}"
    if status in _AUTHENTICATION:
        return _wrong_key(asked)  # its words are not quoted: servers like to echo keys
    if status == 429 and any(word in (details["code"], details["type"]) for word in _NO_MONEY):
        return ConfigError(f"{where}: nothing left to spend ({said}); pay in, or use another key")
    if status in _PASSING or (status >= 500 and details["type"] != "exceed_context_size_error"):
        what = f"HTTP {status}" if status in _BUSY else f"HTTP {status} ({said})"
        return Trouble(what, wait_s=_asked_wait_s(refusal.headers), refused=status in _BUSY)
    if status == 403:
        return ConfigError(
            f"{where} is not allowed with the key in llm.api_key_env={asked.api_key_env}: HTTP 403 "
            f"({said}); use another key or model"
        )
    if _OVERFLOW.search(f"{details['type']} {details['code']} {said}"):
        return _overflow(details, said, asked)
    return RefusedRequestError(
        f"{where} refused the request: HTTP {status} ({said}); mend what it names"
    )


def unknown_model(refusal: Refusal, asked: Asked, key: str, known: list[str]) -> ConfigError:
    """The complaint about an address where the model, or any model, is not found.

    Args:
        refusal: the 404.
        asked: what was asked.
        key: taken out of what is quoted.
        known: the models that the server listed; none if it did not.
    """
    if not known or asked.model in known:
        said = _quote(_details(refusal.body), refusal.body, key)
        return ConfigError(
            f"llm.base_url={asked.address} knows no chat with llm.model={asked.model}: HTTP 404 "
            f"({said}); name a model it has, and give the address with its path (mostly /v1)"
        )
    close = get_close_matches(asked.model, known, n=MOST_NAMES)
    names = known if len(known) <= MOST_NAMES else close or known[:MOST_NAMES]
    left_out = len(known) - len(names)
    more = f" and {left_out} more" if left_out else ""
    return ConfigError(
        f"llm.model={asked.model} is not known at {asked.address}; known: {', '.join(names)}{more}"
    )


def _wrong_key(asked: Asked) -> ConfigError:
    if asked.api_key_env is None:
        return ConfigError(
            f"llm.api_key_env=null, but {asked.address} wants a key (HTTP 401); name the "
            "environment variable that holds it"
        )
    return ConfigError(
        f"llm.api_key_env={asked.api_key_env}: {asked.address} does not accept the key in it (HTTP "
        "401); put the right one into the environment or .env"
    )


def _overflow(details: Mapping[str, str], said: str, asked: Asked) -> DrlError:
    limit = details["n_ctx"] or _number(_LIMIT, said)
    length = details["n_prompt_tokens"] or _number(_LENGTH, said)
    if limit and asked.max_tokens >= int(limit):
        return ConfigError(
            f"max_tokens={asked.max_tokens} of the participant leaves no room for a prompt in the "
            f"{limit} tokens of llm.model={asked.model}; lower it"
        )
    return ContextOverflowError(
        f"a prompt of {length or 'too many'} tokens, with {asked.max_tokens} to come, does not fit "
        f"into the {limit or 'unknown number of'} tokens of llm.model={asked.model}"
    )


def _number(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found.group(1) if found else ""


def _details(body: bytes) -> Mapping[str, str]:
    """The fields of an error object that matter, as texts; empty where there is none."""
    read: JSON = None
    with suppress(ValueError, RecursionError):
        read = json.loads(body.decode("utf-8", "replace"), strict=False)
    error = read.get("error", read) if isinstance(read, Mapping) else None
    if isinstance(error, str):
        error = {"message": error}
    fields = error if isinstance(error, Mapping) else {}
    wanted = ("message", "type", "code", "n_ctx", "n_prompt_tokens")
    return {name: str(fields.get(name) or "") for name in wanted}


def _quote(details: Mapping[str, str], body: bytes, key: str) -> str:
    """A server's own words on one line, without keys."""
    words = details["message"] or body[: 4 * LONGEST_QUOTE].decode("utf-8", "replace")
    line = " ".join(scrub(words, key).split())
    printable = "".join(c if c.isprintable() else "?" for c in line)
    cut = printable[:LONGEST_QUOTE]
    return (cut + " ..." if cut != printable else cut) or "no words"


def _asked_wait_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server wants to be left alone; None if it does not say."""
    wait_s: float | None = None
    with suppress(KeyError, ValueError):
        wait_s = float(headers["retry-after-ms"]) / 1000
    if wait_s is None:
        with suppress(KeyError, ValueError):
            wait_s = float(headers["retry-after"])
    if wait_s is None:
        with suppress(KeyError, ValueError, TypeError):
            wait_s = parsedate_to_datetime(headers["retry-after"]).timestamp() - time.time()
    return wait_s if wait_s is not None and 0 < wait_s < float("inf") else None
