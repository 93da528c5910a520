"""What llm=openai sends for a request, and what it makes of an answer."""

import asyncio
import json

import pytest

from drl.errors import ConfigError
from drl.llm.base import Message, Sampling, ToolUse, Usage
from drl.types import Sampled, ToolSpec
from tests.llm.asking import ask, ask_one, make, make_openai, request
from tests.llm.fake_server import FakeServer
from tests.llm.faults import HUGE, in_turn

TOOL = ToolSpec("book", "books", {"type": "object", "properties": {"name": {"type": "string"}}})


def test_a_request_is_sent_in_the_words_of_the_api():
    messages = (
        Message("system", "be kind"),
        Message("user", "book it"),
        Message("assistant", "", tool_calls=(ToolUse("c1", "book", '{"name": "x"}'),)),
        Message("tool", "done", tool_call_id="c1"),
    )
    sampling = Sampling(0.5, max_tokens=9, top_p=0.9, stop=("\n", "END"))
    with FakeServer() as server:
        asked = request(messages=messages, sampling=sampling, tools=(TOOL,), seeds=(7,))
        ask_one(make_openai(server.base_url, model="m"), asked)
        call = {"name": "book", "arguments": '{"name": "x"}'}
        uses = [{"id": "c1", "type": "function", "function": call}]
        assert server.requests[0].body == {
            "model": "m",
            "messages": [
                {"role": "system", "content": "be kind"},
                {"role": "user", "content": "book it"},
                {"role": "assistant", "content": None, "tool_calls": uses},
                {"role": "tool", "content": "done", "tool_call_id": "c1"},
            ],
            "temperature": 0.5,
            "max_tokens": 9,
            "top_p": 0.9,
            "stop": ["\n", "END"],
            "tools": [TOOL.to_openai()],
            "tool_choice": "auto",
            "seed": 7,
        }


def test_settings_change_what_is_sent():
    settings = {
        "max_tokens_field": "max_completion_tokens",
        "send_seed": False,
        "send_top_k": True,
        "extra_body": {"min_p": 0.1},
    }
    with FakeServer() as server:
        asked = request(sampling=Sampling(1.0, 9, top_k=40), tools=(TOOL,), tool_choice="none")
        ask_one(make_openai(server.base_url, **settings), asked)
        body = server.requests[0].body
    assert body["max_completion_tokens"] == 9
    assert body["top_k"] == 40
    assert body["min_p"] == 0.1
    assert body["tool_choice"] == "none"
    assert not {"max_tokens", "seed", "n"} & body.keys()


def test_without_a_temperature_the_server_draws_at_its_own():
    with FakeServer() as server:
        ask_one(make_openai(server.base_url), request(sampling=Sampling(None, 9)))
        assert "temperature" not in server.requests[0].body


def test_top_k_is_refused_where_the_server_does_not_know_it():
    with FakeServer() as server, pytest.raises(ConfigError, match=r"llm\.send_top_k=false.*40"):
        ask_one(make_openai(server.base_url), request(sampling=Sampling(1.0, 9, top_k=40)))
    assert not server.requests


def test_seeds_are_cut_to_what_every_server_takes():
    with FakeServer() as server:
        ask_one(make_openai(server.base_url), request(seeds=(2**62 + 5,)))
        assert server.requests[0].body["seed"] == 5


def test_several_samples_are_one_call_with_the_first_seed():
    with FakeServer() as server:
        done = ask_one(make_openai(server.base_url), request(seeds=(4, 5, 6)))
        assert len(server.requests) == 1
        assert server.requests[0].body["n"] == 3
        assert server.requests[0].body["seed"] == 4
    assert len({choice.text for choice in done.choices}) == 3


def test_without_n_samples_are_calls_side_by_side_each_with_its_seed():
    with FakeServer(latency_s=0.05) as server:
        llm = make_openai(server.base_url, n_per_request=False)
        done = ask_one(llm, request(seeds=(4, 5, 6)))
        assert [seen.body["seed"] for seen in server.requests] == [4, 5, 6]
        assert not any("n" in seen.body for seen in server.requests)
        assert server.most_in_flight == 3
        again = ask_one(llm, request(seeds=(6, 4)))
    texts = [choice.text for choice in done.choices]
    assert [choice.text for choice in again.choices] == [texts[2], texts[0]]
    # 37 bytes of messages are 9 tokens for the fake; "answer" and 8 digits are 3
    assert done.usage == Usage(tokens_in=3 * 9, tokens_cached=3 * 4, tokens_out=3 * 3)


