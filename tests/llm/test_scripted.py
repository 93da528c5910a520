"""A model that says what its config says."""

import json
from collections import Counter
from contextlib import suppress

import pytest

from drl.errors import ConfigError
from drl.llm.base import Message, OutageError, Sampling, ToolUse
from drl.types import ToolSpec
from tests.llm.asking import ask_one, make, request

TOOL = ToolSpec("book", "books", {"type": "object"})
BOOK = {"text": "Booking.", "calls": [{"name": "book", "arguments": {"name": "x"}}]}


def texts_of(llm, *args, **more):
    return [choice.text for choice in ask_one(llm, request(*args, **more)).choices]


def test_an_answer_depends_on_prompt_and_seed_and_repeats():
    llm = make("scripted", replies=[f"reply {number}" for number in range(100)])
    seeds = range(200)
    first = texts_of(llm, seeds=seeds)
    assert first == texts_of(
        make("scripted", replies=[f"reply {n}" for n in range(100)]), seeds=seeds
    )
    assert first != texts_of(llm, "other words", seeds=seeds)
    # 200 draws of 100 replies: about 100 * (1 - 0.99 ** 200) = 87 different ones
    assert 75 < len(set(first)) < 97


def test_at_temperature_0_the_seed_does_not_matter():
    llm = make("scripted", replies=list("abcdefgh"))
    assert len(set(texts_of(llm, seeds=range(20), temperature=0.0))) == 1


def test_in_order_of_turns_it_goes_through_its_replies_and_starts_anew():
    llm = make("scripted", replies=["one", "two"], order="turn")
    talk: list[Message] = []
    said = []
    for _ in range(3):
        talk.append(Message("user", "go on"))
        said += texts_of(llm, messages=tuple(talk))
        talk.append(Message("assistant", said[-1]))
    assert said == ["one", "two", "one"]


def test_it_calls_tools_only_where_it_may():
    llm = make("scripted", replies=[BOOK])
    called = ask_one(llm, request(tools=(TOOL,))).choices[0]
    assert called.text == "Booking."
    assert called.finish_reason == "tool_calls"
    assert called.tool_calls == (ToolUse("call_0", "book", json.dumps({"name": "x"})),)
    for silent in (request(), request(tools=(TOOL,), tool_choice="none")):
        choice = ask_one(llm, silent).choices[0]
        assert choice.tool_calls == ()
        assert choice.finish_reason == "stop"


def test_stop_strings_and_length_end_a_text():
    llm = make("scripted", replies=["one two  three four"])
    long = ask_one(llm, request(sampling=Sampling(1.0, max_tokens=3))).choices[0]
    assert (long.text, long.finish_reason) == ("one two  three", "length")
    stopped = ask_one(llm, request(sampling=Sampling(1.0, 9, stop=("four", " t")))).choices[0]
    assert (stopped.text, stopped.finish_reason) == ("one", "stop")


def test_words_are_counted_as_tokens():
    llm = make("scripted", replies=["one two three"])
    usage = ask_one(llm, request("four words go in", seeds=(1, 2))).usage
    assert (usage.tokens_in, usage.tokens_out) == (4, 6)


def test_faults_are_outages_that_a_later_attempt_may_not_meet():
    llm = make("scripted", fault_rate=0.5)
    needed = [attempts_until_answered(llm, request(f"task {number}")) for number in range(100)]
    # half of the calls fail: half of the tasks need one attempt, a quarter two
    counted = Counter(needed)
    assert counted[1] == pytest.approx(50, abs=17)
    assert counted[2] == pytest.approx(25, abs=15)


def test_an_outage_on_purpose_says_so():
    with pytest.raises(OutageError, match=r"llm\.fault_rate=1\.0"):
        ask_one(make("scripted", fault_rate=1.0))


def attempts_until_answered(llm, asked):
    for attempt in range(1, 50):
        with suppress(OutageError):
            ask_one(llm, asked)
            return attempt
    raise AssertionError("50 outages in a row")


def test_identity_tells_scripts_apart():
    assert make("scripted").identity == make("scripted").identity
    assert make("scripted").identity != make("scripted", replies=["x"]).identity
    assert make("scripted").identity != make("scripted", order="turn").identity


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"replies": []}, r"llm\.replies=\[\] must hold"),
        ({"replies": [{"cals": []}]}, r"llm\.replies\[0\]=.*cals"),
        ({"replies": [{"calls": [{"name": "x"}]}]}, r"llm\.replies\[0\]="),
        ({"latency_s": -1.0}, r"llm\.latency_s=-1\.0"),
        ({"fault_rate": 1.5}, r"llm\.fault_rate=1\.5"),
    ],
)
def test_a_script_that_cannot_be_played_is_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        make("scripted", **settings)
