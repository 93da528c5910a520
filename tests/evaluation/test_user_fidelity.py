"""Each fault of a customer is found where it is, and good customers have none."""

import pytest

from drl.evaluation.user_fidelity import fidelity
from drl.types import (
    Brief,
    Failure,
    Goal,
    Role,
    Step,
    StopReason,
    Task,
    ToolCall,
    ToolResult,
    Turn,
    Wish,
)

HOTEL = {"name": "alexander bed and breakfast", "reference": "JXVKZ7KV"}
TASK = Task(
    id="t",
    split="test",
    brief=Brief(
        instructions=(
            "You are looking for a place to stay. The hotel should be in the north",
            "Once you find the hotel you want to book it for 6 people. Make sure you get the "
            "reference number",
        ),
        wishes=(
            Wish(
                domain="hotel",
                constraints={"area": "north", "parking": "yes", "stars": "dontcare"},
                first_constraints={"area": "west", "parking": "yes"},
                booking={"people": "6", "day": "sunday"},
                first_booking={},
                requests=(),
            ),
        ),
    ),
    goals=(
        Goal("search_hotel", "hotel", {"area": "north"}),
        Goal("book_hotel", "hotel", {"people": "6", "name": HOTEL["name"]}, {"booking": HOTEL}),
    ),
)
SEARCH = ToolCall("search_hotel", {"area": "north"})
BYE = "That is all, goodbye. END_CONVERSATION"


def user(text: str, plan: str = "") -> Turn:
    step = Step(text=text, plan=plan, reply=text)
    return Turn(Role.USER, text, (step,), hangs_up="END_CONVERSATION" in text)


def agent(text: str = "I see.", *, found=None) -> Turn:
    if found is None:
        return Turn(Role.AGENT, text, (Step(text=text, reply=text),))
    step = Step(text="", calls=(SEARCH,), results=(ToolResult(found),))
    return Turn(Role.AGENT, text, (step, Step(text=text, reply=text)))


GOOD = (
    user("I need a place in the north, it must include free parking."),
    agent("How about Alexander Bed and Breakfast? Shall I book it?", found=[HOTEL]),
    user("Yes, book it for six people from Sunday, please."),
    agent("Done. The reference number is JXVKZ7KV. Anything else?"),
    user("JXVKZ7KV, got it. " + BYE),
)


def measured(*dialogue: Turn, task=TASK, num_open_goals=0):
    stop = StopReason.USER_ENDED if dialogue[-1].hangs_up else StopReason.MAX_TURNS
    return fidelity(task, dialogue, stop, num_open_goals)


def whats(found, measure):
    return [finding.what for finding in found.findings if finding.measure == measure]


def test_a_good_customer_has_no_fault():
    found = measured(*GOOD)
    assert found.numbers() == {
        "goal_coverage": 1.0,
        "leakage": 0.0,
        "role_flips": 0.0,
        "premature_stops": 0.0,
        "endless_talk": 0.0,
        "repetitions": 0.0,
        "broken_turns": 0.0,
    }
    assert found.findings == ()


def test_coverage_is_the_share_of_values_that_matter_and_were_said():
    # area, parking, people and day matter, the stars do not; two of the four are said
    found = measured(user("In the north, with parking."), agent(found=[HOTEL]), user(BYE))
    assert found.goal_coverage == 0.5
    assert whats(found, "goal_coverage") == ["never says people=6", "never says day=sunday"]


@pytest.mark.parametrize(
    "text",
    [
        "The west, parking included. For a party of 6, Sunday.",
        "north side; we come by car, so parking. Six people. sunday",
        "Somewhere northern? No: in the north. With parking. There are six of us, on Sunday",
    ],
)
def test_values_count_in_whatever_words_and_first_wishes_too(text):
    assert measured(user(text), agent(found=[HOTEL]), user(BYE)).goal_coverage == 1.0


def test_what_is_ruled_out_or_said_by_the_agent_alone_is_not_said():
    found = measured(
        user("Not in the north. Parking for 6 people on sunday."),
        agent("In the north?", found=[HOTEL]),
        user(BYE),
    )
    assert whats(found, "goal_coverage") == ["never says area=north or west"]


def test_no_booking_needs_to_be_said_where_nothing_was_found():
    found = measured(
        user("In the north, with parking."), agent("There is none.", found=[]), user(BYE)
    )
    assert found.goal_coverage == 1.0
    assert found.premature_stops == 0.0


