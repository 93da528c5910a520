"""The agent that writes ReAct text, in play, and whatever its model may write."""

import asyncio
from dataclasses import replace

import pytest
from agent.react_agents import (
    CALL,
    CUSTOMER,
    REPLY,
    STYLES,
    TAU_STYLES,
    act,
    chat,
    react,
    situation,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import ScriptedUser, cast_of, josh, task_of
from scripted_llm import ScriptedLLM, says

from drl.agent._react import MARK
from drl.agent.react import ReactAgent
from drl.llm.base import Completion, Request
from drl.play.cast import Cast
from drl.rollout.single import SingleRollout
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Role, Step, StopReason, ToolResult, Turn


def play(agent: ReactAgent, llm: ScriptedLLM, *kinds: str) -> DialogueTree:
    rollout = SingleRollout(max_steps=1, max_calls=None, concurrency=8)
    return asyncio.run(rollout.run(task_of(*kinds or ("x",)), 0, cast(agent, llm)))


def cast(agent: ReactAgent, llm: ScriptedLLM) -> Cast:
    return replace(cast_of(agent, ScriptedUser(ends_at=3)), llm=llm)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize(
    "text", ["", " \n\t ", f"PLAN only this {MARK}", "\x00\x1b", "SPEAK", "SAY \x07"]
)
def test_an_output_that_does_nothing_is_handed_back_as_an_error(style, text):
    step = act(text, style=style)
    assert (step.text, step.calls, step.reply) == (text, (), None)
    assert step.results[0].error


def test_an_error_is_told_to_the_model_and_an_empty_output_is_never_shown_as_empty():
    step = act("")
    *_, output, error = chat(react().request(situation(steps=(step,))))
    assert output == ("assistant", "(no text)")
    assert error[0] == "user"
    assert error[1].startswith('APIRETURN {"error": "Nothing was done: ')


@pytest.mark.parametrize("style", [*STYLES, *TAU_STYLES])
def test_two_megabytes_are_refused_kept_and_not_sent_again(style):
    text = "SAY " + "SPEAK so " * 230_000
    step = act(text, style=style)
    assert step.text == text
    assert (step.calls, step.reply) == ((), None)
    request = react(style).request(situation(steps=(step,)))
    assert sum(len(content) for _, content in chat(request)) < 5_000
    assert act(text, situation(must_reply=True), style).reply is None


def test_control_characters_stay_in_the_text_and_do_not_reach_the_customer():
    text = f"SPEAK a\x00b\x1b[31m\r\nc\td {MARK}"
    step = act(text)
    assert step.text == text
    assert step.reply == "ab[31m\nc\td"
    assert chat(react().request(situation(Turn(Role.AGENT, step.reply, (step,))))) == [
        ("assistant", text)
    ]


def test_halves_of_characters_become_replacement_characters():
    step = act("SPEAK a\ud800b \ud83d\ude00")
    assert step.reply == "a\ufffdb \U0001f600"
    assert step.text == "SPEAK a\ufffdb \U0001f600"


def test_unreadable_output_counts_as_a_call():
    llm = says("gibberish", "gibberish", "gibberish", "At last words.")
    turn = play(react(), llm).nodes[1].turn
    assert len(llm.requests) == 4
    assert turn.text == "At last words."
    assert [len(step.results) for step in turn.steps] == [1, 1, 1, 0]


def test_after_its_calls_an_agent_gets_to_speak():
    llm = says(CALL, CALL, CALL, REPLY)
    turn = play(react(), llm).nodes[1].turn
    assert turn.text == "There is one."
    assert sum(len(step.calls) for step in turn.steps) == 3


def test_a_dialogue_of_broken_outputs_is_stored_and_read_back():
    tree = play(react(), says(" ", "\x00", "SPEAK \ud800", "PLAN"))
    assert from_line(to_line(tree)) == tree
    assert tree.nodes[1].turn.text == "\ufffd"


def test_josh_searches_with_it():
    """The model reaches the next goal in one of four seeds; the search takes that branch."""

    def answer(request: Request, seed: int) -> str:
        if request.messages[-1].content.startswith("APIRETURN"):
            return REPLY
        done = sum('"ok"' in message.content for message in request.messages)
        call = f'APICALL {{"name": "goal_{done}", "parameters": {{}}}} {MARK}'
        return call if seed % 4 == 0 else REPLY

    rollout = josh(concurrency=8)
    llm = ScriptedLLM(answer)
    run = rollout.run(task_of("goal_0", "goal_1"), 0, cast(react(), llm))
    tree = asyncio.run(run)
    assert StopReason.GOALS_REACHED in {leaf.stop for leaf in tree.leaves()}
    assert len({request.seeds for request in llm.requests}) == len(llm.requests)
    assert from_line(to_line(tree)) == tree


ANY_TEXT = (
    st.text()
    | st.text(st.characters(categories=["Cs", "Cc", "Lu"]))
    | st.lists(
        st.sampled_from(
            [
                *("PLAN ", "SPEAK ", "APICALL ", MARK, "APIRETURN ", " ", "\n", "\\", "CALL "),
                *("SAY ", "RETURN ", '{"name": "search_hotel", "parameters": {}}', "é"),
                *('{"search_hotel":{"area":"north"}}', "{", "}", "hello", "\ud800", "\x00"),
                *("Thought:", "Action:", '{"name": "x", "arguments": {}}', "respond"),
            ]
        ),
        max_size=12,
    ).map("".join)
)


@settings(max_examples=300)
@given(
    st.lists(ANY_TEXT, min_size=1, max_size=4),
    st.booleans(),
    st.sampled_from((*STYLES, *TAU_STYLES)),
)
def test_no_output_whatever_breaks_a_step_or_the_prompt_after_it(texts, must_reply, style):
    agent = react(style)
    steps: tuple[Step, ...] = ()
    for text in texts:
        known = situation(steps=steps, must_reply=must_reply)
        request = agent.request(known)
        assert all(message.content.strip() for message in request.messages)
        for message in request.messages:
            message.content.encode()
        step = agent.read(Completion(text, "stop"), known)
        step.text.encode()
        assert step.reply is None or step.reply.strip() == step.reply != ""
        assert bool(step.calls) + (step.reply is not None) + bool(step.results) == 1 or (
            must_reply or style == "paper"
        )
        assert not (must_reply and (step.calls or step.results))
        results = step.results or tuple(ToolResult("ok") for _ in step.calls)
        steps += (replace(step, results=results),)
    finished = Turn(Role.AGENT, steps[-1].reply or "said", steps)
    assert agent.request(situation(CUSTOMER, finished, CUSTOMER))
