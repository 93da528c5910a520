"""ReAct and Act in the form of tau-bench: what is written, read, handed back and learned."""

import json
import re
from dataclasses import replace

import pytest
from agent.react_agents import CUSTOMER, TAU_STYLES, TOOLBOX, act, chat, react, situation
from mining.forest import agent_of

from drl.agent.react import ReactAgent
from drl.runtime.prompts import fill
from drl.types import Role, Step, ToolCall, ToolResult, Turn

ORDER = ToolCall("get_order", {"order_id": "#W1"})
CALL = 'Thought:\nLook it up.\nAction:\n{"name": "get_order", "arguments": {"order_id": "#W1"}}'
REPLY = 'Thought:\nTell.\nAction:\n{"name": "respond", "arguments": {"content": "It is sent."}}'


def shown(*steps: Step, style: str = "tau") -> list[tuple[str, str]]:
    """What the next request shows after the customer's words."""
    return chat(react(style).request(situation(steps=steps)))[1:]


def test_an_output_is_a_thought_and_a_call_or_the_reply():
    assert act(CALL, style="tau") == Step(CALL, "Look it up.", (ORDER,))
    assert act(REPLY, style="tau") == Step(REPLY, "Tell.", reply="It is sent.")


def test_what_a_tool_gave_comes_back_as_text_after_the_words_of_tau_bench():
    gave = ('{"status": "sent"}', "Error: order not found", "")
    for text in gave:
        step = Step(CALL, calls=(ORDER,), results=(ToolResult(text),))
        assert shown(step) == [("assistant", CALL), ("user", f"API output: {text}")]
    rows = Step(CALL, calls=(ORDER,), results=(ToolResult([{"name": "é"}]),))
    assert shown(rows)[1] == ("user", 'API output: [{"name": "\\u00e9"}]')
    failed = Step(CALL, calls=(ORDER,), results=(ToolResult(None, "no such tool"),))
    assert shown(failed)[1] == ("user", "API output: Error: no such tool")


@pytest.mark.parametrize("style", TAU_STYLES)
@pytest.mark.parametrize(
    ("text", "reply"),
    [
        ("Your order is sent.", "Your order is sent."),
        ("Thought:\nI just answer.", "Thought:\nI just answer."),
        ("Thought:\nx\nAction:\nYour order is sent.", "Your order is sent."),
        ('Action:\n{"name": respond, "arguments": {}}', '{"name": respond, "arguments": {}}'),
        (f"{CALL} and more", '{"name": "get_order", "arguments": {"order_id": "#W1"}} and more'),
    ],
)
def test_what_is_no_json_object_after_the_last_action_is_said_as_it_stands(style, text, reply):
    step = act(text, style=style)
    assert (step.calls, step.reply) == ((), reply)


def test_of_several_actions_the_last_counts():
    step = act(f"{CALL}\nAPI output: {{}}\n{REPLY}", style="tau")
    assert step.reply == "It is sent."


@pytest.mark.parametrize(
    "action",
    [
        *("{}", '{"name": "get_order"}', '{"name": 1, "arguments": {}}'),
        *('{"name": "x", "arguments": "#W1"}', '{"name": "respond", "arguments": {}}'),
        *('{"name": "respond", "arguments": {"content": " "}}', ""),
    ],
)
def test_an_object_that_is_no_action_is_handed_back_as_an_error(action):
    step = act(f"Thought:\nx\nAction:\n{action}", style="tau")
    assert (step.calls, step.reply) == ((), None)
    assert shown(step)[1][1].startswith("API output: Error: nothing was done: ")


def test_the_system_prompt_holds_the_tools_as_json_on_one_line_and_examples_that_read_as_meant():
    for style in TAU_STYLES:
        system = react(style).request(situation()).messages[0].content
        assert json.dumps([spec.to_openai() for spec in TOOLBOX.specs]) in system.split("\n")
        examples = re.findall(r"^Action:\n(\{\"name\": \".*)$", system, re.MULTILINE)
        assert [json.loads(line)["name"] for line in examples] == ["get_opening_hours", "respond"]
        assert ("Thought:" in system) == (style == "tau")


def test_the_last_request_asks_for_a_reply_and_a_call_is_none():
    due = situation(steps=(Step(CALL, calls=(ORDER,), results=(ToolResult("x"),)),))
    due = replace(due, must_reply=True)
    note = fill("drl.agent", "tau_last.md")
    assert chat(react("tau").request(due))[-1] == ("user", f"API output: x\n\n{note}")
    assert act(CALL, due, "tau").reply is None
    assert act(REPLY, due, "tau").reply == "It is sent."
    assert act("It is sent.", due, "tau").reply == "It is sent."


def test_a_foreign_step_is_written_with_its_thought_on_one_line_or_without_one():
    step = Step("?", "First\nlook.", (ORDER,), (ToolResult("x"),), reply="Action: done")
    call, reply = react("tau").rewrite(step, TOOLBOX)
    assert call.text == (
        'Thought:\nFirst look.\nAction:\n{"name": "get_order", "arguments": {"order_id": "#W1"}}'
    )
    assert act(reply.text, style="tau").reply == "Action: done"
    assert react("act").rewrite(step, TOOLBOX)[0].text == (
        'Action:\n{"name": "get_order", "arguments": {"order_id": "#W1"}}'
    )


def test_words_that_were_put_in_are_shown_as_the_action_respond():
    turn = Turn(Role.AGENT, "Sorry.", (Step(CALL, reply="Sorry."),))
    assert chat(react("tau").request(situation(CUSTOMER, turn)))[-1] == (
        "assistant",
        'Action:\n{"name": "respond", "arguments": {"content": "Sorry."}}',
    )


@pytest.mark.parametrize(("option", "style"), [("react/tau", "tau"), ("react/act", "act")])
def test_the_presets_have_the_limits_of_tau_bench(option, style):
    agent = agent_of(option)
    assert isinstance(agent, ReactAgent)
    assert (agent.style, agent.max_tool_calls, agent.temperature) == (style, 30, 0.0)
    assert not agent.explores
