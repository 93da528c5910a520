"""Dialogues of any agent in the language of another: what is shown is what would be learned."""

import json
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import pytest
from agent.react_agents import CALL, CUSTOMER, STYLES, TAU_STYLES, TOOLBOX, react
from agent.small_town import TOOLBOX as TOWN
from agent.small_town import Talk
from hypothesis import given, settings
from hypothesis import strategies as st
from mining.forest import agent_of

from drl.agent._react import MARK
from drl.agent.base import Agent, Situation
from drl.agent.rule import RuleAgent
from drl.errors import ConfigError
from drl.llm.base import Message, ToolUse
from drl.types import Role, Sampled, Step, Toolbox, ToolCall, ToolResult, Turn

CALLING = agent_of("function_calling")
WRITERS: dict[str, Agent] = {
    **{style: react(style) for style in (*STYLES, *TAU_STYLES)},
    "calling": CALLING,
    "tau calling": agent_of("function_calling/tau"),
}
NORTH = ToolCall("search_hotel", {"area": "north"})
BOOK = ToolCall("book_hotel", {})
FOUND, BOOKED = ToolResult([{"name": "worth house"}]), ToolResult("done")
SAID = (
    "I need a cheap guesthouse in the north.",
    "Please book it for 2 people and 3 nights from monday.",
    "I also need a train from ely to cambridge on monday after 9:00.",
    "Book it for two people, please.",
    "Thank you, that is all.",
)


@pytest.fixture(params=WRITERS)
def writer(request: pytest.FixtureRequest) -> Agent:
    return WRITERS[request.param]


def rewritten(agent: Agent, history: tuple[Turn, ...], toolbox: Toolbox) -> tuple[Turn, ...]:
    return tuple(
        Turn(
            turn.role,
            turn.text,
            tuple(s for step in turn.steps for s in agent.rewrite(step, toolbox)),
        )
        for turn in history
    )


def shown(
    agent: Agent, history: tuple[Turn, ...], toolbox: Toolbox
) -> Iterator[tuple[tuple[Message, ...], Message | None]]:
    """What is asked before each output of a rewritten dialogue, with that output; last, its end."""
    number = 0
    for place, turn in enumerate(history):
        for position, step in enumerate(turn.steps):
            known = Situation(history[:place], turn.steps[:position], toolbox, seed=0)
            yield agent.request(known).messages, agent.output(step, number)
            number += 1
    yield agent.request(Situation(history, (), toolbox, seed=0)).messages, None


def check_extends(agent: Agent, history: tuple[Turn, ...], toolbox: Toolbox) -> None:
    for (before, output), (after, _) in pairwise(shown(agent, history, toolbox)):
        assert after[: len(before) + 1] == (*before, output)


@cache
def played(temperature: float, seed: int) -> tuple[Turn, ...]:
    talk = Talk(RuleAgent(temperature=temperature, max_tool_calls=3))
    for number, text in enumerate(SAID):
        talk.say(text, seed=seed * 10 + number)
    return talk.history


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_dialogue_of_rules_is_shown_output_by_output_as_it_would_be_learned(
    writer, temperature, seed
):
    original = played(temperature, seed)
    history = rewritten(writer, original, TOWN)
    check_extends(writer, history, TOWN)
    assert calls_of(history) == calls_of(original)
    assert [turn.steps[-1].reply for turn in history[1::2]] == [t.text for t in original[1::2]]


def calls_of(history: tuple[Turn, ...]) -> list[tuple[ToolCall, ToolResult]]:
    return [(done.call, done.result) for turn in history for done in turn.executed()]


TEXTS = st.text(max_size=30) | st.sampled_from(
    [
        *("", "PLAN a", "SAY b", CALL, "x\nCALL y\nRETURN z", "\ud800", "a\\b", f"{MARK} SPEAK c"),
        *("Action: x", 'Thought:\nAction:\n{"name": "book_hotel", "arguments": {}}'),
    ]
)
RESULTS = st.builds(ToolResult, TEXTS | st.none() | st.just([{"a": 1}]), TEXTS | st.none())
CALLS = st.builds(
    ToolCall,
    st.sampled_from(["search_hotel", "book_hotel", "odd name", ""]),
    st.dictionaries(st.sampled_from(["area", "PLAN"]), TEXTS | st.integers() | st.none()),
)


@st.composite
def steps(draw: st.DrawFn) -> Step:
    calls = draw(st.lists(CALLS, max_size=3).map(tuple))
    results = tuple(draw(RESULTS) for _ in calls)
    reply = draw(st.none() | TEXTS.map(str.strip).filter(bool))
    if not calls and reply is None:
        results = draw(st.just(()) | st.just((ToolResult(None, error="not read"),)))
    return Step(draw(TEXTS), draw(TEXTS), calls, results, reply)


@settings(max_examples=150)
@given(st.lists(st.lists(steps(), min_size=1, max_size=3).map(tuple), min_size=1, max_size=3))
def test_whatever_was_done_is_shown_as_it_would_be_learned_and_rewriting_again_changes_nothing(
    turns,
):
    original = tuple(
        turn
        for steps in turns
        for turn in (CUSTOMER, Turn(Role.AGENT, steps[-1].reply or "so", steps))
    )
    for agent in WRITERS.values():
        history = rewritten(agent, original, TOOLBOX)
        check_extends(agent, history, TOOLBOX)
        assert rewritten(agent, history, TOOLBOX) == history
        for turn in history:
            assert all(not (step.calls and step.reply) for step in turn.steps)


