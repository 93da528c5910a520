"""What llm=openai makes of a server that says no: wait, mend the config, or cut the branch."""

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from drl.errors import ConfigError
from drl.llm._openai_errors import Asked, Refusal, meaning
from drl.llm._retry import Trouble
from drl.llm.base import ContextOverflowError
from tests.llm.asking import ask_one, make_openai
from tests.llm.fake_server import FakeServer
from tests.llm.faults import HUGE


def refusing(status: int, message: str, **fields: object):
    return FakeServer(refuse=lambda body: (status, {"message": message, **fields}))


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": "0"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_how_long_to_wait_is_read_in_every_form(headers, wait_s):
    trouble = meaning(Refusal(429, headers, b""), Asked("m", "http://x", None, 1), "")
    assert isinstance(trouble, Trouble)
    assert trouble.wait_s == wait_s


def test_a_date_to_wait_for_is_understood():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90))
    trouble = meaning(Refusal(429, {"retry-after": date}, b""), Asked("m", "x", None, 1), "")
    assert isinstance(trouble, Trouble)
    assert trouble.wait_s is not None
    assert 0 < trouble.wait_s <= 90


def test_an_unknown_model_is_told_with_those_that_are_known():
    with FakeServer(models=("llama-8b", "llama-70b")) as server:
        with pytest.raises(ConfigError, match=r"llm\.model=lama.*known: llama-70b, llama-8b"):
            ask_one(make_openai(server.base_url, model="lama"))
        assert len(server.requests) == 2  # the question and the list, no retries


def test_of_many_known_models_those_with_similar_names_are_listed():
    names = [f"other-{number}" for number in range(50)] + ["gpt-4o"]
    known = pytest.raises(ConfigError, match=r"known: gpt-4o and 50 more")
    with FakeServer(models=names) as server, known:
        ask_one(make_openai(server.base_url, model="gpt-4"))


def test_a_wrong_path_is_told_with_the_address():
    with FakeServer() as server:
        address = server.base_url + "/v2x"
        with pytest.raises(
            ConfigError, match=r"llm\.base_url=.*/v2x knows no chat.*File Not Found"
        ):
            ask_one(make_openai(address))


@pytest.mark.parametrize(
    ("words", "length", "limit"),
    [
        # OpenAI
        (
            "This model's maximum context length is 4097 tokens. However, your messages resulted in"
            " 4107 tokens. Please reduce the length of the messages.",
            4107,
            4097,
        ),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 9100 tokens"
            " (9000 in the messages, 100 in the completion).",
            9100,
            8192,
        ),
        (
            "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in "
            "300000 tokens.",
            300000,
            272000,
        ),
        # vLLM, from old to new
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 80. This model's maximum context"
            " length is 4096 tokens and your request has 4078 input tokens (80 > 4096 - 4078).",
            4078,
            4096,
        ),
        (
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            5000,
            4096,
        ),
        (
            "You passed 5000 input tokens and requested 16 output tokens. However, the model's "
            "context length is only 4096 tokens, resulting in a maximum input length of 4080.",
            5000,
            4096,
        ),
        # SGLang
        (
            "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
            5000,
            4096,
        ),
        (
            "Requested token count exceeds the model's maximum context length of 4096 tokens. You "
            "requested a total of 5500 tokens: 5000 from the input and 500 for the completion.",
            5500,
            4096,
        ),
        # llama.cpp
        (
            "request (5031 tokens) exceeds the available context size (4096 tokens), try "
            "increasing it",
            5031,
            4096,
        ),
    ],
)
def test_a_prompt_that_is_too_long_is_told_with_both_lengths(words, length, limit):
    with refusing(400, words) as server, pytest.raises(ContextOverflowError) as caught:
        ask_one(make_openai(server.base_url))
    assert f"{length} tokens" in str(caught.value)
    assert f"the {limit} tokens" in str(caught.value)


def test_lengths_come_from_fields_where_there_are_some():
    # an older llama.cpp calls it an error of its own
    fields = {"type": "exceed_context_size_error", "n_prompt_tokens": 1407, "n_ctx": 256}
    with refusing(500, "the request exceeds the context", **fields) as server:
        with pytest.raises(ContextOverflowError, match=r"1407 tokens.*256 tokens"):
            ask_one(make_openai(server.base_url))
        assert len(server.requests) == 1


def test_an_answer_longer_than_the_context_is_a_wrong_setting():
    words = "This model's maximum context length is 16 tokens and your request has 3 input tokens"
    told = pytest.raises(ConfigError, match="max_tokens=16 of the participant")
    with refusing(400, words) as server, told:
        ask_one(make_openai(server.base_url))


def test_other_refusals_are_told_in_the_words_of_the_server_on_one_line():
    with refusing(400, "temperature must be 1\nfor this model\x1b[31m" + "!" * 1000) as server:
        with pytest.raises(ConfigError, match="temperature must be 1 for this model") as caught:
            ask_one(make_openai(server.base_url))
        assert len(server.requests) == 1
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 600


def test_a_refusal_of_two_megabytes_is_read_at_once():
    with refusing(400, HUGE) as server:
        started = time.monotonic()
        with pytest.raises(ConfigError, match="0123456789abcdef"):
            ask_one(make_openai(server.base_url))
    assert time.monotonic() - started < 10.0


@pytest.mark.parametrize("field", ["code", "type"])
def test_an_empty_purse_is_not_waited_for(field):
    with refusing(
        429, "You exceeded your current quota", **{field: "insufficient_quota"}
    ) as server:
        with pytest.raises(ConfigError, match=r"nothing left to spend.*current quota"):
            ask_one(make_openai(server.base_url))
        assert len(server.requests) == 1
