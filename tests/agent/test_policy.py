"""What a toolbox's policy does to prompts, and that nothing changes without one."""

from dataclasses import replace

import pytest
from agent.react_agents import STYLES, TAU_STYLES, TOOLBOX, react
from agent.react_agents import situation as any_situation
from mining.forest import agent_of

from drl.agent.base import Agent, Situation
from drl.runtime.prompts import fill

POLICY = "# Returns\nTake nothing back after {30} days."
AGENTS: dict[str, Agent] = {
    **{style: react(style) for style in (*STYLES, *TAU_STYLES)},
    "function_calling": agent_of("function_calling"),
    "function_calling/tau": agent_of("function_calling/tau"),
}


def told(agent: Agent, policy: str) -> str:
    known: Situation = replace(any_situation(), toolbox=replace(TOOLBOX, policy=policy))
    return agent.request(known).messages[0].content


@pytest.mark.parametrize("name", AGENTS)
def test_a_policy_stands_in_the_system_prompt_to_the_letter(name):
    assert told(AGENTS[name], POLICY).count(POLICY) == 1


@pytest.mark.parametrize("name", [*STYLES, "function_calling"])
def test_it_follows_a_prompt_that_does_not_change_for_it(name):
    bare = told(AGENTS[name], "")
    assert told(AGENTS[name], POLICY) == bare + "\n\n" + fill(
        "drl.agent", "policy.md", policy=POLICY
    )


@pytest.mark.parametrize("name", [*TAU_STYLES, "function_calling/tau"])
def test_in_the_forms_of_tau_bench_it_comes_first(name):
    assert told(AGENTS[name], POLICY).startswith(POLICY)


def test_native_calls_in_tau_s_form_are_told_the_policy_alone_and_without_one_how_to_serve():
    assert told(AGENTS["function_calling/tau"], POLICY) == POLICY
    assert told(AGENTS["function_calling/tau"], "") == fill("drl.agent", "function_calling.md")