def test_text_that_reads_as_what_was_done_is_kept_with_its_tokens(writer):
    sampled = Sampled((1,), (2,), (-0.5,))
    texts = {
        "full": f'  APICALL {{"name":"search_hotel", "parameters":{{"area":"north"}}}} {MARK}',
        "compact": ' CALL: {"search_hotel": {"area" : "north"}}\nRETURN made up',
        "paper": 'PLAN x APICALL {"name":"search_hotel", "parameters":{"area":"north"}} SPEAK y',
        **dict.fromkeys(
            TAU_STYLES,
            'Thought: look\nAction: {"name":"search_hotel", "arguments":{"area":"north"}}',
        ),
        **dict.fromkeys(
            ("calling", "tau calling"),
            json.dumps(
                {
                    "content": "",
                    "tool_calls": [{"name": "search_hotel", "arguments": '{"area":"north"}'}],
                }
            ),
        ),
    }
    (text,) = (texts[name] for name, agent in WRITERS.items() if agent is writer)
    step = Step(text, calls=(NORTH,), results=(FOUND,), sampled=sampled)
    (same,) = writer.rewrite(step, TOOLBOX)
    assert same == step
    assert same.sampled is sampled


def test_what_is_written_anew_has_no_tokens(writer):
    step = Step("?", calls=(NORTH,), results=(FOUND,), sampled=Sampled((1,), (2,), (-0.5,)))
    (anew,) = writer.rewrite(step, TOOLBOX)
    assert anew.sampled is None


def test_two_calls_and_a_reply_become_an_output_each_where_an_output_holds_one():
    step = Step("?", "go", calls=(NORTH, BOOK), results=(FOUND, BOOKED), reply="Done.")
    compact = WRITERS["compact"].rewrite(step, TOOLBOX)
    assert [part.text for part in compact] == [
        'CALL {"search_hotel":{"area":"north"}}',
        'CALL {"book_hotel":{}}',
        "SAY Done.",
    ]
    assert [part.results for part in compact] == [(FOUND,), (BOOKED,), ()]
    full = WRITERS["full"].rewrite(step, TOOLBOX)
    assert [part.text for part in full] == [
        f'PLAN go {MARK} APICALL {{"name": "search_hotel", "parameters": {{"area": "north"}}}} '
        f'{MARK} APICALL {{"name": "book_hotel", "parameters": {{}}}} {MARK}',
        f"SPEAK Done. {MARK}",
    ]
    assert [part.results for part in full] == [(FOUND, BOOKED), ()]


def test_a_step_of_several_commands_is_shown_in_the_paper_s_form_as_before():
    step = Step("?", "go", calls=(NORTH, BOOK), results=(FOUND, BOOKED), reply="Done.")
    history = (CUSTOMER, Turn(Role.AGENT, "Done.", (step,)))
    agent = WRITERS["paper"]
    anew = rewritten(agent, history, TOOLBOX)
    assert len(anew[1].steps) == 3
    requests = [agent.request(Situation(h, (), TOOLBOX, 0)).messages for h in (history, anew)]
    assert requests[0] == requests[1]


def test_native_calls_are_learned_as_calls():
    step = Step("?", "go", calls=(NORTH, BOOK), results=(FOUND, BOOKED))
    (part,) = CALLING.rewrite(step, TOOLBOX)
    assert CALLING.output(part, 7) == Message(
        "assistant",
        "go",
        (
            ToolUse("c00007000", "search_hotel", '{"area": "north"}'),
            ToolUse("c00007001", "book_hotel", "{}"),
        ),
    )


def test_calls_past_the_limit_leave_the_text_as_it_was():
    text = f'APICALL {{"name": "book_hotel", "parameters": {{}}}} {MARK} {CALL}'
    step = Step(text, calls=(BOOK,), results=(BOOKED,))
    assert WRITERS["full"].rewrite(step, TOOLBOX) == (step,)


def test_a_reply_that_was_asked_for_is_written_as_it_should_have_been():
    step = Step("There is one.", reply="There is one.")
    assert [part.text for part in WRITERS["compact"].rewrite(step, TOOLBOX)] == [
        "SAY There is one."
    ]


def test_an_error_stays_as_it_is_in_every_language(writer):
    step = Step("gibberish", results=(ToolResult(None, error="not read"),))
    assert writer.rewrite(step, TOOLBOX) == (step,)
    assert writer.output(step, 0) == Message("assistant", "gibberish")


def test_the_paper_s_form_learns_what_was_written_where_its_prompts_show_something_else():
    agent = WRITERS["paper"]
    for text, error in (("PLAN x", "there is only a PLAN"), ("x", "ERROR: NO COMMAND FOUND")):
        step = Step(text, results=(ToolResult(None, error=error),))
        assert agent.output(step, 0) == Message("assistant", text)


def test_an_agent_without_a_model_says_that_nothing_can_be_learned_in_its_form():
    agent = RuleAgent(temperature=0.0, max_tool_calls=3)
    for ask in (
        lambda: agent.request(Situation((CUSTOMER,), (), TOOLBOX, 0)),
        lambda: agent.rewrite(Step("x", reply="x"), TOOLBOX),
        lambda: agent.output(Step("x", reply="x"), 0),
    ):
        with pytest.raises(ConfigError, match="choose the form to write in"):
            ask()
