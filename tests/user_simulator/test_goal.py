"""The customer who pursues goals through a model, and the rules that keep it a customer."""

import asyncio
import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import ScriptedAgent, cast_of, josh, say, task_of
from scripted_llm import ScriptedLLM, says

from drl.domains.conversation import role_flip
from drl.errors import ConfigError
from drl.llm.base import Completion, Request
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Brief, Place, Role, StopReason, Turn
from drl.user_simulator.base import END_OF_CONVERSATION, Encounter
from drl.user_simulator.goal import GoalUserSimulator

END = END_OF_CONVERSATION
BRIEF = Brief(("You need a place to stay.", "It should be {cheap}."))
OPENING = Turn(Role.USER, "I need a place to stay.")
OFFER = Turn(Role.AGENT, "Worth House is free. Would you like me to book it?")
BOOKED = Turn(Role.AGENT, "It is booked; your reference is AB12.")


def goal(**changes: object) -> GoalUserSimulator:
    given: dict[str, object] = {
        **{"temperature": 0.0, "top_p": None, "top_k": None, "max_tokens": 256},
        **{"fidelity": True, "retries": 2, "reminder_role": "system"},
    }
    return GoalUserSimulator(**given | changes)  # type: ignore[arg-type]


def encounter(*history: Turn) -> Encounter:
    return Encounter(BRIEF, history, seed=11, place=Place("t", 0, 3))


def speak(llm: ScriptedLLM, *history: Turn, **changes: object) -> Turn:
    return asyncio.run(goal(**changes).speak(encounter(*history), llm))


def test_it_opens_with_its_goals_one_a_line_and_is_asked_to_speak_first():
    llm = says("Hello, I need a place to stay.")
    turn = speak(llm)
    (request,) = llm.requests
    system, opening = request.messages
    assert (system.role, opening.role) == ("system", "user")
    assert "\nYou need a place to stay.\nIt should be {cheap}.\n" in system.content
    assert END in system.content
    assert "first words" in opening.content
    assert (request.purpose, request.seeds, request.place) == ("user", (11,), Place("t", 0, 3))
    assert request.sampling.temperature == 0.0
    assert turn == replace(turn, role=Role.USER, text="Hello, I need a place to stay.")
    assert not turn.hangs_up


def test_later_it_sees_both_sides_with_roles_swapped_and_a_reminder():
    messages = goal().messages(encounter(OPENING, OFFER))
    assert [message.role for message in messages] == [
        *("system", "user", "assistant", "user", "system")
    ]
    assert [messages[2].content, messages[3].content] == [OPENING.text, OFFER.text]
    assert END in messages[4].content
    assert messages[:2] == goal().messages(encounter())


def test_the_reminder_may_stand_below_the_agents_words():
    messages = goal(reminder_role="user").messages(encounter(OPENING, OFFER))
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[-1].content.startswith(f"{OFFER.text}\n\n(")


def test_the_word_ends_the_call_and_stays_in_the_transcript():
    turn = speak(says(f"Thank you, bye. {END}"), OPENING, BOOKED)
    assert (turn.text, turn.hangs_up) == (f"Thank you, bye. {END}", True)
    assert speak(says(END), OPENING, BOOKED).text == END


def test_nothing_is_said_after_hanging_up():
    turn = speak(says(f"Bye. {END} Actually, one more thing."), OPENING, BOOKED)
    assert turn.text == f"Bye. {END}"


@pytest.mark.parametrize(
    "text",
    [
        "<think>A secret.</think>I need a hotel.",
        "Thought: A secret.\n\nI need a hotel.",
        "PLAN A secret. <COMMAND_END> SPEAK I need a hotel. <COMMAND_END>",
        "A secret.</think>\nCustomer: I need a hotel.",
    ],
)
def test_thoughts_stay_with_the_customer(text):
    turn = speak(says(text), OPENING, OFFER)
    assert turn.text == "I need a hotel."
    (step,) = turn.steps
    assert (step.text, step.reply) == (text, "I need a hotel.")
    assert "secret" in step.plan
    assert "secret" not in str(turn.public())


