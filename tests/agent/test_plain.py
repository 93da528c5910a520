"""The agent that writes plain text: what it asks, and what becomes of the answer."""

import asyncio

import pytest
from scripted_llm import says

from drl.agent.base import Situation
from drl.agent.plain import PlainAgent
from drl.errors import ConfigError
from drl.llm.base import Completion, Message, Sampling
from drl.types import Role, Sampled, Step, Toolbox, ToolCall, ToolResult, ToolSpec, Turn

TOOLBOX = Toolbox((ToolSpec("search", "Finds", {"type": "object", "properties": {}}),))
OPENING = Turn(Role.USER, " Once upon ")
SAMPLED = Sampled((1, 2), (3, 4), (-0.5, -0.25))


def agent(**changes: object) -> PlainAgent:
    given = {"system": None, "temperature": 0.7, "top_p": None, "top_k": None, "max_tokens": 8}
    return PlainAgent(**given | {"stop": []} | changes)  # type: ignore[arg-type]


def situation(*history: Turn) -> Situation:
    return Situation(history, (), TOOLBOX, seed=7)


def test_the_prompt_is_the_chat_alone_without_tools():
    asked = agent(stop=["\n"], top_k=5).request(situation(OPENING))
    assert asked.messages == (Message("user", " Once upon "),)
    assert asked.tools == ()
    assert asked.seeds == (7,)
    assert asked.sampling == Sampling(0.7, 8, None, 5, ("\n",))


def test_a_system_prompt_comes_first_where_there_is_one():
    asked = agent(system="Tell tales.").request(situation(OPENING))
    assert asked.messages == (Message("system", "Tell tales."), Message("user", " Once upon "))


def test_own_turns_are_shown_as_they_were_written():
    own = Turn(Role.AGENT, " a time\n", (Step(" a time\n", reply=" a time\n"),))
    asked = agent().request(situation(OPENING, own, Turn(Role.USER, "And?")))
    assert [message.role for message in asked.messages] == ["user", "assistant", "user"]
    assert asked.messages[1].content == " a time\n"


def test_where_nobody_has_spoken_the_chat_opens_with_no_words():
    assert agent().request(situation()).messages == (Message("user", ""),)


@pytest.mark.parametrize("text", [" a time. \n", "", "\n", "\x07 a"])
def test_the_reply_is_the_text_as_it_is_with_its_tokens(text):
    step = asyncio.run(
        agent().act(situation(OPENING), says(Completion(text, "stop", sampled=SAMPLED)))
    )
    assert (step.text, step.reply, step.calls, step.is_cut) == (text, text, (), False)
    assert step.sampled is SAMPLED


def test_a_text_that_reached_its_limit_says_so():
    step = asyncio.run(agent().act(situation(OPENING), says(Completion("a time", "length"))))
    assert step.is_cut


def test_replies_of_other_agents_are_written_as_plain_text_and_calls_stay_as_they_are():
    said = Step("PLAN I greet. SPEAK Hello.", plan="I greet.", reply="Hello.", sampled=SAMPLED)
    assert agent().rewrite(said, TOOLBOX) == (Step("Hello.", reply="Hello."),)
    own = Step("Hello.", reply="Hello.", sampled=SAMPLED)
    assert agent().rewrite(own, TOOLBOX)[0] is own
    called = Step("x", calls=(ToolCall("search", {}),), results=(ToolResult(1),))
    assert agent().rewrite(called, TOOLBOX) == (called,)


def test_an_empty_stop_text_is_refused():
    with pytest.raises(ConfigError, match=r"agent\.stop holds an empty text, which ends all"):
        agent(stop=["\n", ""])
