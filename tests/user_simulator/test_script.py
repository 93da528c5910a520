import asyncio

from drl.llm.base import NoLLM
from drl.types import Brief, Role, Turn
from drl.user_simulator.base import END_OF_CONVERSATION, Encounter
from drl.user_simulator.script import ScriptUserSimulator

BRIEF = Brief((), human_turns=("one", "two"))


def speak(*history: Turn) -> Turn:
    return asyncio.run(
        ScriptUserSimulator().speak(Encounter(BRIEF, history, seed=0), NoLLM("user_llm"))
    )


def test_it_says_what_the_human_said_at_that_turn_and_then_hangs_up():
    own, reply = Turn(Role.USER, "whatever"), Turn(Role.AGENT, "hm")
    assert [speak(*[own, reply] * turns).text for turns in range(3)] == [
        "one",
        "two",
        END_OF_CONVERSATION,
    ]
    assert [speak(*[own, reply] * turns).hangs_up for turns in range(3)] == [False, False, True]
