"""Tool calls in the text of open models."""

import pytest

from drl.llm._hf_tool_calls import read_tool_calls
from drl.llm.base import ToolUse


def calls(text: str) -> tuple[str, list[tuple[str, str]]]:
    rest, uses = read_tool_calls(text)
    assert [use.id for use in uses] == [f"call_{n}" for n in range(len(uses))]
    return rest, [(use.name, use.arguments) for use in uses]


def test_hermes_calls_are_taken_out_of_the_text():
    text = (
        "Let me look.\n<tool_call>\n"
        '{"name": "find", "arguments": {"area": "n\u00f6rth"}}\n</tool_call>\n'
        '<tool_call>{"name": "book", "arguments": {}}</tool_call>'
    )
    rest, found = calls(text)
    assert rest == "Let me look."
    assert found == [("find", '{"area": "n\u00f6rth"}'), ("book", "{}")]


def test_a_call_that_is_cut_off_keeps_its_raw_arguments():
    rest, found = calls('<tool_call>{"name": "find", "arguments": {"area": "no')
    assert rest == ""
    assert found == [("find", '{"area": "no')]


def test_arguments_that_are_no_json_stay_raw():
    _, found = calls('<tool_call>{"name": "find", "arguments": {area: north}}</tool_call>')
    assert found == [("find", "{area: north}")]


def test_llama_calls_are_the_whole_text():
    text = '{"name": "find", "parameters": {"x": 1}}; {"name": "book", "parameters": {}}'
    assert calls(text) == ("", [("find", '{"x": 1}'), ("book", "{}")])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "{}",
        '{"name": "find"}',
        '{"name": 3, "arguments": {}}',
        "[1, 2]",
        '{"a": 1} and more',
        '{"name": "find", "parameters": {"x": 1}} is what I would call',
        "<tool_call>well</tool_call>",
        "[" * 100_000,
    ],
)
def test_what_is_no_call_stays_text(text):
    assert read_tool_calls(text) == (text, ())


def test_arguments_that_are_already_text_stay_as_they_are():
    text = '{"name": "find", "arguments": "{\\"x\\": 1}"}'
    assert read_tool_calls(text) == ("", (ToolUse("call_0", "find", '{"x": 1}'),))
