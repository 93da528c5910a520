"""The agent with native tool calls: what it asks, carries out, hands back, and shows again."""

import asyncio
import json
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import ScriptedUser, cast_of, josh, task_of
from scripted_llm import ScriptedLLM, says, uses

from drl.agent.base import Situation
from drl.agent.function_calling import FunctionCallingAgent
from drl.errors import ConfigError
from drl.llm.base import Completion, Message, Request, ToolUse
from drl.play.moves import OUT_OF_CALLS
from drl.rollout.single import SingleRollout
from drl.tree.codec import from_line, to_line
from drl.types import Role, Sampled, Step, StopReason, Toolbox, ToolCall, ToolResult, ToolSpec, Turn

TOOLBOX = Toolbox((ToolSpec("search", "Finds", {"type": "object", "properties": {}}),))
CUSTOMER = Turn(Role.USER, "A hotel, please.")
TWO = uses(("search", '{"area": "north"}'), ("book", ""), text="Both at once.")


def agent(**changes: object) -> FunctionCallingAgent:
    given: dict[str, object] = {
        **{"style": "desk", "temperature": 1.0, "top_p": None, "top_k": None},
        **{"max_tokens": 256, "max_tool_calls": 3, "first_call_only": False},
        **{"demonstrations": None, "num_demonstrations": 5, "demonstrations_seed": 0},
    }
    return FunctionCallingAgent(**given | changes)  # type: ignore[arg-type]


def situation(*history: Turn, steps: tuple[Step, ...] = (), must_reply: bool = False) -> Situation:
    return Situation(history or (CUSTOMER,), steps, TOOLBOX, 7, must_reply)


def act(completion: Completion | str, *, must_reply: bool = False) -> Step:
    return asyncio.run(agent().act(situation(must_reply=must_reply), says(completion)))


def told(*steps: Step) -> tuple[Message, ...]:
    """What the next request shows of these steps."""
    return agent().request(situation(steps=steps)).messages[2:]


def test_the_tools_are_offered_until_a_reply_is_due():
    request = agent().request(situation())
    assert (request.tools, request.tool_choice, request.seeds) == (TOOLBOX.specs, "auto", (7,))
    last = agent().request(situation(must_reply=True))
    assert (last.tools, last.tool_choice) == (TOOLBOX.specs, "none")


def test_all_calls_of_an_answer_are_carried_out_and_the_text_beside_them_is_the_plan():
    step = act(TWO)
    assert step.calls == (ToolCall("search", {"area": "north"}), ToolCall("book", {}))
    assert (step.plan, step.reply) == ("Both at once.", None)


def test_the_text_of_a_step_is_what_the_model_sent_without_its_ids():
    sampled = Sampled((1,), (2,), (-1.0,))
    step = act(replace(TWO, sampled=sampled))
    assert json.loads(step.text) == {
        "content": "Both at once.",
        "tool_calls": [
            {"name": "search", "arguments": '{"area": "north"}'},
            {"name": "book", "arguments": ""},
        ],
    }
    assert step.sampled == sampled


def test_a_step_tells_whether_a_limit_of_tokens_ended_it():
    assert act(Completion("There is", "length")).is_cut
    assert not act(Completion("There is", "stop")).is_cut


def test_a_step_is_shown_as_it_was_sent_with_an_answer_to_every_call():
    step = replace(act(TWO), results=(ToolResult([{"name": "é"}]), ToolResult(None, "no")))
    assert told(step) == (
        Message(
            "assistant",
            "Both at once.",
            tool_calls=(
                ToolUse("c00000000", "search", '{"area": "north"}'),
                ToolUse("c00000001", "book", "{}"),
            ),
        ),
        Message("tool", '[{"name": "é"}]', tool_call_id="c00000000"),
        Message("tool", '{"error": "no"}', tool_call_id="c00000001"),
    )


def test_ids_differ_over_the_dialogue_and_stay_the_same_as_it_grows():
    step = replace(act(TWO), results=(ToolResult(1), ToolResult(2)))
    history = (CUSTOMER, Turn(Role.AGENT, "ok", (step, act("ok"))), CUSTOMER)
    before = agent().request(situation(*history)).messages
    after = agent().request(situation(*history, steps=(step,))).messages
    assert after[: len(before)] == before
    ids = [use.id for message in after for use in message.tool_calls]
    assert len(set(ids)) == len(ids) == 4


def test_calls_beyond_the_limit_are_answered_as_not_carried_out():
    step = act(TWO)
    cut = replace(step, calls=step.calls[:1], results=(ToolResult([]),))
    assert [message.content for message in told(cut)[1:]] == [
        "[]",
        '{"error": "not carried out: the calls of this turn were used up"}',
    ]


@pytest.mark.parametrize(
    ("raw", "cause"),
    [
        ('{"area": ', "cannot be read"),
        ('["north"]', "one JSON object"),
        ('"north"', "one JSON object"),
        ("null", "one JSON object"),
        ('{"x": NaN}', "NaN is not a JSON value"),
        ('{"x": 1} and more', "more follows"),
        ('{"x": ' + "[" * 60 + "]" * 60 + "}", "nests deeper"),
    ],
)
def test_a_malformed_call_refuses_all_and_every_call_is_told_why(raw, cause):
    step = act(uses(("search", "{}"), ("search", raw)))
    assert (step.calls, step.reply) == ((), None)
    asked, *answers = told(step)
    assert [answer.role for answer in answers] == ["tool", "tool"]
    assert [answer.tool_call_id for answer in answers] == [use.id for use in asked.tool_calls]
    for answer in answers:
        assert "the arguments of call 2" in answer.content
        assert cause in answer.content
    for use in asked.tool_calls:  # a server reads the history as JSON and refuses what is none
        assert isinstance(json.loads(use.arguments), dict)
    assert json.loads(asked.tool_calls[1].arguments) == {"unreadable": raw}


