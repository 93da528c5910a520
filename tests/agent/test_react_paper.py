"""The paper's style: josh-train's reading, error texts, messages and limit of requests."""

import asyncio
from dataclasses import replace

import pytest
from scripted import ScriptedUser, cast_of, task_of
from scripted_llm import says

from drl.agent.base import Situation
from drl.agent.react import ReactAgent
from drl.llm.base import Completion
from drl.rollout.single import SingleRollout
from drl.types import Role, Step, Toolbox, ToolCall, ToolResult, ToolSpec, Turn

AGENT = ReactAgent(
    **{"style": "paper", "temperature": 1.0, "top_p": None, "top_k": None},
    **{"max_tokens": 256, "max_tool_calls": 3, "limit_on": "requests"},
)
TOOLBOX = Toolbox(tuple(ToolSpec(name, name, {"type": "object"}) for name in ("a", "b")))
CALL = 'PLAN p <COMMAND_END> APICALL {"name": "a", "parameters": {}} <COMMAND_END>'
A = ToolCall("a", {})


def situation(*steps: Step, must_reply: bool = False) -> Situation:
    return Situation((Turn(Role.USER, "hi"),), steps, TOOLBOX, 1, must_reply)


def read(text: str) -> Step:
    return AGENT.read(Completion(text, "stop"), situation())


def told(*steps: Step) -> list[tuple[str, str]]:
    """What the next request shows of these steps."""
    return [(m.role, m.content) for m in AGENT.request(situation(*steps)).messages[2:]]


def test_keywords_count_anywhere_and_markers_line_breaks_and_backslashes_are_dropped():
    step = read("PLAN greet\nthem SPEAK he\\llo\nthere <COMMAND_END>")
    assert (step.plan, step.reply) == ("greetthem", "hellothere")


def test_json_runs_from_the_first_brace_to_the_last():
    step = read('APICALL call this: {"name": "a", "parameters": {}} and wait')
    assert step.calls == (A,)


@pytest.mark.parametrize(
    "body", ['{"name": "a"', '{"name": "c", "parameters": {}}', '{"parameters": {}}', "a()"]
)
def test_a_malformed_call_or_an_unknown_name_fails_in_its_words(body):
    step = read(f"PLAN p APICALL {body}")
    assert step.calls == ()
    assert told(step) == [
        ("assistant", f"PLAN p APICALL {body}"),
        ("user", 'APIRETURN "FAILURE INCORRECTLY FORMATTED APICALL"'),
    ]


def test_an_output_without_a_command_is_replaced_by_an_error():
    assert told(read("Hello there!")) == [("assistant", "ERROR: NO COMMAND FOUND")]


def test_an_output_with_only_a_plan_leaves_no_trace():
    assert told(read("PLAN nothing")) == []


def test_results_come_as_json_in_ascii_in_the_customers_role():
    step = replace(read(CALL), results=(ToolResult([{"name": "é"}]),))
    assert told(step) == [("assistant", CALL), ("user", 'APIRETURN [{"name": "\\u00e9"}]')]


def test_an_error_of_the_environment_is_told_as_it_returned_it():
    step = replace(read(CALL), results=(ToolResult("ERROR: INVALID API CALL! x", error="x"),))
    assert told(step)[1] == ("user", 'APIRETURN "ERROR: INVALID API CALL! x"')


def test_several_commands_all_count_and_are_recorded_by_turns():
    step = read(f"{CALL} SPEAK done")
    assert (step.calls, step.reply) == ((A,), "done")
    assert told(replace(step, results=(ToolResult([]),))) == [
        ("assistant", CALL),
        ("user", "APIRETURN []"),
        ("assistant", "PLAN p <COMMAND_END> SPEAK done <COMMAND_END>"),
    ]


def test_three_requests_without_a_reply_end_the_turn_with_an_error():
    llm = says(f"{CALL} {CALL}", "Hello!", CALL)
    cast = replace(cast_of(AGENT, ScriptedUser(ends_at=1)), llm=llm)
    rollout = SingleRollout(max_steps=1, max_calls=None, concurrency=1)
    tree = asyncio.run(rollout.run(task_of("x"), 0, cast))
    turn = tree.nodes[1].turn
    assert len(llm.requests) == 3
    assert turn.text == turn.steps[-1].text == "Error: Agent ran out of retries."


def test_the_limit_counts_requests_whatever_they_hold():
    known = situation(*[replace(read(CALL), results=(ToolResult([]),))] * 3, must_reply=True)
    llm = says(CALL)
    step = asyncio.run(AGENT.act(known, llm))
    assert step.reply == "Error: Agent ran out of retries."
    assert llm.requests == []
    assert AGENT.counts_steps


def test_the_tools_are_told_as_json():
    prompt = AGENT.request(situation()).messages[0].content
    assert '"type": "function"' in prompt
