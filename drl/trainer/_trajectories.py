"""From trees and their credit to trajectories: the tokens that the agent's model sampled.

Dialogues that broke are not among them. One that was cut by a limit goes on in its value where it
is known what the agent would have read next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from drl.credit.base import Credit, CreditedDialogue, CreditedTurn
from drl.errors import ConfigError
from drl.llm.base import chat_text
from drl.models.chat_template import ChatTemplate
from drl.play.cast import Cast
from drl.play.moves import Play
from drl.ppo.trajectory import Trajectory, TurnRecord
from drl.tree.dialogue_tree import DialogueTree
from drl.types import RewardEvent, Role, Sampled, StopReason, Task

CHARACTER = "character"
"""In the detail of an event: the reward is for the text up to there."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Makes trajectories of trees.

    `context` bounds prompts, in tokens; None does not. `bootstrap_at_limit` asks for the customer's
    answer to the last turn of dialogues that reached the limit of turns, so that what would have
    come next has a value; otherwise they end there.
    """

    credit: Credit
    template: ChatTemplate
    context: int | None
    bootstrap_at_limit: bool

    async def trajectories(self, tree: DialogueTree, task: Task, cast: Cast) -> list[Trajectory]:
        """The dialogues of a tree in which the agent's model said something.

        Raises:
            ConfigError: the agent's model does not give the tokens that it sampled.
        """
        found: list[Trajectory] = []
        for dialogue in self.credit.assign(tree):
            records = self._records(tree, dialogue)
            if any(call.token_ids for record in records for call in record.calls):
                after = await self._next_prompt(tree, dialogue.leaf, Play(task, tree.trial, cast))
                found.append(Trajectory(tuple(records), task.id, after))
        return found

    def _records(self, tree: DialogueTree, dialogue: CreditedDialogue) -> list[TurnRecord]:
        """Its turns; what a turn without any call earned goes to the one before it."""
        records: list[TurnRecord] = []
        for turn in dialogue.turns:
            calls = _calls(tree, turn)
            if calls:
                records.append(self._record(tree, turn, calls))
            elif records:
                last = records.pop()
                records.append(replace(last, reward=last.reward + turn.reward))
        return records

    def _record(
        self, tree: DialogueTree, turn: CreditedTurn, calls: tuple[Sampled, ...]
    ) -> TurnRecord:
        events = [
            event
            for node in turn.nodes
            for event in tree.nodes[node].events
            if CHARACTER in event.detail
        ]
        record = TurnRecord(calls, turn.reward, weight=turn.weight, advantage=turn.advantage)
        if not (events and self.credit.pays_events and len(calls) == 1):
            return record
        rewards = self._by_token(calls[0], events)
        return replace(record, reward=turn.reward - sum(rewards), token_rewards=(rewards,))

    def _by_token(self, call: Sampled, events: Sequence[RewardEvent]) -> tuple[float, ...]:
        """Rewards of single tokens: an event's goes to the token that completes its text."""
        tokenizer = self.template.tokenizer
        ids = list(call.token_ids)
        lengths = [len(tokenizer.decode(ids[: place + 1])) for place in range(len(ids))]
        rewards = [0.0] * len(ids)
        for event in events:
            end = event.detail[CHARACTER]
            assert isinstance(end, int), "rewards give a number of characters"
            place = next((p for p, length in enumerate(lengths) if length >= end), len(ids) - 1)
            rewards[place] += event.amount
        return tuple(rewards)

    async def _next_prompt(
        self, tree: DialogueTree, leaf_id: int, play: Play
    ) -> tuple[int, ...] | None:
        """What the agent would have read next, where only a limit ended the dialogue."""
        leaf = tree.nodes[leaf_id]
        if leaf.stop is StopReason.CONTEXT_OVERFLOW and leaf.turn.role is Role.AGENT:
            if leaf.parent is None or leaf.turn.steps:
                return None  # the customer said nothing, or the agent filled the context itself
            branch = await play.at(tree, leaf.parent)
        elif leaf.stop is StopReason.MAX_TURNS and self.bootstrap_at_limit:
            branch = await play.at(tree, leaf_id)
            answer = await play.user_turn(branch)
            if answer.failure is not None or answer.hangs_up:
                return None
        else:
            return None
        request = play.cast.agent.request(play.situation(branch))
        text = chat_text(self.template, request.messages, request.tools, reply_follows=True)
        return self.template.ids(text)[: self.context]


def _calls(tree: DialogueTree, turn: CreditedTurn) -> tuple[Sampled, ...]:
    """The model calls of a turn, in order.

    Raises:
        ConfigError: a step holds no tokens.
    """
    steps = [step for node in turn.nodes for step in tree.nodes[node].turn.steps]
    calls = [step.sampled for step in steps if step.sampled is not None]
    if len(calls) < len(steps):
        raise ConfigError(
            "llm: the agent's model does not give the tokens that it sampled, so nothing can be "
            "learned from them; choose llm=hf and an agent that speaks through it"
        )
    return tuple(calls)