def test_wanting_to_hang_up_in_thought_is_not_hanging_up():
    turn = speak(says(f"<think>Say {END}? Not yet.</think>What does it cost?"), OPENING, OFFER)
    assert (turn.text, turn.hangs_up) == ("What does it cost?", False)


@pytest.mark.parametrize("text", ["Yes, please book it.", "Yes, that would be great!", "Go ahead."])
def test_it_cannot_hang_up_in_the_turn_that_agrees_to_a_booking(text):
    turn = speak(says(f"{text} {END}"), OPENING, OFFER)
    assert (turn.text, turn.hangs_up) == (text, False)
    assert turn.steps[0].text == f"{text} {END}"


def test_it_can_hang_up_on_a_refusal_and_after_the_booking():
    assert speak(says(f"No thanks, bye. {END}"), OPENING, OFFER).hangs_up
    assert speak(says(f"Great, thanks! {END}"), OPENING, OFFER, OPENING, BOOKED).hangs_up


def test_it_cannot_hang_up_before_the_agent_has_spoken():
    assert speak(says(f"I need a hotel. {END}")).text == "I need a hotel."
    llm = says(END, "I need a hotel.")
    assert speak(llm).text == "I need a hotel."
    assert len(llm.requests) == 2


def test_only_the_customer_ends_the_call():
    tricky = f"Goodbye! {END[:4]}{END}{END[4:]} {END}"
    said = Turn(Role.AGENT, tricky, hangs_up=True)
    llm = says("And the price?")
    assert not speak(llm, OPENING, said).hangs_up
    assert llm.requests[0].messages[3].content == "Goodbye!"


def test_speaking_as_the_agent_is_asked_for_again_with_the_fault_and_another_seed():
    llm = says("How can I help you?", "I have booked it for you.", "I need a hotel.")
    turn = speak(llm, OPENING, OFFER)
    assert turn.text == "I need a hotel."
    assert [step.reply for step in turn.steps] == [None, None, "I need a hotel."]
    assert all(step.results[0].error for step in turn.steps[:2])
    first, second, third = llm.requests
    assert len({first.seeds, second.seeds, third.seeds}) == 3
    assert second.messages[:-1] == first.messages[:-1]
    assert "it spoke as the agent would do" in second.messages[-1].content
    again = says("How can I help you?", "I have booked it for you.", "I need a hotel.")
    assert speak(again, OPENING, OFFER) == turn
    assert again.requests == llm.requests


def test_at_last_the_agents_sentences_are_cut_and_the_turn_is_marked():
    text = "A cheap one, please. Enjoy your stay!"
    llm = says(text)
    turn = speak(llm, OPENING, OFFER)
    assert len(llm.requests) == 3
    assert turn.text == "A cheap one, please."
    assert turn.steps[-1].text == text
    assert turn.steps[-1].results[0].error == "it spoke as the agent would do"


def test_a_customer_who_is_only_ever_the_agent_breaks_the_dialogue():
    with pytest.raises(ValueError, match="nothing usable in 3 tries: it spoke as the agent"):
        speak(says("How can I help you?"), OPENING, OFFER)


def test_a_made_up_answer_of_the_agent_is_cut():
    assert speak(says("A cheap one.\nAgent: Sure!\nCustomer: Thanks."), OPENING, OFFER).text == (
        "A cheap one."
    )


@pytest.mark.parametrize("text", ["", " \n\t", "\x00\x07", "<think>only this"])
@pytest.mark.parametrize("retries", [0, 2])
def test_silence_is_asked_about_and_then_breaks_the_dialogue(text, retries):
    llm = says(text)
    with pytest.raises(ValueError, match="held no words"):
        speak(llm, OPENING, OFFER, retries=retries)
    assert len(llm.requests) == retries + 1


def test_two_megabytes_are_asked_for_again():
    assert speak(says("so " * 700_000, "A cheap one."), OPENING, OFFER).text == "A cheap one."


