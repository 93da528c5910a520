"""The customer that follows an instruction by rules: what it understands, says and keeps silent."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drl.domains.tau.marks import STOP
from drl.errors import ConfigError
from drl.llm.base import NoLLM
from drl.types import Brief, Role, Turn
from drl.user_simulator._first_person import first_person
from drl.user_simulator._instruction import take_apart
from drl.user_simulator.base import Encounter
from drl.user_simulator.facts import FactsUserSimulator

LAMP = (
    "Your name is Ann Marie Lee and your zip code is 10115. You are shy, polite. You ordered a "
    "lamp in #W1234567 and want to send it back, since it hurts your eyes. If the agent offers you "
    "a voucher, you'd rather take the money."
)
TRIP = (
    "You are tom_o_brien_4711, you live in Leeds, and you want to fly to Oslo on May 3. You want "
    "to take your bike with you! You are reactive to the agent and will not say what is not asked."
)
SHOP = Turn(Role.AGENT, "To help you, please give me your email, or your name and zip code.")


def say(instruction: str, *replies: str, seed: int = 0, patience: int = 3) -> list[Turn]:
    """The customer's turns: the opening, then one after each reply while it has not hung up."""
    simulator = FactsUserSimulator(patience=patience)
    history: tuple[Turn, ...] = ()
    turns: list[Turn] = []
    for reply in (None, *replies):
        if reply is not None:
            history += (Turn(Role.AGENT, reply),)
        encounter = Encounter(Brief((instruction,)), history, seed)
        turns.append(asyncio.run(simulator.speak(encounter, NoLLM("user_llm"))))
        history += (turns[-1],)
        if turns[-1].hangs_up:
            break
    return turns


def last(instruction: str, *replies: str, **settings: int) -> str:
    turns = say(instruction, *replies, **settings)
    assert len(turns) == len(replies) + 1, "it hung up before"
    return turns[-1].text or ""


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("you want your hat", "I want my hat"),
        ("You are Ann and you're late.", "I am Ann and I'm late."),
        ("it was given to you, so you'd keep it", "It was given to me, so I'd keep it"),
        ("If the agent asks you, you'll answer.", "If you ask me, I'll answer."),
        ("the agent says you owe it; the agent's name", "You say I owe it; your name"),
        ("a fault caused you to be late", "A fault caused me to be late"),
        ("do it yourself, the hat is yours", "Do it myself, the hat is mine"),
        ("If it is new, return it.", "If it is new, return it."),
    ],
)
def test_what_it_is_told_it_says_in_the_first_person(told, said):
    assert first_person(told) == said


def test_an_instruction_comes_apart_in_who_it_is_and_what_it_wants():
    lamp = take_apart((LAMP,))
    assert lamp.facts == {"name": "Ann Marie Lee", "zip": "10115"}
    assert lamp.requests == (
        "I ordered a lamp in #W1234567 and want to send it back, since it hurts my eyes.",
        "If you offer me a voucher, I'd rather take the money.",
    )
    trip = take_apart((TRIP,))
    assert trip.facts == {"user_id": "tom_o_brien_4711"}
    assert trip.requests == ("I want to fly to Oslo on May 3.", "I want to take my bike with me!")


@pytest.mark.parametrize(
    ("instruction", "facts", "requests"),
    [
        ("Your user id is ann_lee_0042.", {"user_id": "ann_lee_0042"}, ()),
        (
            "You are Bo Ek in 54321, and your email is bo.ek@mail.example.com. Cancel it.",
            {"name": "Bo Ek", "zip": "54321", "email": "bo.ek@mail.example.com"},
            ("Cancel it.",),
        ),
        (
            "Pay $12.50 with gift_card_1234 at 9 a.m. today. No. 7 is for Mr. Ek.",
            {},
            ("Pay $12.50 with gift_card_1234 at 9 a.m. today.", "No. 7 is for Mr. Ek."),
        ),
        ("You are angry and want your money.", {}, ("I want my money.",)),
        ("You are interested in a boat.", {}, ("I am interested in a boat.",)),
        # words without an end, for which a careless pattern would look for ever
        (f"You are {'-' * 5000}9.", {}, (f"I am {'-' * 5000}9.",)),
        ("", {}, ()),
    ],
)
def test_other_forms_of_instructions(instruction, facts, requests):
    read = take_apart((instruction,))
    assert (read.facts, read.requests) == (facts, requests)


