"""JOSH rollouts with the names and semantics of josh-train: change the import, keep the code.

    from josh_train.josh import X          ->  from drl.compat.josh import X
    from josh_train.async_josh import X    ->  from drl.compat.josh import X
    from josh_train.main import X          ->  from drl.compat.josh import X
    from josh_train.utils import handle_api_calls  ->  from drl.compat.josh import handle_api_calls

The agents of josh-train are mutable objects and its steps are functions, so this is a small
engine of its own beside `drl.rollout.josh`. Where to go from here:

    josh-train                            the rest of drl
    JOSH, AsyncJOSH                       drl.rollout.josh (options: branching, collapse_to, ...)
    BaseJOSHAgent                         drl.agent.base.Agent (holds settings, not the dialogue)
    BaseJOSHUser                          drl.user_simulator.base.UserSimulator
    BaseRewards                           drl.reward.base.Reward and the goals of a drl.types.Task
    Node, training_examples               drl.tree.dialogue_tree (each turn stored once)
    trim_user_msg                         not needed there: a node ends with its own turn
    ToolWOZEnvironment                    drl.dataset.toolwoz and drl.environment.toolwoz
    ToolWOZRewards                        drl.reward.goal_api
    build_agent, build_user               agent=... and user_simulator=... on the command line
    build_convo_env                       Environment.open(task)
    handle_api_calls                      Session.call(call)

The builders know more than josh-train's: `agent_strategy` may be rule, which needs no model, and
`user_mode` agenda or script. `drl.compat._toolwoz` lists all that is read from `args`.

Kept as it was: a leaf branches in two, and only when the beam has room for the children of all
leaves; leaves are read left to right; the leftmost rewarded leaf of the first rewarded pass wins,
even if another hit more goals, and only the goals it hit in that pass are closed; nothing is
harvested after the last reward; a rollout whose winner has ended ends with it; zero goals give
reward 0.0 and "done"; the shape and order of `training_examples`.

Repaired, because it only ever hurt:

- The error message goes only to leaves that ran out of tries, not to those that have finished.
- `trim_user_msg` gives an empty list when all messages are the user's; it used to leave one.
- `BaseRewards` matches actions and goals as multisets: an action done twice hits one of two equal
  goals each time, and closing goals never raises. It also leaves the caller's list alone.
- An exception in `agent_step` or `user_step` is logged, kept in `errors` and ends its leaf only.
  Such a leaf is neither judged nor harvested as a failed branch. KeyboardInterrupt and
  cancellation pass through. An exception in `is_reward` is the caller's and is raised.
- `recent_actions` is emptied before each agent step, so that no action is judged twice.
- Duplicates among the training examples are found by hash, in linear time.
- AsyncJOSH ends a leaf on a failed step or a None flag, as JOSH always did.
- A call of a tool that does not exist is answered like any other invalid call; it used to raise.
- The rows listed with ToolWOZ's search goals have their own columns; those were shifted.
- A conversation without goals evaluates to 0.0; it used to divide by zero.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Protocol, TypeAlias, TypeVar, runtime_checkable

from drl.compat._coroutines import finish
from drl.compat._josh_parts import (
    BaseJOSHAgent,
    BaseJOSHUser,
    BaseRewards,
    Node,
    trim_user_msg,
)
from drl.compat._josh_search import NOTHING_HIT, LeafError, Passed, Search, Verdict
from drl.compat._toolwoz import ToolWOZEnvironment, build_agent, build_convo_env, build_user
from drl.compat._toolwoz_conversation import ToolWOZRewards, handle_api_calls

__all__ = [
    "JOSH",
    "AsyncJOSH",
    "BaseJOSHAgent",
    "BaseJOSHUser",
    "BaseRewards",
    "LeafError",
    "Node",
    "ToolWOZEnvironment",
    "ToolWOZRewards",
    "build_agent",
    "build_convo_env",
    "build_user",
    "handle_api_calls",
    "trim_user_msg",
]

Result = TypeVar("Result")

AgentStep: TypeAlias = Callable[..., tuple[BaseJOSHAgent, bool | None]]
"""Called with the keywords agent, model, tokenizer and env."""
UserStep: TypeAlias = Callable[..., tuple[BaseJOSHAgent, bool]]
"""Called with the user and the agent."""
AsyncAgentStep: TypeAlias = Callable[..., Awaitable[tuple[BaseJOSHAgent, bool | None]]]
AsyncUserStep: TypeAlias = Callable[..., Awaitable[tuple[BaseJOSHAgent, bool]]]


@runtime_checkable
class JudgesAsync(Protocol):
    """Rewards that have to wait for their verdict, such as a judge model."""

    async def is_reward_async(self, agent_actions: Sequence[object]) -> Verdict:
        """As `BaseRewards.is_reward`."""
        ...


class JOSH(Search[AgentStep, UserStep]):
    """One rollout with plain functions; works inside a running event loop as well."""

    def step(self) -> tuple[float, bool]:
        """Branch, let the agents act, let the users answer.

        Returns the share of goals hit so far, and whether the rollout is over.
        """
        self.expand_tree()
        all_done = self.step_agent() or self.step_user()
        return self.current_reward, all_done

    def step_agent(self) -> bool:
        """Let every live leaf take its turn and collapse on a reward; True when done."""
        return finish(self._agent_phase())

    def step_user(self) -> bool:
        """Let the user answer every live leaf; True when no leaf is alive afterwards."""
        return finish(self._user_phase())

    async def _pass_over(self, leaves: Sequence[Node]) -> Sequence[Passed]:
        finished = [await self._advance(leaf) for leaf in leaves]
        return [
            Passed(done, NOTHING_HIT if leaf.failed else self._judge(leaf))
            for leaf, done in zip(leaves, finished, strict=True)
        ]

    def _judge(self, leaf: Node) -> Verdict:
        return self.rewards.is_reward(leaf.agent.recent_actions)

    async def _hear_users(self, leaves: Sequence[Node]) -> None:
        for leaf in leaves:
            await self._hear(leaf)

    async def _call_agent(self, leaf: Node) -> tuple[BaseJOSHAgent, bool | None]:
        return self.agent_step(**self._agent_arguments(leaf))

    async def _call_user(self, leaf: Node) -> tuple[BaseJOSHAgent, bool]:
        return self.user_step(self.user, leaf.agent)


class AsyncJOSH(Search[AsyncAgentStep, AsyncUserStep]):
    """One rollout with coroutine functions; all leaves of a pass are in flight together.

    Rewards with an `is_reward_async` are asked through it. `add_error_message` stays a plain
    function.
    """

    async def step(self) -> tuple[float, bool]:
        """Branch, let the agents act, let the users answer.

        Returns the share of goals hit so far, and whether the rollout is over.
        """
        self.expand_tree()
        all_done = await self.step_agent() or await self.step_user()
        return self.current_reward, all_done

    async def step_agent(self) -> bool:
        """Let every live leaf take its turn and collapse on a reward; True when done."""
        return await self._agent_phase()

    async def step_user(self) -> bool:
        """Let the user answer every live leaf; True when no leaf is alive afterwards."""
        return await self._user_phase()

    async def _pass_over(self, leaves: Sequence[Node]) -> Sequence[Passed]:
        return await _together([self._advance_and_judge(leaf) for leaf in leaves])

    async def _advance_and_judge(self, leaf: Node) -> Passed:
        finished = await self._advance(leaf)
        return Passed(finished, NOTHING_HIT if leaf.failed else await self._judge(leaf))

    async def _judge(self, leaf: Node) -> Verdict:
        if isinstance(self.rewards, JudgesAsync):
            return await self.rewards.is_reward_async(leaf.agent.recent_actions)
        return self.rewards.is_reward(leaf.agent.recent_actions)

    async def _hear_users(self, leaves: Sequence[Node]) -> None:
        await _together([self._hear(leaf) for leaf in leaves])

    async def _call_agent(self, leaf: Node) -> tuple[BaseJOSHAgent, bool | None]:
        return await self.agent_step(**self._agent_arguments(leaf))

    async def _call_user(self, leaf: Node) -> tuple[BaseJOSHAgent, bool]:
        return await self.user_step(self.user, leaf.agent)


async def _together(works: Sequence[Coroutine[object, None, Result]]) -> list[Result]:
    """All results in order; an exception is raised once nothing is left running behind it."""
    outcomes = await asyncio.gather(*works, return_exceptions=True)
    results: list[Result] = []
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
        results.append(outcome)
    return results
