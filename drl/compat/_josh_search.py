"""The rules of a JOSH rollout, shared by the synchronous and the asynchronous class.

Both phases are coroutines. How the leaves of one pass are run (one by one, or all at once) is
left to the classes in `drl.compat.josh`.
"""

import copy
import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, NamedTuple, TypeAlias, TypeVar

from drl.compat._josh_examples import ExampleIndex
from drl.compat._josh_parts import BaseJOSHAgent, BaseRewards, Example, Node

_LOG = logging.getLogger(__name__)

AgentStep = TypeVar("AgentStep")
UserStep = TypeVar("UserStep")

Verdict: TypeAlias = tuple[bool, Sequence[object]]
"""What `is_reward` returns: whether a goal was hit, and which."""

NOTHING_HIT: Verdict = (False, ())


class LeafError(NamedTuple):
    """An exception that ended a leaf, and where it came from."""

    stage: Literal["agent_step", "user_step"]
    error: Exception


class Passed(NamedTuple):
    """One pass over one leaf: whether its turn is finished, and what the pass earned."""

    finished: bool
    verdict: Verdict


class _Winner(NamedTuple):
    """The leaf that the tree collapses to, as it was when it hit its goals."""

    leaf: Node
    agent: BaseJOSHAgent
    goals: Sequence[object]


@dataclass
class _Turn:
    """What the passes of one agent phase have earned so far."""

    winner: _Winner | None = None
    successful: list[Node] = field(default_factory=list)

    def record(self, leaf: Node, verdict: Verdict) -> None:
        """Keep every rewarded leaf; the first one wins, with the goals it hit in that pass."""
        rewarded, goals = verdict
        if not rewarded:
            return
        self.successful.append(leaf)
        if self.winner is None:
            self.winner = _Winner(leaf, leaf.agent, list(goals))


