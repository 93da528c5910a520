"""The dialogues of a tree as the agent that is to learn would have written them.

Every turn is rewritten once, however many branches share it. What is asked before an output is
built only when a row needs it, so the cost is linear in the tree and in the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from drl.agent.base import Situation
from drl.llm.base import Message, Request
from drl.miner.base import Harvest, Origin
from drl.tree.dialogue_tree import Node
from drl.types import Role, Step, Turn


@dataclass(frozen=True, slots=True)
class Output:
    """An output of the agent: the `position`-th of a node, the `number`-th of its dialogue."""

    node: int
    position: int
    number: int
    step: Step

    @property
    def id(self) -> tuple[int, int]:
        """What tells it from all others of its tree."""
        return self.node, self.position


@dataclass(frozen=True, slots=True)
class _View:
    """What the agent knows after a node; `steps` are those of a turn that goes on below it."""

    history: tuple[Turn, ...] = ()
    steps: tuple[Step, ...] = ()
    num_outputs: int = 0


class Dialogues:
    """The outputs of one harvest, and what the agent is asked before each; continuations aside."""

    def __init__(self, harvest: Harvest) -> None:
        self.harvest = harvest
        self._outputs: dict[int, tuple[Output, ...]] = {}
        opening = harvest.tree.opening
        num_said = sum(len(turn.steps) for turn in opening if turn.role is Role.AGENT)
        self._views: dict[int | None, _View] = {None: _View(opening, (), num_said)}
        for node in harvest.tree.nodes:
            if not node.continuation:
                self._add(node)

    def _add(self, node: Node) -> None:
        before = self._views[node.parent]
        turn = node.turn
        if turn.role is Role.USER:
            self._outputs[node.id] = ()
            self._views[node.id] = replace(before, history=(*before.history, turn.public()))
            return
        agent, toolbox = self.harvest.agent, self.harvest.toolbox
        steps = tuple(anew for step in turn.steps for anew in agent.rewrite(step, toolbox))
        self._outputs[node.id] = tuple(
            Output(node.id, position, before.num_outputs + position, step)
            for position, step in enumerate(steps)
        )
        num_outputs = before.num_outputs + len(steps)
        steps = (*before.steps, *steps)
        if turn.text is None:
            self._views[node.id] = _View(before.history, steps, num_outputs)
        else:
            finished = Turn(Role.AGENT, turn.text, steps)
            self._views[node.id] = _View((*before.history, finished), (), num_outputs)

    def outputs(self, node_id: int) -> tuple[Output, ...]:
        """Those of a node; none of a customer's."""
        return self._outputs[node_id]

    def along(self, node_id: int) -> list[Output]:
        """Those of the dialogue from the root down to a node."""
        path = self.harvest.tree.path(node_id)
        return [output for node in path for output in self._outputs[node.id]]

    def turn(self, node_id: int) -> list[Output]:
        """Those of the agent's turn that a node ends or goes on with, from the turn's start."""
        nodes = self.harvest.tree.nodes
        parts = [self._outputs[node_id]]
        above = nodes[node_id].parent
        while above is not None and _goes_on(nodes[above].turn):
            parts.append(self._outputs[above])
            above = nodes[above].parent
        return [output for part in reversed(parts) for output in part]

    def request(self, output: Output) -> Request:
        """What the agent is asked before an output."""
        before = self._views[self.harvest.tree.nodes[output.node].parent]
        return self._request(before.history, self._steps_before(output))

    def is_asked(self, output: Output) -> bool:
        """Whether it keeps to the limits of the agent, which another agent may have passed."""
        agent = self.harvest.agent
        if agent.calls_left(self._steps_before(output)):
            return True
        return not agent.counts_steps and output.step.reply is not None

    def message(self, output: Output) -> Message:
        """The output as a message."""
        return self.harvest.agent.output(output.step, output.number)

    def words(self, output: Output) -> tuple[Message, ...]:
        """The outputs of its node down to it."""
        return tuple(map(self.message, self._outputs[output.node][: output.position + 1]))

    def chat(self, node_id: int) -> Request:
        """The dialogue down to a node, as the agent would see it next."""
        view = self._views[node_id]
        return self._request(view.history, view.steps, is_over=True)

    def places(self, chat: Sequence[Message], node_id: int) -> Iterator[tuple[int, Output]]:
        """Where in the chat down to a node its outputs stand; not all agents show each of them."""
        start = self.after_opening
        for output in self.along(node_id):
            message = self.message(output)
            others = (i for i in range(start, len(chat)) if chat[i].role == "assistant")
            is_error = not output.step.calls and output.step.reply is None
            for place in others:
                if chat[place] == message:
                    yield place, output
                    start = place + 1
                    break
                if is_error:  # the next message is another output, so this one is not shown
                    break

    @property
    def after_opening(self) -> int:
        """How many messages of a chat come before the dialogue, where the task has an opening."""
        opening = self.harvest.tree.opening
        return len(self._request(opening, ()).messages) if opening else 0

    def origin(self, *outputs: Output, step: int | None = None) -> Origin:
        """Where these outputs come from."""
        tree = self.harvest.tree
        nodes = tuple(dict.fromkeys(output.node for output in outputs))
        return Origin(
            run=self.harvest.run,
            task_id=tree.task_id,
            trial=tree.trial,
            nodes=nodes,
            step=step,
            events=tuple(event for node in nodes for event in tree.nodes[node].events),
        )

    def _steps_before(self, output: Output) -> tuple[Step, ...]:
        before = self._views[self.harvest.tree.nodes[output.node].parent]
        own = self._outputs[output.node][: output.position]
        return (*before.steps, *(earlier.step for earlier in own))

    def _request(
        self, history: tuple[Turn, ...], steps: tuple[Step, ...], *, is_over: bool = False
    ) -> Request:
        agent = self.harvest.agent
        must_reply = not is_over and not agent.calls_left(steps)
        return agent.request(
            Situation(history, steps, self.harvest.toolbox, seed=0, must_reply=must_reply)
        )


def _goes_on(turn: Turn) -> bool:
    return turn.role is Role.AGENT and turn.text is None