@pytest.mark.parametrize(("n_per_request", "calls"), [("auto", [3, 1, 1]), (True, [3, 2, 1])])
def test_what_a_server_left_out_is_asked_for_again(n_per_request, calls):
    # one choice a call: auto learns that and asks for the other two alone, true insists
    with FakeServer(gives_n=False) as server:
        llm = make_openai(server.base_url, n_per_request=n_per_request)
        done = ask_one(llm, request(seeds=(1, 2, 3)))
        assert [seen.body.get("n", 1) for seen in server.requests] == calls
        assert len({choice.text for choice in done.choices}) == 3


def test_auto_finds_out_that_a_server_refuses_n():
    def refuse(body):
        return (400, {"message": "n > 1 is not supported"}) if body.get("n", 1) > 1 else None

    with FakeServer(refuse=refuse) as server:
        llm = make_openai(server.base_url)
        ask(llm, request(seeds=(1, 2)))
        ask(llm, request(seeds=(3, 4)))
        assert [seen.body.get("n", 1) for seen in server.requests] == [2, 1, 1, 1, 1]
        with pytest.raises(ConfigError, match="n > 1 is not supported"):
            ask_one(make_openai(server.base_url, n_per_request=True), request(seeds=(1, 2)))


def test_at_temperature_0_one_sample_stands_for_all():
    with FakeServer() as server:
        done = ask_one(make_openai(server.base_url), request(seeds=(1, 2, 3), temperature=0.0))
        assert len(server.requests) == 1
        assert "n" not in server.requests[0].body
    assert len(done.choices) == 3
    assert len(set(done.choices)) == 1


def test_tool_calls_come_as_the_model_wrote_them():
    def answer(body, index):
        calls = [
            {"id": "c1", "type": "function", "function": {"name": "bo ok", "arguments": "{oops"}},
            {"type": "function", "function": {"name": "book", "arguments": {"a": 1}}},
        ]
        return {"role": "assistant", "content": None, "tool_calls": calls}

    with FakeServer(answer) as server:
        choice = ask_one(make_openai(server.base_url), request(tools=(TOOL,))).choices[0]
    assert choice.text == ""
    assert choice.finish_reason == "tool_calls"
    assert choice.tool_calls == (
        ToolUse("c1", "bo ok", "{oops"),
        ToolUse("call_1", "book", '{"a": 1}'),
    )


def test_what_servers_refuse_in_a_history_is_made_readable():
    use = ToolUse("c1", "no such tool!", "{oops")
    with FakeServer() as server:
        history = (Message("user", "hi"), Message("assistant", "well", tool_calls=(use,)))
        ask_one(make_openai(server.base_url), request(messages=history))
        sent = server.requests[0].body["messages"][1]
    assert sent["content"] == "well"
    function = sent["tool_calls"][0]["function"]
    assert function["name"] == "no_such_tool_"
    assert json.loads(function["arguments"]) == {"unreadable": "{oops"}


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("\x00\x1b[31m\u202e", "\x00\x1b[31m\u202e"),
        ("half \ud83d", "half \ufffd"),
        ("pair \ud83d\ude00", "pair \U0001f600"),
        ("  \n ", "  \n "),
        (HUGE, HUGE),
        ("", ""),
    ],
)
def test_any_text_is_kept_as_data_that_can_be_written(said, kept):
    with FakeServer(lambda body, index: said) as server:
        text = ask_one(make_openai(server.base_url)).choices[0].text
    assert text == kept
    text.encode()


def test_half_a_character_in_a_prompt_does_not_stop_it():
    with FakeServer() as server:
        ask_one(make_openai(server.base_url), request("half \ud83d"))
        assert server.requests[0].body["messages"][0]["content"] == "half \ufffd"


def test_wrong_tools_and_huge_replies_are_answers_not_faults():
    with FakeServer(fault=in_turn("wrong_tool")) as server:
        done = ask_one(make_openai(server.base_url))
    assert done.choices[0].tool_calls[0].name == "no such"
    assert done.retries == 0
    with FakeServer(fault=in_turn("huge")) as server:
        done = ask_one(make_openai(server.base_url))
    assert len(done.choices[0].text) == 2 * 2**20
    assert done.retries == 0