class Search(ABC, Generic[AgentStep, UserStep]):
    """State and rules of one rollout; `drl.compat.josh` says what users may rely on."""

    def __init__(
        self,
        rewards: BaseRewards,
        agent_step: AgentStep,
        user_step: UserStep,
        add_error_message: Callable[..., BaseJOSHAgent],
        root_agent: BaseJOSHAgent,
        user: object,
        beam_size: int = 8,
        max_turn_tries: int = 10,
        agent_model: object = None,
        agent_tokenizer: object = None,
        agent_env: object = None,
        debug: bool = False,
    ) -> None:
        self.rewards = rewards
        self.agent_step = agent_step
        self.user_step = user_step
        self.add_error_message = add_error_message
        self.root = Node(root_agent)
        self.user = user
        self.beam_size = beam_size
        self.max_turn_tries = max_turn_tries
        self.agent_model = agent_model
        self.agent_tokenizer = agent_tokenizer
        self.agent_env = agent_env
        self.debug = debug
        self.num_total_rewards = len(rewards)
        self.current_reward = 0.0
        self.golden_agent: BaseJOSHAgent | None = None
        self.training_examples: list[Example] = []
        self.errors: list[LeafError] = []
        self._index = ExampleIndex()

    def set_root_agent(self, agent: BaseJOSHAgent) -> None:
        """Put another agent at the root, as a rule before the first step."""
        self.root.agent = agent

    def set_success_path(self, success_node: Node) -> None:
        """Mark a node and all above it as leading to a reward."""
        for node in success_node.path_to_root():
            node.is_successful = True

    def set_golden_path(self, success_node: Node) -> None:
        """Mark a node and all above it as the path that the rollout goes on with."""
        for node in success_node.path_to_root():
            node.is_golden_path = True

    def expand_tree(self) -> None:
        """Give every live leaf two copies of itself, if the beam has room for all of them."""
        leaves = self.root.get_leaves()
        if 2 * len(leaves) > self.beam_size:
            self._say(f"the beam of {self.beam_size} has no room for {2 * len(leaves)} leaves")
            return
        self._say(f"the tree grows to {2 * len(leaves)} leaves")
        for leaf in leaves:
            leaf.left = Node(copy.deepcopy(leaf.agent), leaf)
            leaf.right = Node(copy.deepcopy(leaf.agent), leaf)

    async def _agent_phase(self) -> bool:
        """Let every live leaf take its turn, then collapse if any was rewarded.

        True when no goal is open any more, or when there is no live leaf.
        """
        unfinished = self.root.get_leaves()
        if not unfinished:
            return True
        self._say(f"{len(unfinished)} agents take their turn")
        turn = _Turn()
        for tries_left in reversed(range(self.max_turn_tries)):
            passed = await self._pass_over(unfinished)
            for leaf, (_, verdict) in zip(unfinished, passed, strict=True):
                turn.record(leaf, verdict)
            unfinished = [
                leaf for leaf, (finished, _) in zip(unfinished, passed, strict=True) if not finished
            ]
            if not tries_left:
                for leaf in unfinished:
                    leaf.agent = self.add_error_message(leaf.agent)
            if not unfinished:
                break
        if turn.winner is not None:
            self._collapse(turn.winner, turn.successful)
        if self.num_total_rewards:
            num_hit = self.num_total_rewards - len(self.rewards)
            self.current_reward = num_hit / self.num_total_rewards
        return len(self.rewards) == 0

    def _collapse(self, winner: _Winner, successful: Sequence[Node]) -> None:
        """Harvest the whole tree as training examples, and go on from the winner alone."""
        self._say(
            f"goals hit: {list(winner.goals)}; the tree collapses to the branch that hit them"
        )
        for leaf in successful:
            self.set_success_path(leaf)
        self.rewards.delete_reward(winner.goals)
        if len(self.rewards) == 0:
            self.golden_agent = winner.agent
        self.set_golden_path(winner.leaf)
        self._index.extend(self.training_examples, self.root.get_tree())
        self.root = winner.leaf
        self.root.parent = None
        self.root.is_successful = False

    async def _user_phase(self) -> bool:
        """Let the user answer every live leaf. True when no leaf is alive afterwards."""
        leaves = self.root.get_leaves()
        if not leaves:
            return True
        self._say(f"{len(leaves)} users answer")
        await self._hear_users(leaves)
        return not self.root.get_leaves()

    async def _advance(self, leaf: Node) -> bool:
        """One agent step of one leaf. True when its turn is finished, in whatever way."""
        leaf.agent.recent_actions = []  # an action is judged once, by the step that did it
        try:
            leaf.agent, hands_over = await self._call_agent(leaf)
        except Exception as error:
            self._end(leaf, LeafError("agent_step", error))
            return True
        if hands_over is None:
            leaf.conversation_over = True
            return True
        return bool(hands_over)

    async def _hear(self, leaf: Node) -> None:
        """The user's answer to one leaf."""
        try:
            leaf.agent, leaf.conversation_over = await self._call_user(leaf)
        except Exception as error:
            self._end(leaf, LeafError("user_step", error))

    def _end(self, leaf: Node, failure: LeafError) -> None:
        """End one leaf for a technical reason; the others go on."""
        _LOG.error("%s raised, its leaf ends", failure.stage, exc_info=failure.error)
        leaf.conversation_over = True
        leaf.failed = True
        self.errors.append(failure)

    def _agent_arguments(self, leaf: Node) -> dict[str, object]:
        """The keyword arguments of `agent_step`."""
        return {
            "agent": leaf.agent,
            "model": self.agent_model,
            "tokenizer": self.agent_tokenizer,
            "env": self.agent_env,
        }

    def _say(self, progress: str) -> None:
        if self.debug:
            print(f"JOSH: {progress}")

    @abstractmethod
    async def _pass_over(self, leaves: Sequence[Node]) -> Sequence[Passed]:
        """Step and judge each leaf once; a leaf that failed is not judged."""

    @abstractmethod
    async def _hear_users(self, leaves: Sequence[Node]) -> None:
        """Let the user answer each leaf once."""

    @abstractmethod
    async def _call_agent(self, leaf: Node) -> tuple[BaseJOSHAgent, bool | None]:
        """What `agent_step` gives for one leaf."""

    @abstractmethod
    async def _call_user(self, leaf: Node) -> tuple[BaseJOSHAgent, bool]:
        """What `user_step` gives for one leaf."""
