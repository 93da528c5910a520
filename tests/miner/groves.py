"""Trees made by hand, or at random, and what a miner finds in them."""

import random
from collections.abc import Mapping

from agent.react_agents import TOOLBOX, react

from drl.agent.base import Agent
from drl.miner.base import Form, Harvest, KTORow, Miner, Row
from drl.tree.chance import Chance
from drl.tree.dialogue_tree import DialogueTree
from drl.types import (
    Failure,
    Outcome,
    RewardEvent,
    Role,
    Step,
    StopReason,
    ToolCall,
    ToolResult,
    Turn,
)

COMPACT = react("compact")
REWARD = (RewardEvent(1.0, "goal_api"),)


def say(text: str) -> Step:
    return Step(f"SAY {text}", reply=text)


def call(area: str, result: ToolResult | None = None) -> Step:
    found = result or ToolResult([{"name": area}])
    made = ToolCall("search_hotel", {"area": area})
    return Step(f'CALL {{"search_hotel":{{"area":"{area}"}}}}', calls=(made,), results=(found,))


def unread(text: str) -> Step:
    return Step(text, results=(ToolResult(None, error="Nothing was done"),))


class Grove(DialogueTree):
    """A tree with one goal; the marks of a node are given with its turn."""

    def __init__(self, num_goals: int = 1) -> None:
        super().__init__("task", 0, num_goals)

    def ask(self, parent: int | None, text: str = "customer", **marks: object) -> int:
        turn = Turn(Role.USER, text, failure=marks.pop("failure", None))  # type: ignore[arg-type]
        return self._grown(parent, turn, marks)

    def act(self, parent: int, *steps: Step, **marks: object) -> int:
        failure = marks.pop("failure", None)
        text = "" if failure else steps[-1].reply
        turn = Turn(Role.AGENT, text, steps, failure=failure)  # type: ignore[arg-type]
        return self._grown(parent, turn, marks)

    def win(self, parent: int, *steps: Step, **marks: object) -> int:
        """A turn that reaches the only goal on the golden path."""
        given: dict[str, object] = {"open_goals": (), "events": REWARD}
        end = self.act(parent, *steps, **given | {"stop": StopReason.GOALS_REACHED} | marks)
        self.mark_golden(end)
        self.mark_successful()
        return end

    def _grown(self, parent: int | None, turn: Turn, marks: Mapping[str, object]) -> int:
        node = self.add(parent, turn, (0,))
        for name, value in marks.items():
            setattr(node, name, value)
        return node.id


def harvest(
    tree: DialogueTree, agent: Agent = COMPACT, chances: Mapping[int, Chance] | None = None
) -> Harvest:
    return Harvest(run="run", tree=tree, toolbox=TOOLBOX, agent=agent, chances=chances or {})


def mined(
    miner: Miner,
    form: Form,
    tree: DialogueTree,
    agent: Agent = COMPACT,
    chances: Mapping[int, Chance] | None = None,
) -> list[Row]:
    return list(miner.mine(harvest(tree, agent, chances), form))


def labels(rows: list[Row]) -> list[tuple[list[str], str, bool]]:
    """Prompts without the system's, outputs, and whether they are good."""
    read: list[tuple[list[str], str, bool]] = []
    for row in rows:
        assert isinstance(row, KTORow)
        before = [message.content for message in row.prompt[1:]]
        read.append((before, row.completion.content, row.label))
    return read


def wild(seed: int) -> tuple[DialogueTree, dict[int, Chance]]:
    """A tree as no search would leave it, of few words, so that tries often agree for a while."""
    draw = random.Random(seed)
    tree = DialogueTree("task", seed, 2)
    live: list[int | None] = [None] * draw.randint(1, 2)
    for _ in range(draw.randint(1, 4)):
        asked = [_customer(tree, draw, parent) for parent in live]
        tries = [node for node in asked if tree.nodes[node].stop is None]
        ended = [_agent(tree, draw, node) for node in tries for _ in range(draw.randint(1, 3))]
        going_on = [node for node in ended if tree.nodes[node].stop is None]
        live = [*going_on[:4]]
        for node in going_on[4:]:
            _end(tree, draw, node)
    for node in live:
        if node is not None:
            _end(tree, draw, node)
    paid = [node.id for node in tree.nodes if node.events]
    if paid and draw.random() < 0.8:
        tree.mark_golden(draw.choice(paid))
    tree.mark_successful()
    for leaf in tree.leaves():
        if leaf.stop is not StopReason.ERROR:
            leaf.score = sum(node.events != () for node in tree.path(leaf.id)) / 2
    chances = {
        node.id: Chance(a=draw.choice((0.5, 1.5, 4.5)), b=draw.choice((0.5, 1.5, 4.5)))
        for node in tree.nodes
        if node.turn.failure is None
    }
    return tree, chances


def _customer(tree: DialogueTree, draw: random.Random, parent: int | None) -> int:
    broke = Failure("user_simulator", "fault") if draw.random() < 0.05 else None
    node = tree.add(parent, Turn(Role.USER, f"customer {draw.randint(0, 1)}", failure=broke), (0,))
    if broke is not None:
        node.stop = draw.choice((StopReason.ERROR, StopReason.CONTEXT_OVERFLOW))
    return node.id


def _agent(tree: DialogueTree, draw: random.Random, parent: int) -> int:
    above = tree.nodes[parent].open_goals
    middle = [call("north"), call("south"), unread("what"), call("x", ToolResult("ERROR: no"))]
    steps = [draw.choice(middle) for _ in range(draw.randint(0, 3))]
    ends = [say("a"), say("b"), say("Error: gone"), unread("hm")]
    steps.append(draw.choice(ends[:3] if steps else ends))
    broke = Failure("agent", "fault") if draw.random() < 0.1 else None
    text = "" if broke else steps[-1].reply
    node = tree.add(parent, Turn(Role.AGENT, text, tuple(steps), failure=broke), above)
    if broke is not None:
        node.stop = draw.choice((StopReason.ERROR, StopReason.CONTEXT_OVERFLOW))
    elif text is None:
        node.stop = StopReason.BUDGET
        node.censored = True
    elif above and draw.random() < 0.4:
        node.events, node.open_goals = REWARD, above[1:]
    return node.id


def _end(tree: DialogueTree, draw: random.Random, node_id: int) -> None:
    leaf = tree.nodes[node_id]
    leaf.stop = draw.choice((StopReason.MAX_TURNS, StopReason.COLLAPSED, StopReason.USER_ENDED))
    if leaf.stop is StopReason.COLLAPSED:
        leaf.censored = draw.random() < 0.7
        if leaf.censored and draw.random() < 0.5:
            leaf.resolved = (draw.randint(0, 1), 2)
            part = DialogueTree("task", 0, 2)
            later = part.add(None, Turn(Role.USER, "customer later"), (0,))
            later.continuation, later.stop = True, StopReason.MAX_TURNS
            tree.graft(part, below=node_id)


def failed_for_sure(tree: DialogueTree, node_id: int) -> bool:
    """Whether all branches through a node came to an end of their own without a reward."""
    leaves = [leaf for leaf in tree.leaves() if tree.nodes[node_id] in tree.path(leaf.id)]
    return bool(leaves) and all(
        tree.outcome(leaf) is Outcome.FAILED
        and (leaf.stop is not StopReason.COLLAPSED or leaf.resolved == (0, 2))
        and not (leaf.turn.role is Role.USER and leaf.turn.failure)
        for leaf in leaves
    )