def test_control_characters_and_halves_of_characters_are_not_said():
    assert speak(says("a\x00b\ud800\nc"), OPENING, OFFER).text == "ab\ufffd\nc"


def test_without_fidelity_whatever_is_written_is_said():
    text = f"Yes, please book it. {END} How can I help you? <think>x</think>"
    turn = speak(says(text), OPENING, OFFER, fidelity=False, retries=0)
    assert (turn.text, turn.hangs_up) == (text, True)
    said = Turn(Role.AGENT, f"Bye {END}")
    messages = goal(fidelity=False).messages(encounter(OPENING, said))
    assert messages[3].content == f"Bye {END}"


def play(user: GoalUserSimulator, llm: ScriptedLLM) -> DialogueTree:
    rollout = josh(beam_size=4, max_steps=6, concurrency=8)
    agent = ScriptedAgent(lambda situation: say("Would you like me to book it?"))
    cast = replace(cast_of(agent, user), user_llm=llm)
    return asyncio.run(rollout.run(task_of("never"), 0, cast))


def test_in_a_search_siblings_meet_the_same_customer_who_hangs_up_in_the_end():
    def answer(request: Request, seed: int) -> str:
        own = sum(message.role == "assistant" for message in request.messages)
        return f"Yes, please. {END}" if own < 3 else f"No, thank you. {END}"

    llm = ScriptedLLM(answer)
    tree = play(goal(), llm)
    assert {leaf.stop for leaf in tree.leaves()} == {StopReason.USER_ENDED}
    assert {len(tree.dialogue(leaf.id)) for leaf in tree.leaves()} == {7}
    assert len({request.seeds for request in llm.requests}) == 4  # one for each turn
    texts = {turn.text for leaf in tree.leaves() for turn in tree.dialogue(leaf.id)}
    assert texts == {"Yes, please.", "Would you like me to book it?", f"No, thank you. {END}"}


def test_a_silent_customer_is_a_failure_of_the_dialogue_and_not_of_the_agent():
    tree = play(goal(), says(""))
    (leaf,) = tree.leaves()
    assert leaf.stop is StopReason.ERROR
    assert leaf.score is None
    assert leaf.turn.failure is not None
    assert leaf.turn.failure.stage == "user_simulator"


PIECES = st.lists(
    st.sampled_from(
        [
            *("<think>", "</think>", "Thought: ", "PLAN ", "SPEAK ", "<COMMAND_END>", "\n", " "),
            *(END, "Yes, book it. ", "How can I help you? ", "Customer: ", "Agent: ", "A hotel. "),
            *("\x00", "\ud800", "APICALL {}", "no", "Enjoy your stay!"),
        ]
    ),
    max_size=8,
).map("".join)


@settings(max_examples=300)
@given(st.lists(PIECES | st.text(), min_size=3, max_size=3), st.sampled_from([OFFER, BOOKED, None]))
def test_no_output_whatever_breaks_the_rules(texts, heard):
    history = (OPENING, heard) if heard else ()
    llm = says(*(Completion(text, "stop") for text in texts))
    try:
        turn = speak(llm, *history)
    except ValueError:
        return
    assert turn.text is not None
    turn.text.encode()
    assert turn.text == turn.text.strip() != ""
    assert turn.hangs_up == turn.text.endswith(END) == (END in turn.text)
    assert heard or not turn.hangs_up
    assert not role_flip(turn.text.removesuffix(END))
    assert "<think>" not in turn.text
    assert turn.steps[-1].reply == turn.text


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"retries": -1}, "user_simulator.retries=-1 must not be negative"),
        ({"reminder_role": "agent"}, "user_simulator.reminder_role=agent is unknown"),
        ({"temperature": -1.0}, "user_simulator.temperature=-1.0 must lie in"),
        ({"max_tokens": 0}, "user_simulator.max_tokens=0 must be at least 1"),
    ],
)
def test_wrong_settings_are_refused_by_name(changes, words):
    with pytest.raises(ConfigError, match=re.escape(words)):
        goal(**changes)
