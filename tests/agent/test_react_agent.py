"""The agent that writes ReAct text: what it asks its model, how it reads, what it survives."""

import asyncio
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import ScriptedUser, cast_of, task_of
from scripted_llm import ScriptedLLM, says

from drl.agent._react import MARK, parse
from drl.agent.base import Situation
from drl.agent.react import ReactAgent
from drl.errors import ConfigError
from drl.llm.base import Completion, Request
from drl.play.cast import Cast
from drl.play.moves import OUT_OF_CALLS
from drl.rollout.josh import JoshRollout
from drl.rollout.single import SingleRollout
from drl.runtime.prompts import fill
from drl.tree.codec import from_line, to_line
from drl.tree.dialogue_tree import DialogueTree
from drl.types import (
    Place,
    Role,
    Sampled,
    Step,
    StopReason,
    Toolbox,
    ToolCall,
    ToolResult,
    ToolSpec,
    Turn,
)

HOTELS = ToolSpec(
    "search_hotel",
    "Finds a hotel",
    {
        "type": "object",
        "required": ["area"],
        "properties": {
            "area": {"type": "string", "description": "Where", "enum": ["north", "south"]},
            "name": {"type": "string", "description": "Name"},
            "type": {"type": "string"},
            "stars": {"type": "integer", "description": "How good"},
        },
    },
)
TOOLBOX = Toolbox(
    (HOTELS, ToolSpec("book_hotel", "Books it", {"type": "object", "properties": {}})),
    {"search_hotel": {"name": tuple(map(str, range(100))), "type": ("hotel", "inn")}},
)
CUSTOMER = Turn(Role.USER, "A hotel in the north, please.")
CALL = f'PLAN search {MARK} APICALL {{"name": "search_hotel", "parameters": {{}}}} {MARK}'
REPLY = f"PLAN tell {MARK} SPEAK There is one. {MARK}"
STYLES = ("full", "compact", "paper")


def react(style: str = "full", **changes: object) -> ReactAgent:
    given: dict[str, object] = {
        **{"style": style, "temperature": 1.0, "top_p": None, "top_k": None},
        **{"max_tokens": 256, "max_tool_calls": 3, "limit_on": "tool_calls"},
    }
    return ReactAgent(**given | changes)  # type: ignore[arg-type]


def situation(*history: Turn, steps: tuple[Step, ...] = (), **known: object) -> Situation:
    return Situation(history or (CUSTOMER,), steps, TOOLBOX, 7, **known)  # type: ignore[arg-type]


def act(answer: Completion | str, known: Situation | None = None, style: str = "full") -> Step:
    return asyncio.run(react(style).act(known or situation(), says(answer)))


def chat(request: Request) -> list[tuple[str, str]]:
    """Role and content of all messages but the system prompt."""
    return [(message.role, message.content) for message in request.messages[1:]]


def play(agent: ReactAgent, llm: ScriptedLLM, *kinds: str) -> DialogueTree:
    rollout = SingleRollout(max_steps=1, concurrency=8)
    return asyncio.run(rollout.run(task_of(*kinds or ("x",)), 0, cast(agent, llm)))


def cast(agent: ReactAgent, llm: ScriptedLLM) -> Cast:
    return replace(cast_of(agent, ScriptedUser(ends_at=3)), llm=llm)


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


@pytest.mark.parametrize("style", STYLES)
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

    rollout = JoshRollout(
        **{"beam_size": 8, "branching": 2, "max_steps": 15, "branch_at": "turn"},
        **{"collapse_to": "most_goals", "label_cut": "censored", "resolve_censored": 0},
        **{"final_harvest": True, "allow_greedy": False, "concurrency": 8},
    )
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
            ]
        ),
        max_size=12,
    ).map("".join)
)


@settings(max_examples=300, deadline=None)
@given(st.lists(ANY_TEXT, min_size=1, max_size=4), st.booleans(), st.sampled_from(STYLES))
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
