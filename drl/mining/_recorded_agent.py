"""The agent of josh-train's released rollouts, for learning from its outputs as they were."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from drl.agent.base import Agent, Situation
from drl.errors import ConfigError
from drl.llm.base import LLM, Message, Request
from drl.types import Role, Step, Toolbox


class RecordedAgent(Agent):
    """Shows every output and every return to the letter; `react` tells what the model is told.

    Today's `agent=react/paper` writes an output with several calls as several outputs; here it is
    one, as it was recorded. It cannot act.
    """

    uses_llm = True
    counts_steps = True

    def __init__(self, react: Agent) -> None:
        self.react = react
        self.max_tool_calls = react.max_tool_calls

    @property
    def explores(self) -> bool:
        """It did, at the time."""
        return True

    async def act(self, situation: Situation, llm: LLM) -> Step:
        """Refuse.

        Raises:
            ConfigError: always.
        """
        raise ConfigError("agent: a recorded agent takes no steps; choose agent=react/paper")

    def request(self, situation: Situation) -> Request:
        """What its model saw, after the system prompt of `agent=react/paper`."""
        told = self.react.request(replace(situation, history=(), steps=()))
        return replace(told, messages=(told.messages[0], *_conversation(situation)))

    def rewrite(self, step: Step, toolbox: Toolbox) -> tuple[Step, ...]:
        """The step as it is."""
        return (step,)

    def output(self, step: Step, number: int) -> Message:
        """The output as it is."""
        return Message("assistant", step.text)


def _conversation(situation: Situation) -> Iterator[Message]:
    for turn in situation.history:
        if turn.role is Role.USER:
            yield Message("user", turn.text or "")
            continue
        for step in turn.steps:
            yield from _shown(step)
        if turn.text and all(step.reply is None for step in turn.steps):
            yield Message("assistant", turn.text)
    for step in situation.steps:
        yield from _shown(step)


def _shown(step: Step) -> Iterator[Message]:
    yield Message("assistant", step.text)
    for result in step.results:
        value = result.error if result.value is None else result.value
        yield Message("user", f"APIRETURN {json.dumps(value)}")
