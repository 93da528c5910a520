"""What words give away: private parts, who speaks, what agrees to an action."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drl.domains.conversation import (
    audible,
    consents,
    offers,
    own_words,
    role_flip,
    split_private,
    without_flips,
)
from drl.runtime.surrogates import writable

PIECES = st.lists(
    st.sampled_from(
        [
            *("<think>", "</think>", "<plan>", "</plan>", "Thought:", "PLAN ", "SPEAK ", "\n"),
            *("\n\n", "Customer: ", "Agent: ", "hello", ". ", "(thinking: x)", "**Reasoning:** "),
            *("<COMMAND_END>", "Reply: ", "*thinks*", " ", "I need a hotel"),
        ]
    ),
    max_size=10,
).map("".join)
OFFER = "Worth House is free. Would you like me to book it?"


@pytest.mark.parametrize(
    ("text", "public"),
    [
        ("I need a hotel.", "I need a hotel."),
        ("<think>not all at once</think>I need a hotel.", "I need a hotel."),
        ("<Thinking>a</Thinking>\n\nI need <b>two</b> rooms.", "I need <b>two</b> rooms."),
        ("not all at once </think> I need a hotel.", "I need a hotel."),
        ("<think>it never ends: I need a hotel.", ""),
        ("<th<think>a</think>ink>b</think> hello", "hello"),
        ("Thought: keep it short.\n\nI need a hotel.", "I need a hotel."),
        ("Thought: keep it short.\n\nMore of it.\nCustomer: I need a hotel.", "I need a hotel."),
        ("**Reasoning:** x\n**Response:** I need a hotel.", "I need a hotel."),
        ("PLAN ask <COMMAND_END> SPEAK I need a hotel. <COMMAND_END>", "I need a hotel."),
        ("A hotel. Thought: no more. Reply: In the north.", "A hotel.\nIn the north."),
        ("(thinking: hm) I need a hotel.", "I need a hotel."),
        ("*thinks hard* I need a hotel.", "I need a hotel."),
        ("Customer: I need a hotel.", "I need a hotel."),
        ("My plan is a hotel (in the north).", "My plan is a hotel (in the north)."),
        ("I thought: why not a hotel?", "I thought: why not a hotel?"),
    ],
)
def test_thoughts_are_split_from_what_is_said(text, public):
    assert split_private(text).public == public
    assert bool(split_private(text).private) == (len(public) < len(text) - len("Customer: "))


@given(PIECES | st.text())
def test_what_is_public_holds_nothing_private(text):
    public = split_private(text).public
    assert split_private(public).private == ""
    assert "<think>" not in public
    assert "</think>" not in public


def test_a_text_ends_where_its_author_goes_on_as_the_agent():
    assert own_words("I need a hotel.\nAgent: Which area?\nCustomer: North.") == "I need a hotel."
    assert own_words("My travel agent: a friend.") == "My travel agent: a friend."


@pytest.mark.parametrize(
    "text",
    [
        *("How can I help you today?", "I have booked the table.", "I've just reserved it."),
        *("Agent: hello", "Your booking has been confirmed.", "Would you like me to book it?"),
        *("Is there anything else I can help you with?", "I'd be happy to assist!"),
        *('APICALL {"name": "a"}', '{"name": "a", "parameters": {}}', "Enjoy your stay!"),
        *("Let me check that for you.", "Your reference number is AB12.", 'CALL {"a":{}}'),
        *("As an AI, I have no preference.", "What is your preferred price range?"),
    ],
)
def test_speaking_as_the_agent_is_noticed(text):
    assert role_flip(text)
    assert role_flip(f"Thank you.\n{text}")


@pytest.mark.parametrize(
    "text",
    [
        *("I need a cheap hotel in the north.", "Can you book it for me?", "Is it booked?"),
        *("What is the reference number?", "Could you help me find a train?", "Thanks, bye!"),
        *("I'd like to book a table for 6.", "Do you have any guesthouses?", "Yes, please."),
        *("What about your budget hotels?", "Can I help myself to breakfast?", "Is that all?"),
        *("I have a booking in mind.", "Have you booked it?", "I was told you can help."),
        *("Do you have any budget options?", "Please let me know the price.", "I call it fair."),
    ],
)
def test_a_customers_words_are_not_taken_for_the_agents(text):
    assert not role_flip(text)
    assert without_flips(text) == text


def test_only_the_agents_sentences_are_cut():
    assert without_flips("Thanks for that. Enjoy your stay! I need a train.") == (
        "Thanks for that. I need a train."
    )
    assert without_flips("How can I help you?") == ""
    assert without_flips('APICALL {"name": "a"} Thanks.') == ""


@pytest.mark.parametrize(
    ("text", "agent", "expected"),
    [
        ("Yes, please book it.", "", True),
        ("Please go ahead.", "", True),
        ("I'd like to book a table for 3.", "Tell me more.", True),
        ("Sounds good, book it for 3 nights. That's all I need.", OFFER, True),
        ("No, please book the other one.", OFFER, True),
        ("Yes please!", OFFER, True),
        ("That works.", "How about 18:45 instead? I can book that.", True),
        ("Yes.", "Is there anything else I can help with?", False),
        ("Yes.", "Which day should I book it for?", False),
        ("Yes, that's all.", OFFER, False),
        ("No thanks, that's all.", OFFER, False),
        ("No, don't book it.", OFFER, False),
        ("Great, thanks for booking it.", "It is booked; the reference is AB.", False),
        ("Perfect, thank you!", "It is booked. Do you need anything else?", False),
        ("Thank you, goodbye.", OFFER, False),
    ],
)
def test_consent_is_a_demand_to_act_or_a_yes_to_an_offer(text, agent, expected):
    assert consents(text, agent) is expected


def test_an_offer_asks_for_leave_to_act():
    assert offers(OFFER)
    assert not offers("Would you like me to book it? Or is there anything else I can book?")
    assert not offers("I booked it.")


@given(st.text(), st.text())
def test_nothing_is_said_that_cannot_be_written_or_heard(text, other):
    heard = audible(writable(text))
    heard.encode()
    assert audible(heard) == heard
    assert set(writable(other)) - {"\ufffd"} <= set(other)


def test_halves_of_characters_are_replaced_and_pairs_joined():
    assert writable("a\ud800b") == "a\ufffdb"
    assert writable("\ud83d\ude00") == "\U0001f600"


@pytest.mark.parametrize(
    "text",
    ["<think " * 2_800, "(thinking " * 2_000, "Thought: " * 2_200, "a." * 10_000, "{" * 20_000],
)
def test_hostile_texts_are_judged_in_bounded_time(text):
    split_private(text)
    role_flip(text)
    without_flips(text)
    consents(text, text)
