"""A key comes from the environment or .env, and goes nowhere but to the server."""

import asyncio
import io
import json
import logging
import pickle
import traceback
from pathlib import Path

import pytest

from drl.errors import ConfigError
from drl.llm._credentials import scrub
from drl.llm.base import LLM
from drl.runtime.compose import compose
from drl.runtime.config import check_nodes, to_plain
from tests.llm.asking import CONF, QUICK, ask_one, make, request
from tests.llm.fake_server import FakeServer
from tests.llm.faults import in_turn

KEY = "sk-proj-4fEx9Qb2LmNop7"
WITH_PASSWORD = "https://me:hush@host/v1"
PLAIN_KEY = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory without .env, and an environment without keys."""
    monkeypatch.chdir(tmp_path)
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def with_key(base_url: str | None = None, **settings) -> LLM:
    given = {**QUICK, "api_key_env": "OPENAI_API_KEY", "base_url": base_url, **settings}
    return make("openai", **given)


def key_that_arrives(llm: LLM, server: FakeServer) -> str:
    ask_one(llm)
    return server.requests[-1].headers["authorization"]


def test_the_key_of_the_environment_is_sent(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    with FakeServer(key=KEY) as server:
        assert key_that_arrives(with_key(server.base_url), server) == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "line",
    [
        f"OPENAI_API_KEY={KEY}",
        f"export OPENAI_API_KEY = '{KEY}'",
        f'OPENAI_API_KEY="{KEY}"',
        f"OPENAI_API_KEY={KEY} # of the project",
        f"OPENAI_API_KEY={KEY}\t# of the project",
        f'OPENAI_API_KEY="{KEY}" # of the project',
        f"OPENAI_API_KEY=old\nOTHER=x\n\n# note\nOPENAI_API_KEY={KEY}\n",
    ],
)
def test_the_key_of_env_in_the_working_directory_is_sent(elsewhere, line):
    (elsewhere / ".env").write_text(f"\ufeff{line}\n")
    with FakeServer(key=KEY) as server:
        assert key_that_arrives(with_key(server.base_url), server) == f"Bearer {KEY}"


def test_the_environment_comes_before_env(elsewhere, monkeypatch):
    (elsewhere / ".env").write_text("OPENAI_API_KEY=other\n")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeServer(key=KEY) as server:
        key_that_arrives(with_key(server.base_url), server)


def test_the_address_may_stand_in_env_too(elsewhere, monkeypatch):
    with FakeServer(key=KEY) as server:
        lines = f"OPENAI_API_KEY={KEY}\nOPENAI_BASE_URL={server.base_url}\n"
        (elsewhere / ".env").write_text(lines)
        llm = with_key()
        key_that_arrives(llm, server)
    assert llm.identity["base_url"] == server.base_url


def test_a_local_server_without_a_key_is_not_sent_that_of_openai(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with FakeServer() as server:
        llm = make("openai/vllm", base_url=server.base_url)
        assert KEY not in key_that_arrives(llm, server)


@pytest.mark.parametrize("value", [None, "", "  "])
def test_without_a_key_it_says_where_to_put_one(monkeypatch, value):
    if value is not None:
        monkeypatch.setenv("OPENAI_API_KEY", value)
    with FakeServer() as server:
        with pytest.raises(ConfigError, match=r"llm\.api_key_env=OPENAI_API_KEY.*\.env") as caught:
            ask_one(with_key(server.base_url))
        assert not server.requests
    assert "llm.api_key_env=null" in str(caught.value)


@pytest.mark.parametrize("key", [f"{KEY} x", f"{KEY}\x7f", f"{KEY}\u2019"])
def test_a_key_with_odd_characters_is_refused_unseen(monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(ConfigError, match="copy the key anew") as caught:
        ask_one(with_key("http://127.0.0.1:9/v1"))
    assert KEY not in everything_about(caught.value)


def test_bytes_in_env_that_are_no_text_are_refused_unseen(elsewhere):
    (elsewhere / ".env").write_bytes(f"OPENAI_API_KEY={KEY}".encode() + b"\xff")
    with pytest.raises(ConfigError, match="copy the key anew") as caught:
        ask_one(with_key("http://127.0.0.1:9/v1"))
    assert KEY not in everything_about(caught.value)


def test_an_env_that_is_no_file_is_refused(elsewhere):
    (elsewhere / ".env").mkdir()
    with pytest.raises(ConfigError, match=r"\.env cannot be read"):
        ask_one(with_key("http://127.0.0.1:9/v1"))


@pytest.mark.parametrize("key", [KEY, PLAIN_KEY])
def test_a_key_in_place_of_the_name_of_its_variable_is_refused_unseen(key):
    with pytest.raises(ConfigError, match=r"llm\.api_key_env must be the name") as caught:
        make("openai", api_key_env=key)
    assert key not in everything_about(caught.value)


def test_an_address_with_a_password_is_refused_unseen(monkeypatch):
    with pytest.raises(ConfigError, match=r"llm\.base_url holds a user name or password") as caught:
        make("openai", base_url=WITH_PASSWORD)
    assert "hush" not in everything_about(caught.value)
    monkeypatch.setenv("OPENAI_BASE_URL", WITH_PASSWORD)
    with pytest.raises(ConfigError, match="OPENAI_BASE_URL holds a user name") as caught:
        _ = make("openai").identity
    assert "hush" not in everything_about(caught.value)


@pytest.mark.parametrize("key", [KEY, PLAIN_KEY])
def test_a_wrong_key_is_told_and_the_servers_echo_of_it_is_not(monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with FakeServer(key="the right one") as server:
        with pytest.raises(
            ConfigError, match=r"llm\.api_key_env=OPENAI_API_KEY.*HTTP 401"
        ) as caught:
            ask_one(with_key(server.base_url))
        assert len(server.requests) == 1
    told = everything_about(caught.value)
    assert key not in told
    assert key[:6] not in told
    assert key[-4:] not in told


def test_a_server_that_wants_a_key_is_told_from_one_that_wants_another():
    told = pytest.raises(ConfigError, match=r"llm\.api_key_env=null, but .* wants a key")
    with FakeServer(key=KEY) as server, told:
        ask_one(make("openai/vllm", base_url=server.base_url))


@pytest.mark.parametrize("status", [400, 403, 404, 429, 500])
def test_no_refusal_shows_the_key(monkeypatch, status):
    monkeypatch.setenv("OPENAI_API_KEY", PLAIN_KEY)
    echo = f"no: {PLAIN_KEY}, sk-live-a1b2c3d4, {PLAIN_KEY[:6]}*****{PLAIN_KEY[-4:]}"
    refusal = (status, {"message": echo})
    refused = pytest.raises(Exception, match="llm")
    with FakeServer(refuse=lambda body: refusal) as server, refused as caught:
        ask_one(with_key(server.base_url, max_attempts=2))
    told = everything_about(caught.value)
    for part in (PLAIN_KEY, "a1b2c3d4", PLAIN_KEY[:6], PLAIN_KEY[-4:]):
        assert part not in told


def test_a_key_reaches_no_log_config_or_representation(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with FakeServer(key=KEY, fault=in_turn("500", "cut")) as server:
            llm = with_key(server.base_url)

            async def shown_while_open() -> str:
                await llm.complete(request())
                shown = f"{llm!r} {vars(llm)!r} {llm.identity!r}"
                await llm.close()
                return shown

            shown = asyncio.run(shown_while_open())
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    plain = to_plain(compose(CONF, ["llm=openai"]))
    check_nodes(plain)
    assert "OPENAI_API_KEY" in json.dumps(plain)
    assert stream.getvalue()
    for text in (stream.getvalue(), shown, json.dumps(plain)):
        assert KEY not in text


def everything_about(error: BaseException) -> str:
    """What could be printed of an error: message, traceback, causes, notes, and its pickle."""
    texts = [repr(error), *traceback.format_exception(error), repr(pickle.dumps(error))]
    seen: list[BaseException | None] = [error.__cause__, error.__context__]
    texts += [repr(vars(other)) + repr(other) for other in seen if other is not None]
    return "\n".join(texts)


@pytest.mark.parametrize("length", [8, 15, len(PLAIN_KEY)])
def test_a_beginning_of_the_key_is_hidden_as_well(length):
    hidden = scrub(f"bad key {PLAIN_KEY[:length]}... in 0f1e", PLAIN_KEY)
    assert hidden == "bad key *** in 0f1e"
