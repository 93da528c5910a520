"""What every model promises: one test for each option in conf/llm.

Options that need a server get one that answers alike; those that need weights get tiny random ones.
"""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from drl.llm.base import LLM, Message, Sampling
from drl.runtime.compose import options
from drl.types import JSON, ToolSpec
from tests.llm.asking import CONF, ask, ask_one, make, request
from tests.llm.fake_server import FakeServer

OPTIONS = options(CONF, "llm")
TOOL = ToolSpec("book", "books", {"type": "object", "properties": {"name": {"type": "string"}}})
ODD_TEXTS = (
    "",
    " \n ",
    "\x00\x1b[31m\u202e",
    "half \ud83d",
    "{{ x }} <|im_end|> {% if %}",
    "a" * 500,
)


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with FakeServer() as server:
        yield server.base_url


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> str:
    from tests.llm.tiny_model import save_tiny_model

    return str(save_tiny_model(tmp_path_factory.mktemp("tiny_model")))


@pytest.fixture(
    params=[
        pytest.param(option, marks=pytest.mark.slow if option.startswith("hf") else ())
        for option in OPTIONS
    ]
)
def llm(request: pytest.FixtureRequest) -> LLM:
    settings: dict[str, JSON] = {}
    if request.param.startswith("openai"):
        settings = {"base_url": request.getfixturevalue("endpoint"), "api_key_env": None}
        settings["api_version"] = None  # Azure's addresses have a test of their own
    elif request.param.startswith("hf"):
        settings = {"model": request.getfixturevalue("weights"), "dtype": "float32"}
        settings["adapter"] = None  # of another model
    return make(request.param, **settings)


def test_it_has_a_name_and_an_identity_that_can_be_a_key(llm):
    assert llm.model.strip()
    assert llm.identity
    for key, value in llm.identity.items():
        assert isinstance(key, str)
        assert isinstance(value, str)
    assert json.dumps(dict(llm.identity))


def test_samples_come_one_per_seed_and_are_counted(llm):
    done = ask_one(llm, request("Hello there.", seeds=(5, 6, 7)))
    assert len(done.choices) == 3
    assert done.usage.tokens_in > 0
    assert 0 <= done.usage.tokens_cached <= done.usage.tokens_in
    assert 0 < done.usage.tokens_out <= 3 * 16
    assert done.seconds >= 0
    assert done.retries == 0


def test_the_same_request_has_the_same_answer(llm):
    asked = request("Hello there.", seeds=(5, 6, 7))
    first, again = ask_one(llm, asked), ask_one(llm, asked)
    assert [c.text for c in first.choices] == [c.text for c in again.choices]


def test_at_temperature_0_all_samples_are_one(llm):
    done = ask_one(llm, request("Hello there.", seeds=(5, 6, 7), temperature=0.0))
    assert len({choice.text for choice in done.choices}) == 1


def test_in_process_a_seed_gives_its_sample_whatever_is_asked_beside_it(llm):
    if not llm.in_process:
        return  # a server promises the same distribution only
    together = ask_one(llm, request("Hello there.", seeds=(5, 6, 7)))
    apart = ask(llm, *(request("Hello there.", seeds=(seed,)) for seed in (7, 5)))
    texts = [choice.text for choice in together.choices]
    assert [one.choices[0].text for one in apart] == [texts[2], texts[0]]


def test_in_process_a_text_ends_before_a_stop_string(llm):
    if not llm.in_process:
        return  # that is the server's doing
    whole = ask_one(llm, request("Hello there.", temperature=0.0)).choices[0].text
    stop = whole[len(whole) // 2 :][:1]
    sampling = Sampling(0.0, max_tokens=16, stop=(stop,))
    cut = ask_one(llm, request("Hello there.", sampling=sampling)).choices[0]
    assert cut.text == whole[: whole.index(stop)]
    assert cut.finish_reason == "stop"


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_prompt_is_answered_with_text_that_can_be_written(llm, text):
    messages = (Message("system", text), Message("user", text or "x"))
    for choice in ask_one(llm, request(messages=messages)).choices:
        choice.text.encode()


def test_tools_may_be_shown_and_forbidden(llm):
    done = ask_one(llm, request("Book it.", tools=(TOOL,), tool_choice="none"))
    assert done.choices


def test_closing_twice_or_unopened_does_no_harm(llm):
    ask(llm)  # no request, only a close
    assert ask_one(llm).choices
    ask(llm)


def test_importing_a_model_loads_none():
    modules = sorted({option.partition("/")[0] for option in OPTIONS})
    script = f"import sys, {', '.join(f'drl.llm.{name}' for name in modules)}; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert not set(done.stdout.split()) & {"torch", "transformers", "openai", "httpx2", "xllamacpp"}


def test_every_module_has_an_option_here():
    modules = {path.stem for path in (CONF.parent / "drl" / "llm").glob("[!_]*.py")} - {"base"}
    assert modules == {option.partition("/")[0] for option in OPTIONS}