def test_it_opens_with_its_first_request_and_keeps_who_it_is_to_itself():
    opening = last(LAMP)
    assert opening.endswith("send it back, since it hurts my eyes.")
    assert "Ann" not in opening
    assert "10115" not in opening
    assert "voucher" not in opening


def test_asked_who_it_is_it_says_what_it_was_asked_for_and_what_it_knows():
    answer = last(LAMP, str(SHOP.text))
    assert "Ann Marie Lee" in answer
    assert "10115" in answer
    assert "@" not in answer
    assert "10115" not in last(LAMP, "May I have your name?")
    assert "10115" in last(LAMP, "Please verify your identity.")


def test_where_it_knows_nothing_of_what_it_is_asked_it_says_what_it_knows_else():
    assert "tom_o_brien_4711" in last(TRIP, "What is your email?")
    assert "email" not in last(TRIP, "What is your email?").lower()


def test_it_tells_one_request_a_turn_and_hangs_up_once_all_is_told_and_done():
    turns = say(TRIP, "I see.", "Your bike is booked as well.", "Never heard.")
    texts = [turn.text or "" for turn in turns]
    assert texts[1].endswith("I want to take my bike with me!")
    assert (texts[2], turns[2].hangs_up) == (STOP, True)


@pytest.mark.parametrize(
    "reply",
    [
        "I will refund $20. Do you confirm (yes/no)?",
        "Please reply yes to proceed.",
        "Shall I go ahead?",
        "Would you like me to send it back for your zip code 10115?",
    ],
)
def test_it_agrees_when_it_is_asked_for_leave(reply):
    assert last(LAMP, reply).startswith("Yes")


def test_a_question_about_a_request_is_answered_with_it():
    long = f"{LAMP} You want to pay with a card. You also need a new shade."
    assert last(long, "Which colour of shade do you need?").endswith("I also need a new shade.")


def test_it_invents_nothing():
    for question in ("What is your shoe size?", "Which reservation number is it?"):
        text = last("You want a hat.", question)
        assert "don't" in text
        assert not any(letter.isdigit() for letter in text)
    again = last(LAMP, "What is the order number of the lamp?")
    assert "#W1234567" in again


def test_an_agent_that_says_it_acts_is_waited_for_and_one_that_does_nothing_is_asked_once():
    waits = say("You want a hat.", "Let me check that for you.", "It has been sent.")
    assert [turn.steps[0].plan for turn in waits] == ["opens", "waits", "hangs up"]
    nudges = say("You want a hat.", "A hat is nice.", "A hat is nice.")
    assert [turn.steps[0].plan for turn in nudges] == ["opens", "asks to get on", "hangs up"]


def test_it_hangs_up_when_asked_whether_there_is_anything_else_and_there_is_not():
    assert last("You want a hat.", "Is there anything else I can help you with?") == STOP
    text = last(TRIP, "Is there anything else I can help you with?")
    assert text.endswith("I want to take my bike with me!")


def test_it_hangs_up_after_it_had_nothing_new_to_say_for_too_long():
    asked = [f"What is your shoe size in {country}?" for country in ("Italy", "Peru", "Togo")]
    assert say("You want a hat.", *asked, patience=2)[-1].text == STOP
    assert len(say("You want a hat.", *asked, patience=2)) == 3
    assert len(say("You want a hat.", *asked, patience=3)) == 4


def test_the_seed_chooses_words_and_nothing_else():
    replies = (str(SHOP.text), "Do you confirm?", "It has been refunded.")
    variants = {tuple(turn.text for turn in say(LAMP, *replies, seed=seed)) for seed in range(20)}
    plans = {
        tuple(turn.steps[0].plan for turn in say(LAMP, *replies, seed=seed)) for seed in range(20)
    }
    assert len(variants) > 5
    assert len(plans) == 1
    assert say(LAMP, *replies, seed=3) == say(LAMP, *replies, seed=3)


def test_the_word_that_hangs_up_is_not_said_for_the_instruction():
    assert not say(f"Say {STOP} now. You want a hat.")[0].hangs_up


@settings(max_examples=100)
@given(st.text(max_size=200), st.lists(st.text(max_size=100), max_size=4))
def test_whatever_it_is_told_and_hears_it_says_something(instruction, replies):
    for turn in say(instruction, *replies):
        assert turn.text


def test_patience_is_positive():
    with pytest.raises(ConfigError, match=r"user_simulator\.patience=0 must be at least 1"):
        FactsUserSimulator(patience=0)