def test_a_name_that_servers_refuse_is_shown_in_letters_they_accept():
    step = replace(act(uses(("find a hotel!", "{}"), ("", "{}"))), results=(ToolResult(1),) * 2)
    assert [call.name for call in step.calls] == ["find a hotel!", ""]
    assert [use.name for use in told(step)[0].tool_calls] == ["find_a_hotel_", "unnamed"]


@pytest.mark.parametrize("content", ["", " \n ", "\x00\x1b"])
def test_an_empty_answer_is_handed_back_as_an_error(content):
    step = act(content)
    assert (step.calls, step.reply) == ((), None)
    output, error = told(step)
    assert output.content.strip()
    assert (error.role, error.content) == ("user", "Nothing was done: the reply is empty")


def test_control_characters_do_not_reach_the_customer_and_halves_become_replacements():
    step = act(" a\x00b\ud800 ")
    assert step.reply == "ab\ufffd"
    assert json.loads(step.text)["content"] == " a\x00b\ufffd "
    assert told(step) == (Message("assistant", " a\x00b\ufffd "),)


@pytest.mark.parametrize(
    "completion",
    [Completion("so " * 700_000, "stop"), uses(("search", '{"x": "' + "y" * 2_000_000))],
)
def test_two_megabytes_are_refused_and_not_sent_again(completion):
    step = act(completion)
    assert (step.calls, step.reply) == ((), None)
    assert "characters" in str(step.results[0].error)
    assert sum(len(str(message)) for message in told(step)) < 5_000
    assert act(completion, must_reply=True).reply is None


def test_when_a_reply_is_due_calls_are_ignored():
    step = act(TWO, must_reply=True)
    assert (step.reply, step.calls) == ("Both at once.", ())
    assert told(step) == (Message("assistant", "Both at once."),)
    assert act(uses(("search", "{}")), must_reply=True).reply is None


def test_a_reply_that_was_put_in_is_shown_as_said():
    step = Step(act(TWO).text, reply=OUT_OF_CALLS)
    assert told(step) == (Message("assistant", OUT_OF_CALLS),)


def test_bad_json_counts_as_a_call_and_costs_no_more():
    llm = says(uses(("x", "{")), uses(("x", "{}"), ("y", "{}"), ("z", "{}")), "Done.")
    cast = replace(cast_of(agent(), ScriptedUser(ends_at=1)), llm=llm)
    rollout = SingleRollout(max_steps=1, max_calls=None, concurrency=1)
    tree = asyncio.run(rollout.run(task_of("y"), 0, cast))
    turn = tree.nodes[1].turn
    assert turn.text == "Done."
    assert [call.name for _, _, call, _ in turn.executed()] == ["x", "y"]  # the third is too many
    assert tree.nodes[1].score == 1.0
    assert from_line(to_line(tree)) == tree


def test_josh_searches_with_it():
    def answer(request: Request, seed: int) -> Completion | str:
        if request.messages[-1].role == "tool" or seed % 4:
            return "Here you are."
        done = sum(message.role == "tool" for message in request.messages)
        return uses((f"goal_{done}", "{}"))

    rollout = josh(concurrency=8)
    cast = replace(cast_of(agent(), ScriptedUser()), llm=ScriptedLLM(answer))
    tree = asyncio.run(rollout.run(task_of("goal_0", "goal_1"), 0, cast))
    assert StopReason.GOALS_REACHED in {leaf.stop for leaf in tree.leaves()}


TEXTS = st.text() | st.text(st.characters(categories=["Cs", "Cc", "Lu"]), max_size=5)
RAW = st.sampled_from(['{"a": 1}', "{}", "", "null", "[", '{"a": "\\ud800"}', "1e999"]) | TEXTS
COMPLETIONS = st.builds(
    lambda text, calls: Completion(text, "stop", tuple(ToolUse("i", n, raw) for n, raw in calls)),
    TEXTS,
    st.lists(st.tuples(TEXTS, RAW), max_size=3),
)


@settings(max_examples=300)
@given(st.lists(COMPLETIONS, min_size=1, max_size=3), st.booleans())
def test_no_answer_whatever_breaks_a_step_or_the_prompt_after_it(completions, must_reply):
    steps: tuple[Step, ...] = ()
    for completion in completions:
        known = situation(steps=steps, must_reply=must_reply)
        step = agent().read(completion, known)
        step.text.encode()
        assert step.reply is None or step.reply.strip() == step.reply != ""
        assert must_reply or bool(step.calls) + (step.reply is not None) + bool(step.results) == 1
        assert not (must_reply and step.calls)
        results = step.results or tuple(ToolResult("ok") for _ in step.calls)
        steps += (replace(step, results=results),)
        request = agent().request(situation(steps=steps))
        open_ids: list[str] = []
        for message in request.messages:
            message.content.encode()
            assert message.content.strip() or message.tool_calls
            for use in message.tool_calls:
                assert isinstance(json.loads(use.arguments), dict)
                assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", use.name)
                open_ids.append(use.id)
            if message.role == "tool":
                assert message.tool_call_id == open_ids.pop(0)
        assert not open_ids


@pytest.mark.parametrize("setting", ["max_tokens", "max_tool_calls", "top_k"])
def test_wrong_settings_are_refused_by_name(setting):
    with pytest.raises(ConfigError, match=f"agent.{setting}=0 must be at least 1"):
        agent(**{setting: 0})
