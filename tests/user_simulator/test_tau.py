"""The customers of tau-bench: what their models are told, and what of it reaches the agent."""

import asyncio
from dataclasses import replace

import pytest
from scripted_llm import ScriptedLLM, says

from drl.errors import ConfigError, DialogueError
from drl.llm.base import Message, Request
from drl.runtime.prompts import fill
from drl.types import Brief, Place, Role, Step, Turn
from drl.user_simulator.base import Encounter
from drl.user_simulator.tau import GREETING, TauUserSimulator

BRIEF = Brief(("You are Ann Lee in 10115. You want to return a lamp of {brass}.",))
OPENING = Turn(Role.USER, "I want to return a lamp.")
ANSWER = Turn(Role.AGENT, "What is your zip code?")
STOP = "###STOP###"


def tau(strategy: str = "llm", **changes: object) -> TauUserSimulator:
    given: dict[str, object] = {
        **{"strategy": strategy, "temperature": None, "top_p": None, "top_k": None},
        **{"max_tokens": 512, "stop_tokens": [STOP], "retries": 0, "prompt": None},
    }
    return TauUserSimulator(**given | changes)  # type: ignore[arg-type]


def encounter(*history: Turn) -> Encounter:
    return Encounter(BRIEF, history, seed=11, place=Place("t", 0, 3))


def speak(llm: ScriptedLLM, *history: Turn, strategy: str = "llm", **changes: object) -> Turn:
    return asyncio.run(tau(strategy, **changes).speak(encounter(*history), llm))


def contents(request: Request) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in request.messages[1:]]


def test_it_opens_after_a_greeting_with_its_instruction_as_the_system_s_message():
    llm = says("I want to return a lamp.")
    turn = speak(llm)
    (request,) = llm.requests
    assert contents(request) == [("user", GREETING)]
    assert GREETING == "Hi! How can I help you today?"
    assert request.messages[0] == Message(
        "system",
        fill("drl.user_simulator", "tau.md", instructions=BRIEF.instructions[0], stop=STOP),
    )
    assert f"\n\nInstruction: {BRIEF.instructions[0]}\n\n" in request.messages[0].content
    assert (request.purpose, request.seeds, request.place) == ("user", (11,), Place("t", 0, 3))
    assert turn == Turn(Role.USER, "I want to return a lamp.", turn.steps)


@pytest.mark.parametrize("strategy", ["llm", "react"])
def test_a_prompt_of_a_user_s_own_is_told_in_place_of_ours(tmp_path, strategy):
    file = tmp_path / "prompt.md"
    file.write_text('You call.\n{instructions}\nEnd with {stop}, in {"form": {any}}.\n')
    llm = says("I want to return a lamp.")
    speak(llm, strategy=strategy, prompt=str(file))
    told = llm.requests[0].messages[0].content
    assert told == f'You call.\n{BRIEF.instructions[0]}\nEnd with {STOP}, in {{"form": {{any}}}}.'


def test_a_prompt_that_is_missing_or_leaves_the_instruction_out_is_refused(tmp_path):
    file = tmp_path / "prompt.md"
    with pytest.raises(ConfigError, match=r"user_simulator\.prompt=.* cannot be read"):
        tau(prompt=str(file))
    file.write_text("You call.")
    with pytest.raises(ConfigError, match=r"user_simulator\.prompt=.* has no \{instructions\}"):
        tau(prompt=str(file))


def test_later_it_sees_both_sides_with_roles_swapped():
    llm = says("10115.")
    speak(llm, OPENING, ANSWER)
    assert contents(llm.requests[0]) == [
        ("user", GREETING),
        ("assistant", "I want to return a lamp."),
        ("user", "What is your zip code?"),
    ]


def test_an_agent_that_opened_the_talk_has_greeted_already():
    llm = says("A lamp.")
    speak(llm, Turn(Role.AGENT, "Hello, this is the shop."))
    assert contents(llm.requests[0]) == [("user", "Hello, this is the shop.")]


@pytest.mark.parametrize(("temperature", "asked"), [(None, None), (0.0, 0.0)])
def test_without_a_temperature_the_provider_decides(temperature, asked):
    llm = says("A lamp.")
    speak(llm, temperature=temperature)
    assert llm.requests[0].sampling.temperature == asked


@pytest.mark.parametrize("text", [STOP, f"Thanks! {STOP}"])
def test_a_stop_token_hangs_up_and_stays_in_the_transcript(text):
    turn = speak(says(text), OPENING, ANSWER)
    assert (turn.text, turn.hangs_up) == (text, True)
    assert not speak(says("STOP"), OPENING, ANSWER).hangs_up


def test_each_of_several_stop_tokens_hangs_up():
    tokens = [STOP, "###TRANSFER###"]
    assert speak(says("###TRANSFER###"), OPENING, ANSWER, stop_tokens=tokens).hangs_up
    assert not speak(says("###TRANSFER###"), OPENING, ANSWER).hangs_up


def test_a_turn_that_says_nothing_is_asked_for_again_and_then_breaks():
    llm = says(" ", "A lamp.")
    turn = speak(llm, retries=1)
    assert (turn.text, len(llm.requests)) == ("A lamp.", 2)
    with pytest.raises(DialogueError, match="nothing usable in 1 tries"):
        speak(says(" "))


THOUGHT = "Thought:\nThe zip is next.\n\nUser Response:\nIt is 10115."


