"""The customer who is coached to keep to a human dialogue: its prompt, its quote, its end."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_llm import ScriptedLLM, says

from drl.errors import ConfigError
from drl.types import Brief, Role, Turn
from drl.user_simulator.base import END_OF_CONVERSATION, Encounter
from drl.user_simulator.guide import GuideUserSimulator

END = END_OF_CONVERSATION
BRIEF = Brief(
    ("You need a place to stay.", "It should be cheap."),
    human_turns=("Hi, I need\na room.", "Thanks, bye."),
)
OPENING = Turn(Role.USER, "Hi, I need a room.")
OFFER = Turn(Role.AGENT, "Would you like me to book Worth House?")


def guide(**changes: object) -> GuideUserSimulator:
    given: dict[str, object] = {
        **{"temperature": 0.0, "top_p": None, "top_k": None, "max_tokens": 256},
        **{"fidelity": True, "retries": 2},
    }
    return GuideUserSimulator(**given | changes)  # type: ignore[arg-type]


def speak(llm: ScriptedLLM, *history: Turn, **changes: object) -> Turn:
    return asyncio.run(guide(**changes).speak(Encounter(BRIEF, history, seed=5), llm))


def prompt(*history: Turn, brief: Brief = BRIEF) -> str:
    (message,) = guide().messages(Encounter(brief, history, seed=5))
    assert message.role == "user"
    return message.content


def test_one_call_a_turn_with_goals_the_human_dialogue_and_the_call_so_far():
    llm = says('Advice: quote it.\nSuggested quote: "Hi, I need a room."')
    turn = speak(llm)
    assert turn.text == "Hi, I need a room."
    assert len(llm.requests) == 1
    assert "You need a place to stay.\nIt should be cheap.\n" in prompt()
    assert "\ncustomer: Hi, I need a room.\ncustomer: Thanks, bye.\n" in prompt()
    assert "(not yet begun)" in prompt()


def test_each_line_of_the_transcript_names_who_said_it():
    assert f"\ncustomer: Hi, I need a room.\nagent: {OFFER.text}\ncustomer: Thanks\n" in prompt(
        OPENING, OFFER, Turn(Role.USER, "Thanks")
    )


def test_each_line_of_the_human_dialogue_names_who_said_it_where_both_sides_were_kept():
    both = Brief(("Go.",), human_turns=("A room?", "Bye."), human_replies=("The Ash\nhas one.",))
    assert "\ncustomer: A room?\nagent: The Ash has one.\ncustomer: Bye.\n" in prompt(brief=both)


def test_a_task_without_a_human_dialogue_says_so():
    assert "(not known)" in prompt(brief=Brief(("You need a room.",)))


def test_only_what_follows_the_last_quote_mark_is_said_on_one_line_without_quotes():
    text = (
        'Advice: not "Suggested quote: yes" but this.\n\n'
        '**Suggested quote:** "A cheap\n“room”, please."'
    )
    turn = speak(says(text), OPENING, OFFER)
    assert turn.text == "A cheap room, please."
    (step,) = turn.steps
    assert step.text == text
    assert step.plan.startswith("Advice: not")
    assert "Advice" not in str(turn.public())


def test_it_ends_on_the_word_behind_the_quote_only():
    bye = speak(says(f'Advice: bye.\nSuggested quote:\n"Thanks, bye." {END}'), OPENING, OFFER)
    assert (bye.text, bye.hangs_up) == (f"Thanks, bye. {END}", True)
    advice = f'Advice: do not write {END}.\nSuggested quote: "And the price?"'
    assert not speak(says(advice), OPENING, OFFER).hangs_up


def test_without_a_quote_it_is_asked_again_and_then_breaks():
    llm = says("Advice: go on.", 'Suggested quote: "Go on."')
    assert speak(llm, OPENING, OFFER).text == "Go on."
    assert "Suggested quote" in llm.requests[1].messages[-1].content.splitlines()[-1]
    with pytest.raises(ValueError, match="it held no line"):
        speak(says("Advice: go on."), OPENING, OFFER)
    with pytest.raises(ValueError, match="held no words"):
        speak(says('Suggested quote: ""'), OPENING, OFFER)


def test_the_rules_of_the_goal_user_hold_for_the_quote():
    consent = speak(says(f'Suggested quote: "Yes, please book it." {END}'), OPENING, OFFER)
    assert (consent.text, consent.hangs_up) == ("Yes, please book it.", False)
    flipped = says('Suggested quote: "How can I help you?"', 'Suggested quote: "A room."')
    assert speak(flipped, OPENING, OFFER).text == "A room."
    free = speak(says(f"Suggested quote: Yes, book it {END}"), OPENING, OFFER, fidelity=False)
    assert free.hangs_up


def test_the_agent_cannot_end_the_call():
    assert (
        END
        not in prompt(OPENING, Turn(Role.AGENT, f"Bye {END}")).split("so far")[1].split("Write")[0]
    )


PIECES = st.lists(
    st.sampled_from(["Suggested quote:", '"', "“", "\n", "hello ", END, "Advice: ", "\ud800", " "]),
    max_size=8,
).map("".join)


@settings(max_examples=200)
@given(PIECES | st.text())
def test_no_output_whatever_breaks_the_rules(text):
    try:
        turn = speak(says(text), OPENING, OFFER)
    except ValueError:
        return
    assert turn.text
    turn.text.encode()
    assert "\n" not in turn.text
    assert '"' not in turn.text
    assert turn.hangs_up == (END in turn.text)


def test_wrong_settings_are_refused_by_name():
    with pytest.raises(ConfigError, match=r"user_simulator\.retries=-1 must not be negative"):
        guide(retries=-1)
