"""What llm=openai does when a server is slow, broken, down, full or wrongly addressed."""

import asyncio
import logging
import socket
import threading
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from drl.errors import ConfigError
from drl.llm._openai_errors import Asked, Refusal, meaning
from drl.llm._retry import Trouble
from drl.llm.base import ContextOverflowError, OutageError
from tests.llm.asking import ask, ask_one, make_openai, request
from tests.llm.fake_server import FakeServer, by_rate, in_turn

PASSING = ("429", "429 ms", "429 bare", "500", "502", "cut", "malformed", "empty", "nothing")
ODD = ("array", "deep")


def refusing(status: int, message: str, **fields: object):
    return FakeServer(refuse=lambda body: (status, {"message": message, **fields}))


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.parametrize("fault", [*PASSING, *ODD])
def test_what_may_pass_is_asked_again_and_counted(fault):
    with FakeServer() as server:
        plain = ask_one(make_openai(server.base_url))
    with FakeServer(fault=in_turn(fault, fault)) as server:
        done = ask_one(make_openai(server.base_url))
        assert len(server.requests) == 3
        assert not server.repeats
    assert done.choices == plain.choices
    assert done.retries == 2
    assert plain.retries == 0


def test_a_call_that_takes_too_long_is_asked_again():
    with FakeServer(fault=in_turn("hang")) as server:
        done = ask_one(make_openai(server.base_url, timeout_s=1.0))
        assert [seen.fault for seen in server.requests] == ["hang", None]
    assert done.retries == 1


def test_time_in_the_queue_is_not_time_of_the_call():
    # 12 calls of 0.1 s, one at a time: the last waits longer than the limit, each takes a tenth
    with FakeServer(latency_s=0.1) as server:
        llm = make_openai(server.base_url, timeout_s=1.0, max_concurrency=1)
        done = ask(llm, *(request(seeds=(seed,)) for seed in range(12)))
        assert server.most_in_flight == 1
    assert sum(completions.retries for completions in done) == 0
    assert all(completions.seconds < 1.0 for completions in done)


def test_hundreds_wait_without_harm_and_connections_stay_within_the_limit():
    with FakeServer() as server:
        llm = make_openai(server.base_url, max_concurrency=40)
        done = ask(llm, *(request(f"task {number}") for number in range(600)))
        assert server.most_in_flight <= 40
        assert not server.repeats
    assert len({completions.choices[0].text for completions in done}) == 600
    assert sum(completions.retries for completions in done) == 0


def test_with_many_faults_the_answers_are_those_without():
    rates = dict.fromkeys(("429", "500", "cut", "malformed", "empty"), 0.055) | {"hang": 0.025}
    asked = [request(f"task {number}", seeds=(number,)) for number in range(60)]
    with FakeServer() as server:
        plain = ask(make_openai(server.base_url), *asked)
    with FakeServer(fault=by_rate(rates)) as server:
        done = ask(make_openai(server.base_url, timeout_s=2.0), *asked)
        failed = Counter(seen.fault for seen in server.requests)
        assert not server.repeats
    del failed[None]
    assert [one.choices for one in done] == [one.choices for one in plain]
    assert sum(one.retries for one in done) == failed.total() > 0


def test_when_patience_ends_it_says_what_was_seen_and_how_often():
    faults = in_turn("500", "429", "500", "empty")
    with FakeServer(fault=faults) as server, pytest.raises(OutageError) as caught:
        ask_one(make_openai(server.base_url, max_attempts=4, model="m"))
    message = str(caught.value)
    assert message.startswith("llm.model=m: given up after 4 attempts in ")
    assert "HTTP 500 (it broke) (2 times)" in message
    assert "HTTP 429" in message
    assert "an answer without choices" in message


def test_a_server_that_wants_an_hour_is_an_outage_at_once():
    with FakeServer(fault=in_turn("429 hour")) as server:
        with pytest.raises(OutageError, match="HTTP 429"):
            ask_one(make_openai(server.base_url))
        assert len(server.requests) == 1


def test_the_time_a_server_asks_for_is_waited():
    with FakeServer(fault=in_turn("429")) as server:  # Retry-After: 0.02
        done = ask_one(make_openai(server.base_url, retry_s=10.0))
    assert done.retries == 1
    assert done.seconds < 5.0


@pytest.mark.parametrize(
    ("headers", "wait_s"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "7", "retry-after-ms": "250"}, 0.25),
        ({"retry-after": format_datetime(datetime.now(UTC) + timedelta(seconds=90))}, 90.0),
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
    assert trouble.wait_s == (wait_s and pytest.approx(wait_s, abs=60 if wait_s == 90 else 0))


def test_a_server_that_is_down_is_told_within_seconds():
    address = f"http://127.0.0.1:{free_port()}/v1"
    started = time.monotonic()
    with pytest.raises(OutageError, match=r"given up after 3 attempts.*no connection"):
        ask_one(make_openai(address, max_attempts=50, retry_s=30.0))
    assert time.monotonic() - started < 3.0


def test_a_server_that_restarts_is_waited_for():
    with FakeServer() as server:
        llm = make_openai(server.base_url, retry_s=0.2)

        async def over_a_restart():
            await llm.complete(request("before"))
            server.stop()
            timer = threading.Timer(1.0, server.start)
            timer.start()
            try:
                return await llm.complete(request("after"))
            finally:
                await llm.close()
                timer.join()

        done = asyncio.run(over_a_restart())
    # refused connections are given up after 3 attempts only if nothing was ever answered
    assert done.retries >= 2


def test_waiting_is_not_silent(caplog):
    with FakeServer(fault=in_turn("500", "500")) as server, caplog.at_level(logging.WARNING):
        ask_one(make_openai(server.base_url, model="m"))
    lines = [r.getMessage() for r in caplog.records if r.name.startswith("drl.")]
    assert len(lines) == 1, "one line in ten seconds is enough"
    assert lines[0].startswith("llm.model=m: HTTP 500 (it broke); asking again in ")


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


@pytest.mark.parametrize("field", ["code", "type"])
def test_an_empty_purse_is_not_waited_for(field):
    with refusing(
        429, "You exceeded your current quota", **{field: "insufficient_quota"}
    ) as server:
        with pytest.raises(ConfigError, match=r"nothing left to spend.*current quota"):
            ask_one(make_openai(server.base_url))
        assert len(server.requests) == 1


def test_of_samples_side_by_side_one_failure_fails_the_request_and_leaves_none_behind():
    def refuse(body):
        return (400, {"message": "not this seed"}) if body["seed"] == 2 else None

    with FakeServer(refuse=refuse, latency_s=0.1) as server:
        llm = make_openai(server.base_url, n_per_request=False)
        with pytest.raises(ConfigError, match="not this seed"):
            ask_one(llm, request(seeds=(1, 2, 3)))
        assert server.answered.total() == 2
        assert server.in_flight == 0


def test_whoever_is_called_away_gives_its_place_back():
    with FakeServer(fault=in_turn("hang")) as server:
        llm = make_openai(server.base_url, max_concurrency=1)

        async def call_away():
            first = asyncio.ensure_future(llm.complete(request("first")))
            queued = asyncio.ensure_future(llm.complete(request("queued")))
            while not server.requests:
                await asyncio.sleep(0.01)
            first.cancel()
            queued.cancel()
            await asyncio.wait([first, queued])
            done = await asyncio.wait_for(llm.complete(request("first")), timeout=5)
            await llm.close()
            return done

        assert asyncio.run(call_away()).choices
