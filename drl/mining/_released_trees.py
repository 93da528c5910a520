"""A released rollout of josh-train as a dialogue tree.

Its outputs stay as they are, in `Step.text`; what they call and say is read as the agent of today
reads it, which is asked to act while its model says what was recorded. An output that held a
malformed call ran others beside it at the time; none of them are kept, as one malformed call
refuses a whole output here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from drl.agent.base import Agent, Situation
from drl.domains.toolwoz.release import Entry, Rollout
from drl.environment.base import Environment
from drl.errors import DataError
from drl.llm.base import LLM, Completion, Completions, NoLLM, Request, Usage
from drl.reward.base import Reward
from drl.tree.dialogue_tree import DialogueTree
from drl.types import JSON, RewardEvent, Role, Step, StopReason, Task, ToolResult, Turn

_GAVE_UP = "Error: Agent ran out of retries."
_INVALID = "ERROR: INVALID API CALL! "
_BROKEN_CALL = "FAILURE"
_GOODBYE = "END_CONVERSATION"


@dataclass(frozen=True, slots=True)
class World:
    """What a conversion needs: who wrote the outputs, and who judges their calls."""

    agent: Agent
    environment: Environment
    reward: Reward


async def to_tree(rollout: Rollout, task: Task, world: World) -> DialogueTree:
    """The tree of a released rollout; every node of the search ends in a node of it.

    Siblings with equal words stay apart. Rewards are judged anew; that the rollout reached all
    goals is taken from the record, and then its last golden turn reaches whatever is still open.

    Raises:
        DataError: the paths are not those of a search.
    """
    growing = _Growing(rollout, task, world)
    await growing.grow()
    return growing.tree


@dataclass(slots=True, eq=False)
class _Place:
    """A node of the search: its path, and the last turn of it in the tree."""

    entries: tuple[Entry, ...]
    node: int | None
    successful: bool
    golden: bool
    num_children: int = 0


@dataclass(eq=False)
class _Growing:
    """A tree while the paths of its search are added, harvest by harvest."""

    rollout: Rollout
    task: Task
    world: World
    tree: DialogueTree = field(init=False)

    def __post_init__(self) -> None:
        self.tree = DialogueTree.of(self.task, 0)
        self._toolbox = self.world.environment.open(self.task).toolbox
        self._open = tuple(range(len(self.task.goals)))
        self._customers: dict[tuple[int | None, str], int] = {}

    async def grow(self) -> None:
        """Add all paths, then say how each branch ended."""
        walk: list[_Place] = []
        harvest: list[_Place] = []
        for path in self.rollout.paths:
            while walk and not _continues(walk[-1], path.entries):
                walk.pop()
            target = next((p for p in reversed(harvest) if p.golden), None)
            if not walk and target is not None:
                if target.entries != path.entries:
                    raise DataError(f"{self.task.id}: the paths are not those of a search")
                await self._collapse(harvest, target)
                root = _Place(target.entries, target.node, successful=True, golden=True)
                walk, harvest = [root], [root]
                continue
            place = _Place(path.entries, None, path.successful, path.golden)
            await self._place(place, walk[-1] if walk else None)
            walk.append(place)
            harvest.append(place)
        target = next((p for p in reversed(harvest) if p.golden), None)
        if target is not None:
            await self._collapse(harvest, target, is_last=True)
        self._stop()

    async def _place(self, place: _Place, parent: _Place | None) -> None:
        """Add the turns that a place has beyond its parent."""
        known, here = (len(parent.entries), parent.node) if parent else (0, None)
        if parent:
            parent.num_children += 1
        for turn in _turns(place.entries[known:]):
            if turn[0].kind == "said":
                here = self._customer(here, turn[0].text)
            else:
                here = self.tree.add(here, await self._agent_turn(turn), self._open).id
            node = self.tree.nodes[here]
            node.golden |= place.golden
            node.successful |= place.successful
        place.node = here

    def _customer(self, parent: int | None, text: str) -> int:
        """The customer answered once before the search doubled a branch, so siblings share it."""
        key = (parent, text)
        if key not in self._customers:
            turn = Turn(Role.USER, text, hangs_up=_GOODBYE in text)
            self._customers[key] = self.tree.add(parent, turn, self._open).id
        return self._customers[key]

    async def _collapse(
        self, harvest: Sequence[_Place], target: _Place, *, is_last: bool = False
    ) -> None:
        """What the rewarded branches of a harvest earned; `target` is the one that went on."""
        for place in harvest:
            if place.successful and not place.num_children and place.node is not None:
                await self._reward(place.node)
        if target.node is None:
            return
        node = self.tree.nodes[target.node]
        if is_last and self.rollout.full:
            node.events += tuple(self._event({"goal": goal}) for goal in node.open_goals)
            node.open_goals = ()
        self._open = node.open_goals

    async def _reward(self, node_id: int) -> None:
        node = self.tree.nodes[node_id]
        before = () if node.parent is None else self.tree.dialogue(node.parent)
        judged = await self.world.reward.judge(
            self.task, self.world.environment, before, node.turn, self._open, NoLLM("judge_llm")
        )
        node.events, node.open_goals = judged.events, judged.open_goals
        if not node.events and not node.golden:
            node.events = (self._event({}),)

    def _event(self, detail: Mapping[str, JSON]) -> RewardEvent:
        """A goal that the record says was reached, by a call that today's rules do not show."""
        return RewardEvent(1 / len(self.task.goals), "goal", detail)

    def _stop(self) -> None:
        """Set the end of every branch: those that a collapse cut are censored."""
        for node, below in zip(self.tree.nodes, self.tree.children(), strict=True):
            if below:
                continue
            if node.golden:
                full, ended = self.rollout.full, node.turn.hangs_up
                node.stop = StopReason.USER_ENDED if ended else StopReason.MAX_TURNS
                node.stop = StopReason.GOALS_REACHED if full else node.stop
                node.score = self._share(node.open_goals)
            elif node.turn.hangs_up:
                node.stop = StopReason.USER_ENDED
                node.score = self._share(node.open_goals)
            else:
                node.stop = StopReason.COLLAPSED
                node.censored = not node.successful

    def _share(self, open_goals: Sequence[int]) -> float | None:
        """The share of goals that were reached; below 1 unless the record says otherwise."""
        if not self.task.goals:
            return None
        return 1 - max(len(open_goals), int(not self.rollout.full)) / len(self.task.goals)

    async def _agent_turn(self, entries: Sequence[Entry]) -> Turn:
        """One turn of the agent: its outputs, what they gave, and what the customer heard."""
        steps: list[Step] = []
        returned: list[str] = []
        heard = ""
        for entry in reversed(entries):
            if entry.kind == "returned":
                returned.append(entry.text)
            elif entry.kind == "gave_up":
                heard = _GAVE_UP
            else:
                step = await self._step(entry.text, returned[::-1])
                returned = []
                if step.reply is not None and not steps and heard != _GAVE_UP:
                    heard = step.reply
                steps.append(step)
        return Turn(Role.AGENT, heard, tuple(reversed(steps)))

    async def _step(self, text: str, returned: Sequence[str]) -> Step:
        situation = Situation(history=(), steps=(), toolbox=self._toolbox, seed=0)
        step = await self.world.agent.act(situation, _Recording(text))
        if not returned:
            return Step(text=text, plan=step.plan, reply=step.reply)
        results = tuple(map(_result, returned))
        if len(step.calls) == len(results):
            return Step(step.text, step.plan, step.calls, results, step.reply)
        if not step.results:
            raise DataError(
                f"{self.task.id}: an output of {len(step.calls)} calls has other returns"
            )
        return Step(text=text, plan=step.plan, results=step.results)


