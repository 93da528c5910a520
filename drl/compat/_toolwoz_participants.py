"""Agents and user simulators of drl behind josh-train's interface.

josh-train's participants read and write lists of messages; those of drl are asked with what their
side has seen. The dialogue is taken from the messages each time, so other programs may write into
them as well.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Final

from drl.agent.base import Agent, Situation
from drl.compat._coroutines import finish
from drl.compat._josh_parts import BaseJOSHAgent, BaseJOSHUser, Message
from drl.compat._toolwoz_conversation import ToolWOZDialogue, called_api, handle_api_calls
from drl.errors import ConfigError
from drl.runtime.seeds import derive
from drl.types import Brief, Role, Step, ToolResult, Turn
from drl.user_simulator.base import Encounter, UserSimulator

OUT_OF_CALLS: Final = "Error: the agent used up its tool calls without an answer."
"""What the customer hears then; josh-train's exports leave dialogues with "Error:" out."""

SIDES: Final = {"assistant": Role.AGENT, "user": Role.USER}


class PlugInAgent(BaseJOSHAgent):
    """One agent in one dialogue; `step` is a whole turn with all its tool calls.

    Copies draw their own seeds, so that the two children of a node differ, and the same program
    gives the same dialogues again.
    """

    def __init__(self, agent: Agent, seed: int) -> None:
        super().__init__()
        self._agent = agent
        self._seed = seed
        self._num_copies = 0
        self._turns: dict[int, Turn] = {}
        """Own turns with their steps, by the place of their text in `messages`."""

    def __deepcopy__(self, memo: dict[int, object]) -> PlugInAgent:
        twin = copy.copy(self)
        self._num_copies += 1
        twin._seed, twin._num_copies = derive(self._seed, self._num_copies), 0
        twin._turns = dict(self._turns)  # turns are frozen and may be shared
        twin.messages = copy.deepcopy(self.messages, memo)
        twin.messages_internal = copy.deepcopy(self.messages_internal, memo)
        twin.recent_actions = copy.deepcopy(self.recent_actions, memo)
        return twin

    def step(self, **kwargs: object) -> bool:
        """Take a turn in the conversation `env`; always passes to the customer.

        Raises:
            ConfigError: `env` is not a conversation of `build_convo_env`.
        """
        env = kwargs.get("env")
        if not isinstance(env, ToolWOZDialogue):
            raise ConfigError(
                f"env={type(env).__name__} is no ToolWOZ conversation; "
                "pass agent_env=build_convo_env(...) to JOSH, or env=... to step"
            )
        self.recent_actions = []
        steps: tuple[Step, ...] = ()
        while not steps or steps[-1].reply is None:
            steps += (self._one_step(env, steps),)
        reply = steps[-1].reply
        self._turns[len(self.messages)] = Turn(Role.AGENT, reply, steps)
        self.messages.append({"role": "assistant", "content": reply})
        return True

    def _one_step(self, env: ToolWOZDialogue, steps: tuple[Step, ...]) -> Step:
        """The next step, its calls carried out and everything written into the messages."""
        num_calls = sum(max(1, len(step.calls)) for step in steps)
        must_reply = num_calls >= self._agent.max_tool_calls
        history = tuple(
            self._turns[place] if place in self._turns else turn
            for place, turn in enumerate(_turns(self.messages))
        )
        seed = derive(self._seed, env.convo_key, len(history), len(steps))
        situation = Situation(
            history=history,
            steps=steps,
            toolbox=env.session.toolbox,
            seed=seed,
            must_reply=must_reply,
        )
        step = finish(self._agent.act(situation))
        if must_reply and step.reply is None:
            step = Step(text=OUT_OF_CALLS, reply=OUT_OF_CALLS)
        self.messages_internal.append({"role": "assistant", "content": step.text})
        if step.calls:
            step = replace(step, results=tuple(self._call(env, step)))
        for result in step.results:
            returned = result.value if result.error is None else result.error
            text = f"APIRETURN {json.dumps(returned)}"
            self.messages_internal.append({"role": "user", "content": text})
        return step

    def _call(self, env: ToolWOZDialogue, step: Step) -> list[ToolResult]:
        results: list[ToolResult] = []
        for call in step.calls:
            returned = handle_api_calls(call.name, call.arguments, env)
            self.recent_actions.append(called_api(call.name, call.arguments, returned))
            results.append(ToolResult(returned))
        return results


class PlugInUser(BaseJOSHUser):
    """One customer; it is asked anew with the whole dialogue each time, so branches share it."""

    def __init__(self, simulator: UserSimulator, brief: Brief, seed: int) -> None:
        self._simulator = simulator
        self._brief = brief
        self._seed = seed

    def step(self, agent: BaseJOSHAgent, **kwargs: object) -> tuple[BaseJOSHAgent, bool]:
        """The agent with the customer's next message, and whether the customer hung up."""
        history = tuple(_turns(agent.messages))
        seed = derive(self._seed, "user", len(history))
        turn = finish(self._simulator.speak(Encounter(self._brief, history, seed)))
        agent.add_message({"role": "user", "content": turn.text})
        return agent, turn.hangs_up


def _turns(messages: list[Message]) -> list[Turn]:
    """What both sides said in public."""
    return [Turn(SIDES[str(m["role"])], str(m["content"])) for m in messages]
