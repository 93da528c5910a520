"""Native tool calls in the form of tau-bench, and dialogues as examples."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest
from mining.forest import agent_of
from scripted_llm import says, uses

from drl.agent.base import Agent, Situation
from drl.agent.function_calling import FunctionCallingAgent
from drl.errors import ConfigError
from drl.runtime.compose import compose
from drl.runtime.config import build, to_plain
from drl.types import Role, Step, Toolbox, ToolCall, ToolResult, ToolSpec, Turn

CONF = Path(__file__).parents[2] / "conf"
DISPLAYS = Path(__file__).parent / "demonstrations.jsonl"
TOOLBOX = Toolbox((ToolSpec("find", "Finds", {"type": "object", "properties": {}}),), {}, "Be kind")
SITUATION = Situation((Turn(Role.USER, "Where is it?"),), (), TOOLBOX, 7)
TWO = uses(("find", '{"id": "1"}'), ("find", "{broken"), text="I look.")
TAU = agent_of("function_calling/tau")


def few_shot(*overrides: str) -> FunctionCallingAgent:
    chosen = ["agent=function_calling/few_shot", *overrides]
    agent = build("agent", to_plain(compose(CONF, chosen))["agent"])
    assert isinstance(agent, FunctionCallingAgent)
    return agent


def system(agent: Agent) -> str:
    return agent.request(SITUATION).messages[0].content


def act() -> Step:
    return asyncio.run(TAU.act(SITUATION, says(TWO)))


def test_only_the_first_call_of_an_answer_is_used_and_shown():
    step = act()
    assert step.calls == (ToolCall("find", {"id": "1"}),)
    assert json.loads(step.text)["tool_calls"] == [{"name": "find", "arguments": '{"id": "1"}'}]
    done = replace(step, results=(ToolResult('{"status": "sent"}'),))
    asked, answer = TAU.request(replace(SITUATION, steps=(done,))).messages[2:]
    assert len(asked.tool_calls) == 1
    assert (answer.role, answer.content) == ("tool", '{"status": "sent"}')


def test_all_calls_are_used_unless_it_says_so():
    agent = agent_of("function_calling")
    assert isinstance(agent, FunctionCallingAgent)
    assert not agent.first_call_only
    assert asyncio.run(agent.act(SITUATION, says(uses(("find", "{}"), ("find", "{}"))))).calls[1:]


def test_a_malformed_first_call_is_handed_back_as_an_error():
    step = asyncio.run(TAU.act(SITUATION, says(uses(("find", "{broken"), ("find", "{}")))))
    assert step.calls == ()
    _, answer = TAU.request(replace(SITUATION, steps=(step,))).messages[2:]
    assert answer.content.startswith("Error: Nothing was done: the arguments of call 1")


def test_several_calls_of_another_agent_become_an_answer_each():
    step = Step("?", calls=(ToolCall("a", {}), ToolCall("b", {})), results=(ToolResult("x"),) * 2)
    parts = TAU.rewrite(step, TOOLBOX)
    assert [[call.name for call in part.calls] for part in parts] == [["a"], ["b"]]


def test_demonstrations_follow_the_policy_numbered_and_drawn_by_the_seed():
    displays = [json.loads(line)["messages_display"] for line in DISPLAYS.read_text().splitlines()]
    drawn = set()
    for seed in range(8):
        agent = few_shot(
            f"agent.demonstrations={DISPLAYS}", "agent.num_demonstrations=2", f"seed={seed}"
        )
        policy, *examples = system(agent).split("\n\n")
        assert policy == "Be kind"
        first, second = (text.partition(":\n")[2] for text in examples)
        assert [text.partition(":\n")[0] for text in examples] == ["Example 1", "Example 2"]
        assert first != second
        assert {first, second} <= set(displays)
        drawn.add((first, second))
        assert system(agent) == system(agent)
    assert len(drawn) > 1


def test_more_demonstrations_than_there_are_is_one_clear_error():
    with pytest.raises(ConfigError, match=r"agent\.num_demonstrations=5 .*\(3\); lower it"):
        few_shot(f"agent.demonstrations={DISPLAYS}")


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (None, "cannot be read"),
        ("[1", "x.jsonl:1 is not JSON"),
        ('{"messages_display": "a"}\n\n{"messages": "b"}', "x.jsonl:3 has no text under"),
        ("[]", "x.jsonl:1 has no text under"),
    ],
)
def test_a_file_that_is_missing_or_misformed_is_one_clear_error(tmp_path, content, fault):
    path = tmp_path / "x.jsonl"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError) as caught:
        few_shot(f"agent.demonstrations={path}", "agent.num_demonstrations=1")
    assert fault in str(caught.value)
    assert "agent.demonstrations" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "messages_display" in str(caught.value) or content is None


def test_the_file_has_to_be_named():
    with pytest.raises(ConfigError, match=r"agent\.demonstrations is not set"):
        few_shot()


def test_but_for_its_demonstrations_it_is_the_tool_calling_agent():
    agent = few_shot(f"agent.demonstrations={DISPLAYS}", "agent.num_demonstrations=3")
    assert replace(agent, demonstrations=None, num_demonstrations=5) == TAU


def test_an_unknown_style_is_refused():
    with pytest.raises(ConfigError, match=r"agent\.style=x is unknown; use desk or tau"):
        replace(TAU, style="x")  # type: ignore[type-var]