def test_a_thought_stays_private_but_the_one_who_thought_it_sees_it_again():
    turn = speak(says(THOUGHT), OPENING, ANSWER, strategy="react")
    assert turn.text == "It is 10115."
    assert turn.public().text == "It is 10115."
    assert turn.public().steps == ()
    assert turn.steps == (Step(THOUGHT, "The zip is next.", reply="It is 10115."),)
    llm = says(THOUGHT)
    speak(llm, OPENING, ANSWER, turn, ANSWER, strategy="react")
    assert contents(llm.requests[0])[3] == ("assistant", THOUGHT)


def test_a_stop_token_counts_in_the_response_and_not_in_the_thought():
    thinks = f"Thought:\nNot yet {STOP}.\nUser Response:\nAnd the bulb?"
    assert not speak(says(thinks), OPENING, ANSWER, strategy="react").hangs_up
    ends = f"Thought:\nDone.\nUser Response:\n{STOP}"
    assert speak(says(ends), OPENING, ANSWER, strategy="react").text == STOP


def test_a_thought_without_a_response_is_never_said():
    llm = says("Thought:\nSecret.", THOUGHT)
    assert speak(llm, OPENING, ANSWER, strategy="react", retries=1).text == "It is 10115."
    with pytest.raises(DialogueError):
        speak(says("Thought:\nSecret."), OPENING, ANSWER, strategy="react")
    assert speak(says("A lamp."), strategy="react").text == "A lamp."


def supervised(*outputs: str, verdicts: str = "", reflection: str = "") -> ScriptedLLM:
    """A model that says these as the customer, and judges by the letters t and f in turn."""
    said, judged = list(outputs), list(verdicts)

    def answer(request: Request, seed: int) -> str:
        told = request.messages[0].content
        if told.endswith("Classification:"):
            return {"t": "True.", "f": "false"}[judged.pop(0)]
        return reflection if "# Form\n\nReflection:" in told else said.pop(0)

    return ScriptedLLM(answer)


def test_verify_says_the_first_that_the_supervisor_agrees_to():
    llm = supervised("one", "two", verdicts="ft")
    turn = speak(llm, OPENING, ANSWER, strategy="verify")
    assert turn.text == "two"
    assert [step.text for step in turn.steps] == ["one", "two"]
    assert (turn.steps[0].reply, turn.steps[0].results[0].error) == (
        None,
        "the supervisor did not agree",
    )
    assert len(llm.requests) == 4
    assert all(request.purpose == "user" for request in llm.requests)
    assert len({request.seeds for request in llm.requests}) == 4


def test_verify_says_the_third_whatever_the_supervisor_would_think_of_it():
    llm = supervised("one", "two", f"{STOP}", verdicts="ff")
    turn = speak(llm, OPENING, ANSWER, strategy="verify")
    assert (turn.text, turn.hangs_up, len(turn.steps)) == (STOP, True, 3)
    assert len(llm.requests) == 5


def test_the_supervisor_reads_who_said_what_and_the_response():
    llm = supervised("It is {10115}.", verdicts="t")
    speak(llm, OPENING, ANSWER, strategy="verify")
    (message,) = llm.requests[1].messages
    lines = (
        f"Agent: {GREETING}\nCustomer: I want to return a lamp.\nAgent: What is your zip code?\n"
    )
    assert lines in message.content
    assert "# Response\nIt is {10115}.\n" in message.content


BETTER = "Reflection:\nIt made up a zip.\n\nResponse:\nIt is 10115."


def test_reflection_says_the_supervisor_s_response_in_place_of_one_that_will_not_do():
    llm = supervised("It is 99999.", verdicts="ft", reflection=BETTER)
    turn = speak(llm, OPENING, ANSWER, strategy="reflection")
    assert turn.text == "It is 10115."
    assert [step.text for step in turn.steps] == ["It is 99999.", BETTER]
    assert "made up" in turn.steps[1].plan
    assert len(llm.requests) == 4


@pytest.mark.parametrize(
    ("verdicts", "reflection", "num_calls"),
    [("t", "", 2), ("ff", BETTER, 4), ("f", "It is bad.", 3), ("f", "Reflection: x\nResponse:", 3)],
)
def test_reflection_keeps_the_first_where_it_will_do_or_nothing_better_comes(
    verdicts, reflection, num_calls
):
    llm = supervised("first", verdicts=verdicts, reflection=reflection)
    turn = speak(llm, OPENING, ANSWER, strategy="reflection")
    assert (turn.text, turn.steps[-1].reply) == ("first", "first")
    assert len(llm.requests) == num_calls


@pytest.mark.parametrize("strategy", ["llm", "react", "verify", "reflection"])
def test_the_same_encounter_gives_the_same_turn(strategy):
    def answer(request: Request, seed: int) -> str:
        return f"User Response: {seed} Response: {seed} true"

    assert speak(ScriptedLLM(answer), OPENING, ANSWER, strategy=strategy) == speak(
        ScriptedLLM(answer), OPENING, ANSWER, strategy=strategy
    )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"strategy": "human"}, r"strategy=human is unknown; use one of llm, react"),
        ({"stop_tokens": []}, r"stop_tokens=\[\] must hold at least one"),
        ({"stop_tokens": [STOP, " "]}, r"stop_tokens=.* none that is empty"),
        ({"temperature": 3.0}, r"temperature=3.0 must lie in"),
        ({"retries": -1}, r"retries=-1 must not be negative"),
    ],
)
def test_wrong_settings_are_refused_by_name(changes, message):
    with pytest.raises(ConfigError, match=message):
        replace(tau(), **changes)
