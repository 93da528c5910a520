"""The tree of all dialogues of one rollout.

Every turn is stored once; a branch is the walk from a root to a leaf. A rollout of independent
dialogues is a tree with several roots. Its fields are the format of
`rollouts.jsonl` and of the report (`drl.tree.codec`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from drl.types import JSON, Outcome, RewardEvent, Role, StopReason, Task, Turn

FULL_SCORE = 1 - 1e-6
"""A score from here on is a full success (relative tolerance of josh-train's evaluation)."""


@dataclass(slots=True)
class Node:
    """A turn in its place in the tree.

    `open_goals` are the goals (positions in the task) that are still open after the turn.
    `golden` marks the branch that the search went on with, `successful` every node that leads to
    a reward. `stop` is set on leaves, and `censored` on those that were cut before they could
    succeed or fail. `score` grades the dialogue that ends here; None is unscored. `continuation`
    marks turns that were added only to find out how a censored branch would have ended; the
    branch then carries `resolved`: (continuations that earned a reward, continuations tried).
    `unscored` tells readers what of the turn could not be judged, and why.
    """

    id: int
    parent: int | None
    turn: Turn
    open_goals: tuple[int, ...] = ()
    events: tuple[RewardEvent, ...] = ()
    golden: bool = False
    successful: bool = False
    stop: StopReason | None = None
    censored: bool = False
    score: float | None = None
    continuation: bool = False
    resolved: tuple[int, int] | None = None
    unscored: tuple[Mapping[str, JSON], ...] = ()


@dataclass(slots=True)
class DialogueTree:
    """All dialogues of one (task, trial). `opening` was said before any of them."""

    task_id: str
    trial: int
    num_goals: int
    nodes: list[Node] = field(default_factory=list)
    opening: tuple[Turn, ...] = ()

    @classmethod
    def of(cls, task: Task, trial: int) -> DialogueTree:
        """A tree in which nobody has spoken yet."""
        return cls(task.id, trial, len(task.goals), opening=task.opening)

    def empty(self) -> DialogueTree:
        """Another tree of the same task and trial, without nodes."""
        return DialogueTree(self.task_id, self.trial, self.num_goals, opening=self.opening)

    def add(self, parent: int | None, turn: Turn, open_goals: tuple[int, ...]) -> Node:
        """Store a turn below `parent` (None: as a root) and return its node."""
        node = Node(id=len(self.nodes), parent=parent, turn=turn, open_goals=open_goals)
        self.nodes.append(node)
        return node

    def path(self, node_id: int) -> list[Node]:
        """The nodes from the root down to `node_id`, both included."""
        walk: list[Node] = []
        here: int | None = node_id
        while here is not None:
            walk.append(self.nodes[here])
            here = self.nodes[here].parent
        walk.reverse()
        return walk

    def trunk(self, node_id: int) -> DialogueTree:
        """A tree of only the turns down to `node_id`, open at its end; nothing else is kept."""
        alone = self.empty()
        below: int | None = None
        for node in self.path(node_id):
            twin = alone.add(below, node.turn, node.open_goals)
            twin.events = node.events
            below = twin.id
        return alone

    def dialogue(self, node_id: int) -> list[Turn]:
        """The turns from the root down to `node_id`, parts of one turn joined; not the opening."""
        turns: list[Turn] = []
        for node in self.path(node_id):
            if turns and turns[-1].text is None and turns[-1].role == node.turn.role:
                turns[-1] = join(turns[-1], node.turn)
            else:
                turns.append(node.turn)
        return turns

    def children(self) -> list[list[int]]:
        """For each node the ids of its children, in order of birth."""
        below: list[list[int]] = [[] for _ in self.nodes]
        for node in self.nodes:
            if node.parent is not None:
                below[node.parent].append(node.id)
        return below

    def leaves(self, *, continuations: bool = False) -> Iterator[Node]:
        """Nodes with a stop reason, left to right by birth; continuations only when asked for."""
        for node in self.nodes:
            if node.stop is not None and (continuations or not node.continuation):
                yield node

    def outcome(self, leaf: Node) -> Outcome:
        """What the branch that ends in `leaf` turned out to be, since the last golden node.

        Where no search went on with a branch, a dialogue that is graded 0 is no success, whatever
        its turns were paid.
        """
        if leaf.stop is StopReason.ERROR:
            return Outcome.ERROR
        if leaf.golden:
            return Outcome.GOLDEN
        is_naught = leaf.score == 0 and not any(node.golden for node in self.nodes)
        if not is_naught and any(node.events for node in self.path(leaf.id) if not node.golden):
            return Outcome.SUCCESSFUL
        if leaf.score is not None and leaf.score >= FULL_SCORE:
            return Outcome.SUCCESSFUL  # a reward that pays for no turn found nothing amiss
        if leaf.resolved is not None:
            return Outcome.SUCCESSFUL if leaf.resolved[0] else Outcome.FAILED
        return Outcome.CENSORED if leaf.censored else Outcome.FAILED

    def best_leaf(self) -> Node | None:
        """The graded leaf that stands for the tree; None if nothing was graded.

        The highest score decides, then golden before others, then dialogues that came to an end
        of their own before those that were cut, then the first born.
        """
        graded = [leaf for leaf in self.leaves() if leaf.score is not None]
        return max(graded, key=_standing, default=None)

    @property
    def is_broken(self) -> bool:
        """Whether dialogues broke and none came to an end of its own."""
        ends = [leaf for leaf in self.leaves() if leaf.stop is not StopReason.COLLAPSED]
        own = [leaf for leaf in ends if not leaf.censored]
        return bool(own) and all(leaf.stop is StopReason.ERROR for leaf in own)

    def mark_golden(self, node_id: int) -> None:
        """Mark the branch down to this node as the one that the search went on with."""
        for node in self.path(node_id):
            node.golden = True

    def mark_successful(self) -> None:
        """Mark every node that leads to a reward, continuations aside."""
        for node in self.nodes:
            if node.events and not node.continuation:
                above: Node | None = node
                while above is not None and not above.successful:
                    above.successful = True
                    above = None if above.parent is None else self.nodes[above.parent]

    def graft(self, part: DialogueTree, below: int | None) -> None:
        """Move the nodes of another tree into this one, its roots below `below`."""
        offset = len(self.nodes)
        for node in part.nodes:
            node.id += offset
            node.parent = below if node.parent is None else node.parent + offset
            self.nodes.append(node)

    @property
    def num_agent_calls(self) -> int:
        """Decisions the agent made, continuations included; the cost of a search."""
        return sum(len(node.turn.steps) for node in self.nodes if node.turn.role is Role.AGENT)


def _standing(leaf: Node) -> tuple[float, bool, bool, int]:
    was_cut = leaf.stop in (StopReason.COLLAPSED, StopReason.BUDGET)
    return leaf.score or 0.0, leaf.golden, not was_cut, -leaf.id


def join(first: Turn, rest: Turn) -> Turn:
    """Two parts of one turn as one."""
    return Turn(
        role=first.role,
        text=rest.text,
        steps=first.steps + rest.steps,
        hangs_up=rest.hangs_up,
        failure=rest.failure,
    )
