"""llm=openai against a real server: llama.cpp with SmolLM2."""

import asyncio
from collections.abc import Iterator

import pytest

from drl.errors import ConfigError
from drl.llm.base import ContextOverflowError, Message, Sampling
from drl.types import ToolSpec
from tests.llm.asking import ask, ask_one, make_openai, request
from tests.llm.real_server import CONTEXT, MODEL, real_server

pytestmark = pytest.mark.slow

QUESTION = "What is the capital of France? Answer in one sentence."


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with real_server() as base_url:
        yield base_url


def make(address: str, **settings):
    return make_openai(address, "openai/llama_cpp", timeout_s=120.0, model=MODEL, **settings)


def test_it_answers_and_counts(address):
    done = ask_one(make(address), request(QUESTION, temperature=0.0, seeds=(1, 2)))
    assert "Paris" in done.choices[0].text
    assert done.choices[0].finish_reason in ("stop", "length")
    assert done.choices[0] == done.choices[1]
    assert 20 < done.usage.tokens_in < 80
    assert 0 < done.usage.tokens_out <= 16
    assert done.retries == 0


def test_samples_differ_by_seed_and_repeat(address):
    asked = request("Tell me of a town.", seeds=(1, 2, 3), temperature=1.0)
    # alone in its slot each time: batches of other sizes round differently
    llm = make(address, max_concurrency=1)
    first, again = ask_one(llm, asked), ask_one(llm, asked)
    assert len({choice.text for choice in first.choices}) == 3
    assert first.choices == again.choices


def test_samples_come_in_one_call_where_that_is_wanted(address):
    done = ask_one(make(address, n_per_request=True), request(QUESTION, seeds=(1, 2, 3)))
    assert len(done.choices) == 3
    assert all(choice.text for choice in done.choices)


def test_a_text_ends_before_a_stop_string(address):
    sampling = Sampling(0.0, max_tokens=40, top_k=10, stop=("Paris",))
    done = ask_one(make(address), request(QUESTION, sampling=sampling))
    assert "Paris" not in done.choices[0].text
    assert done.choices[0].finish_reason == "stop"


def test_a_history_with_tools_is_understood(address):
    tool = ToolSpec("look", "looks", {"type": "object", "properties": {}})
    messages = (
        Message("system", "You help."),
        Message("user", "Hi"),
        Message("assistant", "Hello"),
        Message("user", QUESTION),
    )
    done = ask_one(make(address), request(messages=messages, tools=(tool,), tool_choice="none"))
    assert done.choices


def test_a_prompt_beyond_the_context_is_told_with_both_lengths(address):
    with pytest.raises(ContextOverflowError, match=rf"5\d\d\d tokens.* {CONTEXT} tokens"):
        ask_one(make(address), request("word " * 5000))


def test_a_wrong_path_is_told(address):
    with pytest.raises(ConfigError, match=r"llm\.base_url"):
        ask_one(make(address.removesuffix("/v1") + "/nowhere"))


def test_many_requests_share_it(address):
    done = ask(make(address), *(request(f"Count to {number}.") for number in range(2, 14)))
    assert all(one.choices[0].text for one in done)
    assert sum(one.retries for one in done) == 0


def test_whoever_is_called_away_does_not_disturb_the_rest(address):
    async def call_away():
        llm = make(address)
        long = asyncio.ensure_future(
            llm.complete(request(QUESTION, sampling=Sampling(1.0, max_tokens=3000)))
        )
        await asyncio.sleep(0.3)
        long.cancel()
        await asyncio.wait([long])
        done = await llm.complete(request(QUESTION, temperature=0.0))
        await llm.close()
        return done

    assert "Paris" in asyncio.run(call_away()).choices[0].text
