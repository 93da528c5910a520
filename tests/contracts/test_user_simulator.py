"""What every user simulator promises: one test for each option in conf/user_simulator."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_llm import polite

from drl.runtime.compose import compose, options
from drl.runtime.config import build, to_plain
from drl.types import Brief, Role, Turn, Wish
from drl.user_simulator.base import END_OF_CONVERSATION, Encounter, UserSimulator

CONF = Path(__file__).parents[2] / "conf"
BRIEF = Brief(
    instructions=("You need a place to stay.",),
    wishes=(
        Wish(
            domain="hotel",
            constraints={"area": "north", "internet": "yes", "type": "guesthouse"},
            first_constraints={"area": "west", "internet": "yes", "type": "guesthouse"},
            booking={"people": "2", "day": "monday", "stay": "3"},
            first_booking={"people": "2", "day": "monday", "stay": "4"},
            requests=("phone",),
        ),
        Wish(
            "train", {"departure": "ely", "arriveBy": "10:00"}, {}, {"people": "1"}, {}, ("price",)
        ),
    ),
    human_turns=("I need a guesthouse.", "Thank you, bye."),
)
ODD_TEXTS = (
    *("", "<script>alert('x')</script>", "\x00\x1b[31m\u202e", "how about " * 3000, "?"),
    *("There is no such place.", "Booked! The reference number is AB12CD34.", "{needs} {0}"),
    *("Worth House is a cheap guesthouse in the west.", "It could not be booked.", "\ud800"),
    *("Which area, price range, type, day, time and how many people?", "END_CONVERSATION"),
)
TEXTS = st.sampled_from(ODD_TEXTS) | st.text(max_size=80)
TURNS = st.builds(Turn, st.sampled_from(list(Role)), TEXTS | st.none())
HISTORIES = st.lists(TURNS, max_size=12).map(tuple)
BRIEFS = st.sampled_from(
    [
        BRIEF,
        Brief(()),
        Brief(("Something else.",), (Wish("taxi", {"x": "y"}, {}, {}, {}, ("phone",)),)),
        Brief(
            (),
            (
                Wish("hotel", {}, {}, {}, {}, ()),
                Wish("restaurant", {"food": "{x}"}, {}, {}, {}, ("odd",)),
            ),
        ),
    ]
)


def _simulators() -> dict[str, UserSimulator]:
    built: dict[str, UserSimulator] = {}
    for option in options(CONF, "user_simulator"):
        config = to_plain(compose(CONF, [f"user_simulator={option}"]))["user_simulator"]
        simulator = build("user_simulator", config)
        assert isinstance(simulator, UserSimulator)
        built[option] = simulator
    return built


SIMULATORS = _simulators()


@pytest.fixture(params=SIMULATORS)
def simulator(request: pytest.FixtureRequest) -> UserSimulator:
    return SIMULATORS[request.param]


def speak(simulator: UserSimulator, encounter: Encounter) -> Turn:
    return asyncio.run(simulator.speak(encounter, polite()))


@settings(max_examples=150)
@given(BRIEFS, HISTORIES, st.integers(0, 2**64))
def test_whatever_was_said_it_speaks_and_speaks_alike_in_the_same_encounter(brief, history, seed):
    for simulator in SIMULATORS.values():
        encounter = Encounter(brief, history, seed)
        turn = speak(simulator, encounter)
        assert turn == speak(simulator, encounter)
        assert turn.role is Role.USER
        assert turn.text
        assert turn.hangs_up == any(ending in turn.text for ending in simulator.endings)


def test_it_tells_a_brief_that_it_can_speak_of_from_an_empty_one(simulator):
    assert simulator.knows(BRIEF)
    assert not simulator.knows(Brief(()))


def test_it_opens_without_hanging_up(simulator):
    assert not speak(simulator, Encounter(BRIEF, (), seed=1)).hangs_up


def test_it_hangs_up_on_an_agent_that_gets_nowhere(simulator):
    history: tuple[Turn, ...] = ()
    for _ in range(20):
        turn = speak(simulator, Encounter(BRIEF, history, seed=len(history)))
        if turn.hangs_up:
            return
        history += (turn, Turn(Role.AGENT, "I see."))
    pytest.fail("it went on for 20 turns")


def test_the_agent_cannot_make_it_hang_up(simulator):
    words = f"Goodbye. {END_OF_CONVERSATION} {' '.join(simulator.endings)}"
    opening = speak(simulator, Encounter(BRIEF, (), seed=1))
    history = (opening, Turn(Role.AGENT, words, hangs_up=True))
    assert not speak(simulator, Encounter(BRIEF, history, seed=2)).hangs_up
