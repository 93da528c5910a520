"""Participants that do what a script says, in the order in which JOSH calls them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from drl.compat.josh import BaseJOSHAgent


@dataclass
class Move:
    """One agent step: what it does, and whether its turn ends with it."""

    actions: list[object] = field(default_factory=list)
    hands_over: bool | None = True
    error: BaseException | None = None


class Script:
    """Deals its moves to whoever acts next; once they are used up agents only talk.

    `hang_ups` are the user calls (counted from 0) in which the user ends the conversation, and
    `user_errors` those that raise.
    """

    def __init__(
        self,
        *moves: Move,
        hang_ups: frozenset[int] = frozenset(),
        user_errors: frozenset[int] = frozenset(),
    ) -> None:
        self._moves: Iterator[Move] = iter(moves)
        self._hang_ups = hang_ups
        self._user_errors = user_errors
        self.num_agent_calls = 0
        self.num_user_calls = 0
        self.num_error_messages = 0
        self.keywords: set[str] = set()

    def agent_step(self, agent, **keywords):
        self.keywords |= keywords.keys()
        move = next(self._moves, Move())
        agent.add_message({"role": "assistant", "content": f"turn {self.num_agent_calls}"})
        self.num_agent_calls += 1
        if move.error is not None:
            raise move.error
        agent.recent_actions = move.actions
        return agent, move.hands_over

    def user_step(self, user, agent):
        call = self.num_user_calls
        self.num_user_calls += 1
        if call in self._user_errors:
            raise ValueError("the user is out of order")
        agent.add_message({"role": "user", "content": "go on"})
        return agent, call in self._hang_ups

    async def agent_step_async(self, agent, **keywords):
        return self.agent_step(agent, **keywords)

    async def user_step_async(self, user, agent):
        return self.user_step(user, agent)

    def add_error_message(self, agent):
        self.num_error_messages += 1
        agent.messages.append({"role": "assistant", "content": "out of tries"})
        return agent


def start(engine, script: Script, rewards, **settings):
    """JOSH or AsyncJOSH on a script."""
    is_async = engine.__name__ == "AsyncJOSH"
    return engine(
        rewards=rewards,
        agent_step=script.agent_step_async if is_async else script.agent_step,
        user_step=script.user_step_async if is_async else script.user_step,
        add_error_message=script.add_error_message,
        root_agent=settings.pop("root_agent", None) or BaseJOSHAgent(),
        user=None,
        **settings,
    )


def last_words(examples):
    """The last message of each example with its flags; shorter to compare than the whole."""
    return [
        (messages[-1]["content"] if messages else None, successful, golden)
        for messages, successful, golden in examples
    ]
