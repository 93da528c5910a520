"""Where an OpenAI-compatible server is and how it is reached: settings of `llm=openai`."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Final
from urllib.parse import urlsplit

from drl.errors import ConfigError
from drl.llm._credentials import check_name, lookup, read_key

OPENAI_ADDRESS: Final = "https://api.openai.com/v1"

_NO_KEY: Final = "none"
"""Sent to servers that want no key; the protocol has no way to send nothing."""


@dataclass(frozen=True)
class Server:
    """An address, the variable that holds its key, and what it may take.

    With `api_version` it is Azure, `base_url` its endpoint and the model a deployment.
    """

    base_url: str | None
    api_version: str | None
    api_key_env: str | None
    timeout_s: float
    max_concurrency: int

    def __post_init__(self) -> None:
        """Check the settings."""
        check_name("llm.api_key_env", self.api_key_env)
        if self.base_url is not None:
            _check_address("llm.base_url", self.base_url)
        if self.timeout_s <= 0:
            raise ConfigError(
                f"llm.timeout_s={self.timeout_s} must be positive; it bounds one call in seconds"
            )
        if self.max_concurrency < 1:
            raise ConfigError(
                f"llm.max_concurrency={self.max_concurrency} must be at least 1; raise it"
            )

    @cached_property
    def address(self) -> str:
        """The base URL, from the settings or the environment.

        Raises:
            ConfigError: it is no address, or Azure without one.
        """
        if self.base_url is not None:
            return self.base_url.rstrip("/")
        variable = "OPENAI_BASE_URL" if self.api_version is None else "AZURE_OPENAI_ENDPOINT"
        found = lookup(variable)
        if found:
            _check_address(variable, found)
            return found.rstrip("/")
        if self.api_version is not None:
            raise ConfigError(
                f"llm.base_url=null, but Azure has no common address; set it, or {variable}, to "
                "https://NAME.openai.azure.com"
            )
        return OPENAI_ADDRESS

    def key(self) -> str:
        """The key, read anew each time so that no object holds it.

        Raises:
            ConfigError: there is none.
        """
        if self.api_key_env is None:
            return _NO_KEY
        return read_key("llm.api_key_env", self.api_key_env)


def _check_address(setting: str, address: str) -> None:
    """Refuse what is no plain address; one that holds a password is not shown."""
    has_login, is_plain = "@" in address, False
    with suppress(ValueError):  # brackets that do not close, a port that is no number
        parts = urlsplit(address)
        has_login = "@" in parts.netloc
        is_whole = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        is_plain = is_whole and not parts.query and not parts.fragment
    if has_login:
        raise ConfigError(
            f"{setting} holds a user name or password; give the key in an environment variable "
            "(llm.api_key_env) instead; the address is not shown"
        )
    if not is_plain:
        raise ConfigError(
            f"{setting}={address} must be an address such as http://127.0.0.1:8000/v1, without "
            "query; mend it"
        )