class _Recording(LLM):
    """A model that says what was recorded."""

    def __init__(self, text: str) -> None:
        self._text = text

    @property
    def model(self) -> str:
        """No model of today."""
        return "recorded"

    @property
    def identity(self) -> Mapping[str, str]:
        """What it says."""
        return {"text": self._text}

    async def complete(self, request: Request) -> Completions:
        """The recorded output, whatever is asked."""
        return Completions((Completion(self._text, "stop"),), Usage(0, 0, 0), seconds=0.0)

    async def close(self) -> None:
        """Nothing is open."""


def _continues(place: _Place, entries: tuple[Entry, ...]) -> bool:
    """Whether a path goes on from a place, which has two children at most."""
    known = len(place.entries)
    return place.num_children < 2 and len(entries) > known and entries[:known] == place.entries


def _turns(entries: Sequence[Entry]) -> list[list[Entry]]:
    """Entries by turns: the customer's words alone, all else of the agent together."""
    turns: list[list[Entry]] = []
    for entry in entries:
        if entry.kind == "said" or not turns or turns[-1][0].kind == "said":
            turns.append([entry])
        else:
            turns[-1].append(entry)
    return turns


def _result(text: str) -> ToolResult:
    """What a tool gave, with its error where it says that nothing was done."""
    value = json.loads(text)
    if isinstance(value, str) and value.startswith((_INVALID, _BROKEN_CALL)):
        return ToolResult(value, error=value.removeprefix(_INVALID))
    return ToolResult(value)