@pytest.mark.parametrize(
    ("told", "meant"),
    [("length", "length"), ("content_filter", "content_filter"), ("eos", "stop"), (None, "stop")],
)
def test_why_a_text_ends_is_told_in_our_words(told, meant):
    with FakeServer(lambda body, index: {"content": "x", "finish_reason": told}) as server:
        assert ask_one(make_openai(server.base_url)).choices[0].finish_reason == meant


def test_a_refusal_of_the_model_is_its_text():
    with FakeServer(lambda body, index: {"content": None, "refusal": "I will not"}) as server:
        assert ask_one(make_openai(server.base_url)).choices[0].text == "I will not"


def test_a_vllm_server_gives_exact_tokens():
    with FakeServer() as server:
        llm = make_openai(server.base_url, "openai/vllm")
        done = ask_one(llm, request(seeds=(1, 2)))
        body = server.requests[0].body
    assert body["return_token_ids"] is True
    assert body["logprobs"] is True
    assert done.choices[0].sampled == Sampled((1, 2, 3), (10, 11), (-0.5, -0.5))
    assert done.choices[1].sampled == Sampled((1, 2, 3), (11, 11), (-0.5, -0.5))


def test_a_server_without_token_ids_is_refused_where_they_are_wanted():
    with FakeServer(gives_tokens=False) as server:
        llm = make_openai(server.base_url, return_tokens=True)
        with pytest.raises(ConfigError, match=r"llm\.return_tokens=true.*token ids"):
            ask_one(llm)


def test_azure_has_its_deployment_and_version_in_the_address():
    with FakeServer() as server:
        endpoint = server.base_url.removesuffix("/v1")
        llm = make("openai/azure", base_url=endpoint, api_key_env=None, model="mine")
        ask_one(llm)
        assert server.requests[0].target == (
            "/openai/deployments/mine/chat/completions?api-version=2024-10-21"
        )
        assert "api-key" in server.requests[0].headers


def test_identity_tells_apart_what_answers_apart(monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    identities = [
        make("openai").identity,
        make("openai", model="other").identity,
        make("openai", base_url="http://127.0.0.1:1/v1").identity,
        make("openai", extra_body={"reasoning_effort": "low"}).identity,
        make("openai", return_tokens=True).identity,
    ]
    assert len({json.dumps(dict(identity)) for identity in identities}) == len(identities)
    assert identities[0]["base_url"] == "https://api.openai.com/v1"
    assert make("openai", base_url="http://127.0.0.1:1/v1/").identity == identities[2]


def test_one_object_serves_several_event_loops():
    with FakeServer() as server:
        llm = make_openai(server.base_url)
        first, second = ask_one(llm), ask_one(llm)
        assert first.choices == second.choices

        async def twice_without_a_close_between():
            texts = [(await llm.complete(request())).choices[0].text for _ in range(2)]
            await llm.close()
            return [*texts, (await llm.complete(request())).choices[0].text]

        async def all_closed():
            texts = await twice_without_a_close_between()
            await llm.close()
            return texts

        assert set(asyncio.run(all_closed())) == {first.choices[0].text}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": " "}, r"llm\.model=' ' must name"),
        ({"base_url": "127.0.0.1:8000"}, r"llm\.base_url=127.*must be an address"),
        ({"base_url": "http://h/v1?x=1"}, r"llm\.base_url=.*without query"),
        ({"base_url": "http://[::1"}, r"llm\.base_url="),
        ({"timeout_s": 0.0}, r"llm\.timeout_s=0\.0 must be positive"),
        ({"max_attempts": 0}, r"llm\.max_attempts=0 must be at least 1"),
        ({"retry_s": 0.0}, r"llm\.retry_s=0\.0 must lie"),
        ({"max_concurrency": 0}, r"llm\.max_concurrency=0 must be at least 1"),
        ({"extra_body": {"temperature": 0}}, r"llm\.extra_body\.temperature=0 is set elsewhere"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_once(settings, message):
    with pytest.raises(ConfigError, match=message):
        make("openai", **settings)


def test_azure_without_an_address_says_where_to_put_it(monkeypatch):
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT", raising=False)
    with pytest.raises(ConfigError, match="AZURE_OPENAI_ENDPOINT"):
        ask_one(make("openai/azure", api_key_env=None))
