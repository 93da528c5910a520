"""What every agent promises: one test for each option in conf/agent."""

import asyncio
from pathlib import Path

import pytest
import required
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_llm import polite

from drl.agent.base import Agent, Situation
from drl.runtime.compose import compose, options
from drl.runtime.config import build, to_plain
from drl.types import Goal, Place, Role, Step, Toolbox, ToolCall, ToolResult, ToolSpec, Turn

CONF = Path(__file__).parents[2] / "conf"
TOOLS = {
    "search_hotel": ("name", "area", "pricerange", "type"),
    "book_hotel": ("stay", "day", "people", "name"),
    "search_train": ("departure", "destination", "day", "leaveAt", "arriveBy"),
    "book_train": ("people", "trainID"),
    "book_attraction": (),
}
TOOLBOX = Toolbox(
    tuple(
        ToolSpec(name, name, {"type": "object", "properties": {slot: {} for slot in slots}})
        for name, slots in TOOLS.items()
    ),
    {"search_hotel": {"name": ("worth house", "avalon"), "area": ("north", "south")}},
)
ROW = {"name": "worth house", "area": "north", "type": "guesthouse", "phone": None, "stars": 4}
PLACE = Place("1", 0, None)
GOALS = (Goal("search_hotel", "hotel", {"area": "north"}),)

ODD_TEXTS = (
    *(
        "",
        " ",
        "<script>alert('x')</script>",
        "\x00\x1b[31m\u202e",
        "SPEAK <COMMAND_END> APICALL {",
    ),
    *(
        "north " * 3000,
        "?!?!",
        "-1 nights for 99999 people at 99:99",
        "no",
        "yes",
        "same same as the",
    ),
    *("book", "the hotel the train the hotel", "I don't care", "END_CONVERSATION", "\ud800"),
)
TEXTS = st.sampled_from(ODD_TEXTS) | st.text(max_size=80)
RESULTS = st.sampled_from(
    [
        ToolResult([ROW]),
        ToolResult([]),
        ToolResult(None, error="broken"),
        ToolResult("ERROR"),
        ToolResult([None]),
        ToolResult({"success": True, "return": {"name": "worth house", "reference": "AB12CD34"}}),
        ToolResult({"success": True, "return": None}),
        ToolResult({"success": False, "return": {}}),
        ToolResult({"success": 1}),
    ]
)
CALLS = st.builds(
    ToolCall,
    st.sampled_from([*TOOLS, "nothing", ""]),
    st.dictionaries(st.sampled_from(["name", "area", "day", "x"]), TEXTS, max_size=3),
)
STEPS = st.builds(
    lambda call, result: Step(text="x", calls=(call,), results=(result,)), CALLS, RESULTS
)
TURNS = st.builds(Turn, st.just(Role.USER), TEXTS | st.none()) | st.builds(
    Turn, st.just(Role.AGENT), TEXTS | st.none(), st.lists(STEPS, max_size=2).map(tuple)
)
HISTORIES = st.lists(TURNS, max_size=6).map(tuple)
OTHER_TEMPERATURES = {"rule": 1.0, "react": 0.0, "function_calling": 0.0, "plain": 0.0}


def _agents() -> dict[str, Agent]:
    built: dict[str, Agent] = {}
    for option in options(CONF, "agent"):
        chosen = required.choice("agent", option)
        agent = build("agent", to_plain(compose(CONF, chosen))["agent"])
        assert isinstance(agent, Agent)
        built[option] = agent
        if option in OTHER_TEMPERATURES:
            temperature = OTHER_TEMPERATURES[option]
            config = compose(CONF, [*chosen, f"agent.temperature={temperature}"])
            built[f"{option} at {temperature}"] = build("agent", to_plain(config)["agent"])
    return built


AGENTS = _agents()


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest) -> Agent:
    return AGENTS[request.param]


def situation(*history: Turn, seed: int = 0, **known: object) -> Situation:
    return Situation(history, (), TOOLBOX, seed, place=PLACE, **known)  # type: ignore[arg-type]


def act(agent: Agent, situation: Situation) -> Step:
    return asyncio.run(agent.act(situation, polite()))


@settings(max_examples=150)
@given(HISTORIES, st.lists(STEPS, max_size=3).map(tuple), st.booleans(), st.integers(0, 2**64))
def test_whatever_was_said_it_acts_and_acts_alike_in_the_same_situation(
    history, steps, must_reply, seed
):
    for agent in AGENTS.values():
        goals = GOALS if agent.sees_goals else ()
        known = Situation(history, steps, TOOLBOX, seed, must_reply, goals, place=PLACE)
        step = act(agent, known)
        assert step == act(agent, known)
        assert step.text
        assert (step.reply is None) == bool(step.calls)
        assert step.reply is not None or not must_reply


def test_it_speaks_first_as_well(agent):
    assert act(agent, situation(must_reply=True)).reply


def test_it_manages_without_tools(agent):
    asked = (Turn(Role.USER, "I need a cheap hotel in the north, please book it."),)
    assert act(agent, Situation(asked, (), Toolbox(()), seed=0, place=PLACE)).reply


def test_its_limit_of_calls_is_positive(agent):
    assert agent.max_tool_calls >= 1


def test_an_agent_that_does_not_explore_ignores_the_seed(agent):
    asked = Turn(Role.USER, "I need a cheap guesthouse in the north, any will do.")
    texts = {act(agent, situation(asked, seed=seed, goals=GOALS)).text for seed in range(40)}
    assert (len(texts) > 1) == agent.explores


@settings(max_examples=50)
@given(HISTORIES, STEPS)
def test_one_that_speaks_through_a_model_writes_any_step_as_it_would_be_learned(history, step):
    for agent in (agent for agent in AGENTS.values() if agent.uses_llm):
        (anew,) = agent.rewrite(step, TOOLBOX)
        assert (anew.calls, anew.results) == (step.calls, step.results)
        number = sum(len(turn.steps) for turn in history)
        before = agent.request(situation(*history)).messages
        after = agent.request(Situation(history, (anew,), TOOLBOX, 0)).messages
        assert after[: len(before) + 1] == (*before, agent.output(anew, number))
