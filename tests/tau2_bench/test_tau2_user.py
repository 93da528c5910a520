"""The customer that speaks through a model and has tools of its own."""

import asyncio
import json
from dataclasses import replace

import pytest
from scripted_llm import ScriptedLLM, says, uses

from drl.errors import ConfigError, DialogueError
from drl.llm.base import Completion
from drl.types import Brief, Role, Step, Toolbox, ToolCall, ToolResult, ToolSpec, Turn
from drl.user_simulator.base import Encounter
from drl.user_simulator.tau2 import Tau2UserSimulator

USER = Tau2UserSimulator(
    temperature=0.0,
    top_p=None,
    top_k=None,
    max_tokens=100,
    retries=1,
    stop="###STOP###",
    transfer="###TRANSFER###",
    out_of_scope="###OUT-OF-SCOPE###",
)
PHONE = Toolbox((ToolSpec("look", "Looks.", {"type": "object", "properties": {}}),))
GREETING = Turn(Role.AGENT, "Hello, how can I help?")
BRIEF = Brief(("Your radio is silent.",))


def meet(*history: Turn, **settings) -> Encounter:
    return replace(Encounter(BRIEF, history, seed=1, toolbox=PHONE), **settings)


def speak(encounter: Encounter, llm: ScriptedLLM) -> Turn:
    return asyncio.run(USER.speak(encounter, llm))


def test_its_model_is_told_the_scenario_the_marks_and_the_tools():
    llm = says("It is silent.")
    turn = speak(meet(GREETING), llm)
    assert turn == Turn(Role.USER, "It is silent.", (Step("It is silent.", reply="It is silent."),))
    (request,) = llm.requests
    system, heard = request.messages
    assert "Your radio is silent." in system.content
    for mark in USER.endings:
        assert mark in system.content
    assert (heard.role, heard.content) == ("user", "Hello, how can I help?")
    assert (request.tools, request.tool_choice) == (PHONE.specs, "auto")


def test_a_call_is_part_of_a_turn_and_comes_back_with_its_result():
    llm = says(uses(("look", '{"where": "front"}'), text="let me see"))
    part = speak(meet(GREETING), llm)
    (step,) = part.steps
    assert part.text is None
    assert (step.plan, step.calls) == ("let me see", (ToolCall("look", {"where": "front"}),))
    looked = replace(step, results=(ToolResult("a red light"),))
    llm = says("It shows a red light.")
    speak(meet(GREETING, steps=(looked,)), llm)
    *_, asked, answer = llm.requests[0].messages
    assert asked.role == "assistant"
    assert [(use.name, json.loads(use.arguments)) for use in asked.tool_calls] == [
        ("look", {"where": "front"})
    ]
    assert (answer.role, answer.content) == ("tool", "a red light")
    assert answer.tool_call_id == asked.tool_calls[0].id


def test_it_remembers_what_it_did_in_earlier_turns_and_not_what_the_agent_did():
    looked = Step("", calls=(ToolCall("look", {}),) * 2, results=(ToolResult("on"), ToolResult(2)))
    own = Turn(Role.USER, "It is on.", (looked, Step("It is on.", reply="It is on.")))
    llm = says("Still silent.")
    speak(meet(GREETING, own, Turn(Role.AGENT, "Turn it up.")), llm)
    roles = [message.role for message in llm.requests[0].messages]
    assert roles == ["system", "user", "assistant", "tool", "tool", "assistant", "user"]
    ids = [m.tool_call_id for m in llm.requests[0].messages if m.role == "tool"]
    assert len(set(ids)) == 2


@pytest.mark.parametrize(
    "arguments",
    [
        "front",
        "[]",
        '{"where": NaN}',
        '{"where": "\\ud800"}',  # half a character, which no file can hold
        '{"where":' * 60 + "1" + "}" * 60,
    ],
)
def test_arguments_that_cannot_be_read_or_kept_come_back_as_an_error(arguments):
    part = speak(meet(GREETING), says(uses(("look", arguments), ("look", "{}"))))
    (step,) = part.steps
    assert step.calls == ()
    assert "the arguments of look cannot be read" in str(step.results[0].error)
    llm = says("Fine.")
    speak(meet(GREETING, steps=(step,)), llm)
    assert "the arguments of look cannot be read" in llm.requests[0].messages[-1].content


def test_an_answer_too_long_for_a_turn_is_asked_for_again():
    llm = says(uses(("look", f'{{"where": "{"x" * 30_000}"}}')), "y" * 30_000)
    with pytest.raises(DialogueError, match="gave nothing usable in 2 tries"):
        speak(meet(GREETING), llm)


@pytest.mark.parametrize("mark", ["###STOP###", "###TRANSFER###", "###OUT-OF-SCOPE###"])
def test_any_mark_hangs_up(mark):
    assert speak(meet(GREETING), says(f"Thanks. {mark}")).hangs_up
    assert not speak(meet(GREETING), says(f"Thanks. {mark[1:]}")).hangs_up


def test_an_empty_answer_is_asked_for_again_with_another_seed():
    llm = says("  ", "Hello.")
    assert speak(meet(GREETING), llm).text == "Hello."
    assert len({request.seeds for request in llm.requests}) == 2
    with pytest.raises(DialogueError, match="gave nothing usable in 2 tries"):
        speak(meet(GREETING), says(""))


def test_once_its_calls_are_used_up_it_has_to_speak():
    llm = says(uses(("look", "{}")), Completion("It is on.", "stop"))
    assert speak(meet(GREETING, must_speak=True), llm).text == "It is on."
    assert llm.requests[0].tool_choice == "none"


def test_without_a_greeting_and_without_tools_it_begins_all_the_same():
    llm = says("Hello?")
    speak(meet(toolbox=None), llm)
    assert [message.role for message in llm.requests[0].messages] == ["system", "user"]
    assert llm.requests[0].tools == ()


def test_a_mark_that_everybody_says_is_refused():
    with pytest.raises(ConfigError, match=r"user_simulator\.transfer=' ' would end every dialogue"):
        replace(USER, transfer=" ")
