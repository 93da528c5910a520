"""The text in which agents act: what is read from it, and that nothing breaks the reading."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drl.agent._react import MARK, parse, render_call, render_reply
from drl.types import ToolCall

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
PIECES = ["PLAN", "SPEAK", "APICALL", MARK, " ", "\\", "\n", '{"name": "a", "parameters": {}}', "é"]
TEXTS = st.text() | st.lists(st.sampled_from(PIECES)).map("".join)


@given(TEXTS)
def test_any_text_gives_a_step_that_acts_or_says_what_is_wrong(text):
    step = parse(text)
    assert step.text == text
    if not step.calls and step.reply is None:
        (result,) = step.results
        assert result.error is not None
        assert result.error.startswith("Nothing was done: ")


@given(TEXTS, TEXTS, st.dictionaries(TEXTS, JSON_VALUES, max_size=3))
def test_a_rendered_call_reads_as_the_call(plan, name, arguments):
    call = ToolCall(name, arguments)
    step = parse(render_call(plan, call))
    assert (step.plan, step.calls, step.reply) == (plan.strip(), (call,), None)


@given(TEXTS, TEXTS.filter(str.strip))
def test_a_rendered_reply_reads_as_the_reply(plan, text):
    step = parse(render_reply(plan, text))
    assert (step.plan, step.calls, step.reply) == (plan.strip(), (), text.strip())


def test_keywords_inside_text_are_text():
    step = parse(f"PLAN then SPEAK or APICALL {MARK} SPEAK I PLAN to SPEAK {MARK}")
    assert step.plan == "then SPEAK or APICALL"
    assert step.reply == "I PLAN to SPEAK"


def test_a_keyword_must_be_a_whole_word_at_the_start_of_a_command():
    assert parse(f"SPEAKER on {MARK}").reply is None
    assert parse(f"Sure! SPEAK hello {MARK}").reply is None


def test_json_escapes_survive():
    body = json.dumps({"name": "search_hotel", "parameters": {"name": 'a "b" \\ \n é'}})
    (call,) = parse(f"APICALL {body} {MARK}").calls
    assert call.arguments["name"] == 'a "b" \\ \n é'


def test_several_calls_are_kept_in_order():
    first, second = ToolCall("a", {"x": 1}), ToolCall("b", {})
    assert parse(render_call("p", first) + render_call("", second)).calls == (first, second)


def test_the_last_command_needs_no_end():
    assert parse(f"PLAN greet {MARK} SPEAK hello").reply == "hello"


def test_speaking_ends_the_output():
    step = parse(f'SPEAK done {MARK} APICALL {{"name": "a", "parameters": {{}}}} {MARK}')
    assert (step.reply, step.calls) == ("done", ())


@pytest.mark.parametrize(
    ("body", "cause"),
    [
        ("search_hotel(area=north)", "cannot be read"),
        ('{"name": "a", "parameters": {}', "cannot be read"),
        ('["a"]', "one JSON object"),
        ('{"parameters": {}}', '"name" must be a string'),
        ('{"name": "a", "parameters": []}', '"parameters" must be an object'),
        ('{"name": "a"}', '"parameters" must be an object'),
        ('{"name": "a", "parameters": {"x": NaN}}', "NaN is not a JSON value"),
        ('{"name": "a", "parameters": {"x": 1e999}}', "too large"),
        ('{"name": "a", "parameters": {"x": "\\ud800"}}', "surrogates"),
        ("[" * 100_000, "recursion"),
    ],
)
def test_a_malformed_call_is_refused_and_says_why(body, cause):
    good = render_call("", ToolCall("b", {}))
    step = parse(good + f"APICALL {body} {MARK}")
    assert (step.calls, step.reply) == ((), None)
    assert step.results[0].error is not None
    assert "APICALL 2" in step.results[0].error
    assert cause in step.results[0].error


def test_saying_nothing_is_refused():
    error = parse(f"PLAN silence {MARK} SPEAK {MARK}").results[0].error
    assert error is not None
    assert "SPEAK has no text" in error
