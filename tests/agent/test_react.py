"""The text in which agents act: what is read from it, and that nothing breaks the reading."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drl.agent._react import MARK, parse, parse_last, read, render_call, render_reply
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


CALL = 'APICALL {"name": "a", "parameters": {}}'


@pytest.mark.parametrize(
    "invented",
    [
        f' {MARK} APIRETURN [{{"x": 1}}] {MARK} SPEAK I found x. {MARK}',
        f" {MARK}\n\nAPIRETURN []\nSPEAK Nothing.",
        f" {MARK} user: APIRETURN [] {MARK} {CALL} {MARK}",
        f"\nAPIRETURN [] {MARK} SPEAK Nothing. {MARK}",
        f" {MARK} SPEAK I am sure that it worked. {MARK}",
    ],
)
def test_what_a_model_makes_up_after_its_call_is_not_read(invented):
    text = f"PLAN look {MARK} {CALL}"
    reading = read(text + invented)
    assert (reading.step.calls, reading.step.reply) == ((ToolCall("a", {}),), None)
    assert (text + invented)[: reading.end].strip().removesuffix(MARK).strip() == text


def test_a_reply_upon_a_made_up_return_is_refused():
    step = parse(f"PLAN look {MARK} APIRETURN [1] {MARK} SPEAK There is one. {MARK}")
    assert (step.calls, step.reply, step.plan) == ((), None, "look")
    assert step.results[0].error is not None


def test_a_plan_may_speak_of_returns():
    step = parse(f"PLAN The APIRETURN is empty, so I SPEAK. {MARK} SPEAK Nothing fits. {MARK}")
    assert step.reply == "Nothing fits."


def test_words_between_commands_are_no_commands():
    step = parse(f"{CALL} {MARK}\n\nPlease wait for the response... {MARK} {CALL} {MARK}")
    assert len(step.calls) == 2


def test_a_colon_may_follow_a_keyword():
    assert parse(f"PLAN: greet {MARK} SPEAK: hello {MARK}").reply == "hello"
    assert parse(render_reply("", ": hello")).reply == ": hello"


@pytest.mark.parametrize(
    ("text", "reply", "plan"),
    [
        (f"PLAN p {MARK} SPEAK hi {MARK}", "hi", "p"),
        ("Your train leaves at nine.", "Your train leaves at nine.", ""),
        (f"PLAN p {MARK} Your train leaves at nine. {MARK}", "Your train leaves at nine.", "p"),
        ("PLAN p\nSPEAK hi", "hi", "p"),
        ("Sure! SPEAK hi", "hi", ""),
        (f"PLAN p {MARK} {CALL} {MARK} SPEAK hi {MARK}", "hi", "p"),
        (f"PLAN I SPEAK to them {MARK}", None, "I SPEAK to them"),
        (f"PLAN p {MARK} {CALL} {MARK}", None, "p"),
        ('{"name": "a", "parameters": {}}', None, ""),
        (" \n ", None, ""),
        (f"SPEAK {MARK}", None, ""),
    ],
)
def test_an_output_that_has_to_be_a_reply_is_read_leniently(text, reply, plan):
    step = parse_last(text)
    assert (step.reply, step.plan, step.calls, step.text) == (reply, plan, (), text)


@given(TEXTS)
def test_the_last_output_never_calls_and_never_says_nothing(text):
    step = parse_last(text)
    assert step.calls == ()
    assert step.reply is None or step.reply.strip()


def test_what_no_file_could_hold_is_refused():
    deep = "[" * 60 + "]" * 60
    for value in (deep, "9" * 200):
        body = f'{{"name": "a", "parameters": {{"x": {value}}}}}'
        assert parse(f"APICALL {body} {MARK}").results[0].error
