"""The agent that writes ReAct text: what it asks its model, and how it reads the answers."""

import asyncio
import re
from dataclasses import replace

import pytest
from agent.react_agents import CALL, CUSTOMER, REPLY, STYLES, act, chat, react, situation
from scripted_llm import says

from drl.agent._react import MARK, parse
from drl.errors import ConfigError
from drl.llm.base import Completion
from drl.play.moves import OUT_OF_CALLS
from drl.runtime.prompts import fill
from drl.types import Place, Role, Sampled, Step, ToolCall, ToolResult, Turn


def test_the_model_is_asked_once_with_the_settings_the_seed_and_the_place():
    llm = says(REPLY)
    agent = react(top_p=0.9, top_k=40, max_tokens=99, temperature=0.5)
    asyncio.run(agent.act(situation(place=Place("t", 2, 5)), llm))
    (request,) = llm.requests
    sampling = request.sampling
    assert (sampling.temperature, sampling.top_p, sampling.top_k) == (0.5, 0.9, 40)
    assert (sampling.max_tokens, request.seeds, request.purpose) == (99, (7,), "agent")
    assert request.place == Place("t", 2, 5)
    assert request.tools == ()


def test_the_dialogue_is_told_in_its_own_words_with_results_as_the_customers_messages():
    done = Turn(
        Role.AGENT,
        "There is one.",
        (
            Step(CALL, calls=(ToolCall("search_hotel", {}),), results=(ToolResult([{"a": "é"}]),)),
            Step(REPLY, reply="There is one."),
        ),
    )
    failed = Step(CALL, calls=(ToolCall("search_hotel", {}),), results=(ToolResult(None, "no"),))
    request = react().request(situation(CUSTOMER, done, CUSTOMER, steps=(failed,)))
    assert chat(request) == [
        ("user", "A hotel in the north, please."),
        ("assistant", CALL),
        ("user", 'APIRETURN [{"a": "é"}]'),
        ("assistant", REPLY),
        ("user", "A hotel in the north, please."),
        ("assistant", CALL),
        ("user", 'APIRETURN {"error": "no"}'),
    ]


@pytest.mark.parametrize("style", STYLES)
def test_what_a_step_adds_to_the_prompt_never_changes_what_stands_before(style):
    first = situation()
    text = "CALL {}" if style == "compact" else CALL
    step = replace(act(text, first, style), results=(ToolResult([]),))
    later = react(style).request(situation(steps=(step,)))
    before = react(style).request(first)
    assert later.messages[: len(before.messages)] == before.messages


def test_the_prompt_lists_tools_with_parameters_choices_and_known_values_unless_there_are_many():
    prompt = react().request(situation()).messages[0].content
    assert "search_hotel: Finds a hotel\n  area (required): Where; one of north, south\n" in prompt
    assert "\n  name: Name\n" in prompt
    assert "\n  type: known values are hotel, inn\n" in prompt
    assert "\n  stars: integer; How good\n" in prompt


def test_examples_use_the_tools_on_offer_or_say_that_they_do_not():
    prompt = react().request(situation()).messages[0].content
    assert "find_book" in prompt
    assert "library" in prompt


@pytest.mark.parametrize("name", ["react_examples.md", "react_examples_elsewhere.md"])
def test_every_example_of_the_prompt_reads_as_a_plan_and_one_action(name):
    outputs = re.findall(r"^you: (.*)$", fill("drl.agent", name), re.MULTILINE)
    assert len(outputs) >= 5
    for output in outputs:
        step = parse(output)
        assert step.plan
        assert (len(step.calls) == 1) != (step.reply is not None), output


def test_text_and_tokens_of_a_step_are_exactly_the_models():
    sampled = Sampled((1, 2), (3,), (-0.5,))
    text = f"\n PLAN  a\\{MARK}b {MARK}\nSPEAK  hi  \\n {MARK} \n"
    step = act(Completion(text, "stop", sampled=sampled))
    assert (step.text, step.sampled, step.reply) == (text, sampled, "hi  \\n")
    assert step.plan == f"a{MARK}b"


@pytest.mark.parametrize("must_reply", [False, True])
def test_a_step_tells_whether_a_limit_of_tokens_ended_it(must_reply):
    known = situation(must_reply=must_reply)
    assert act(Completion(REPLY[:20], "length"), known).is_cut
    assert not act(Completion(REPLY[:20], "stop"), known).is_cut


def test_what_was_made_up_after_a_call_is_not_shown_again():
    text = f"{CALL}\nAPIRETURN [] {MARK} SPEAK None. {MARK}"
    step = replace(act(text), results=(ToolResult([1]),))
    assert step.text == text
    assert chat(react().request(situation(steps=(step,))))[-2:] == [
        ("assistant", CALL),
        ("user", "APIRETURN [1]"),
    ]


def test_the_last_request_says_that_a_reply_is_due():
    step = replace(act(CALL), results=(ToolResult([]),))
    *_, last = chat(react().request(situation(steps=(step,), must_reply=True)))
    assert last[0] == "user"
    assert last[1].startswith("APIRETURN []\n\n(No more calls")


def test_when_a_reply_is_due_calls_are_ignored_and_any_text_is_a_reply():
    due = situation(must_reply=True)
    assert act(CALL, due).reply is None
    assert act(CALL, due).calls == ()
    assert act("It leaves at nine.", due).reply == "It leaves at nine."
    assert act("It leaves at nine.", due, "compact").reply == "It leaves at nine."
    assert act('CALL {"a":{}}', due, "compact").reply is None


def test_a_reply_that_was_put_in_is_shown_as_said():
    step = Step(CALL, reply=OUT_OF_CALLS)
    turn = Turn(Role.AGENT, OUT_OF_CALLS, (step,))
    assert chat(react().request(situation(CUSTOMER, turn)))[-1] == (
        "assistant",
        f"SPEAK {OUT_OF_CALLS} {MARK}",
    )
    assert chat(react("compact").request(situation(CUSTOMER, turn)))[-1] == (
        "assistant",
        f"SAY {OUT_OF_CALLS}",
    )


def test_calls_beyond_the_limit_are_said_not_to_have_run():
    step = act(f"{CALL} {CALL}")
    cut = replace(step, calls=step.calls[:1], results=(ToolResult([]),))
    (_, told) = chat(react().request(situation(steps=(cut,))))[-1]
    assert told == (
        'APIRETURN []\nAPIRETURN {"error": "not carried out: the calls of this turn were used up"}'
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"style": "loud"}, "agent.style=loud is unknown"),
        ({"limit_on": "words"}, "agent.limit_on=words is unknown"),
        ({"temperature": 2.5}, "agent.temperature=2.5 must lie in"),
        ({"top_p": 0.0}, "agent.top_p=0.0 must lie above 0"),
        ({"top_k": 0}, "agent.top_k=0 must be at least 1"),
        ({"max_tokens": 0}, "agent.max_tokens=0 must be at least 1"),
        ({"max_tool_calls": 0}, "agent.max_tool_calls=0 must be at least 1"),
    ],
)
def test_wrong_settings_are_refused_by_name(changes, words):
    with pytest.raises(ConfigError, match=re.escape(words)):
        react(**changes)