def test_without_wishes_the_values_of_goals_that_the_instructions_name_have_to_be_said():
    goal = Goal("rent_bike", "bikes", {"kind": "city", "days": 2, "shop": "b17"})
    task = Task("t", "test", Brief(("You want a city bike for 2 days.",)), (goal,))
    assert measured(user("A city bike for two days."), user(BYE), task=task).goal_coverage == 1.0
    assert measured(user("Some bike, 2 days."), user(BYE), task=task).goal_coverage == 0.5
    nothing = Task("t", "test", Brief(("You want a bike.",)), (goal,))
    assert measured(user("A bike."), user(BYE), task=nothing).goal_coverage is None


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("I want the Alexander Bed and Breakfast.", "names alexander bed and breakfast, which"),
        ("My reference is JXVKZ7KV.", "names JXVKZ7KV, which nobody told it"),
        ("My reference is QQ12WW34.", "gives the reference QQ12WW34, which nobody told it"),
        ("Make sure you get the reference number!", "reads its instructions aloud"),
        ("You are looking for a place to stay.", "reads its instructions aloud"),
        ("Thought: I should ask now.\n\nA hotel, please.", "thinks aloud"),
        ("<think>Hmm.</think> A hotel, please.", "thinks aloud"),
        ("Use search_hotel with area north.", "names the tool search_hotel"),
        ('{"area": "north"}', "writes code or markup"),
        ("A hotel, please.<|im_end|>", "writes code or markup"),
    ],
)
def test_what_it_cannot_know_or_should_keep_to_itself_is_leakage(text, what):
    found = measured(user(text), agent(found=[HOTEL]), *GOOD)
    assert found.leakage == 1.0
    assert any(found_what.startswith(what) for found_what in whats(found, "leakage"))
    assert next(f.turn for f in found.findings if f.measure == "leakage") == 0


def test_a_thought_that_is_spoken_is_leakage_and_a_draft_in_quotes_is_not():
    thought = "I will first name the area that I want."
    spoken = user(f"{thought} The north.", plan=thought)
    assert measured(spoken, *GOOD).leakage == 1.0
    drafted = user(
        "I need a cheap hotel in the north.", plan='"I need a cheap hotel in the north."'
    )
    assert measured(drafted, *GOOD).leakage == 0.0


@pytest.mark.parametrize(
    "text", ["How can I help you today?", "I have booked the hotel for you.", "Agent: Hello."]
)
def test_speaking_as_the_agent_is_a_role_flip(text):
    assert measured(user(text), agent(), *GOOD).role_flips == 1.0


def test_hanging_up_with_something_unsaid_is_premature():
    found = measured(user("In the north."), agent(found=[HOTEL]), user(BYE))
    assert found.premature_stops == 1.0
    assert whats(found, "premature_stops") == [
        "hangs up before saying parking=yes, people=6, day=sunday"
    ]


def test_what_the_agent_named_needs_no_saying_before_hanging_up():
    found = measured(
        user("In the north."),
        agent("It has free parking. For 6 people on sunday?", found=[HOTEL]),
        user("Fine. " + BYE),
    )
    assert found.premature_stops == 0.0
    assert found.goal_coverage == 0.25


def test_hanging_up_in_the_turn_that_asks_for_an_action_is_premature_while_goals_are_open():
    dialogue = (*GOOD[:2], user("Yes, please book it for 6 people on Sunday. END_CONVERSATION"))
    assert measured(*dialogue, num_open_goals=1).premature_stops == 1.0
    assert measured(*dialogue, num_open_goals=0).premature_stops == 0.0


def test_never_hanging_up_is_endless_talk():
    assert measured(*GOOD[:4]).endless_talk == 1.0


def test_the_same_again_to_another_answer_is_a_repetition():
    again = user("In the north, with parking.")
    found = measured(again, agent("Noted."), again, agent("How many people?"), again, *GOOD[1:])
    # two of five turns say again what was said before, to answers that were not given before
    assert found.repetitions == pytest.approx(2 / 5)


def test_the_same_again_to_the_same_answer_is_none():
    again = user("In the north, with parking.")
    found = measured(user("Hello."), agent(), again, agent(), again, agent(), again, *GOOD[1:])
    assert found.repetitions == 0.0


def test_turns_that_broke_or_are_empty_are_broken():
    broken = Turn(Role.USER, "", failure=Failure("user_simulator", "ValueError: nothing"))
    found = fidelity(
        TASK, [user("  "), agent(), user("Hello."), agent(), broken], StopReason.ERROR, 2
    )
    assert found.broken_turns == pytest.approx(2 / 3)
    assert whats(found, "broken_turns") == ["is empty", "ValueError: nothing"]
    assert found.premature_stops == found.endless_talk == 0.0
