"""Recorded dialogues in place of played ones: their calls are carried out, nobody is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from drl.agent.base import Agent
from drl.environment.base import Session
from drl.play.cast import Cast
from drl.play.moves import Branch, Play
from drl.rollout.base import Rollout
from drl.tree.dialogue_tree import DialogueTree
from drl.types import Failure, Role, Step, StopReason, Task, ToolResult, Turn


@dataclass(frozen=True, slots=True)
class Recorded:
    """A dialogue by its turns, or why there is none."""

    turns: Sequence[Turn]
    lack: str | None = None


class RecordedRollout(Rollout):
    """Gives the recorded dialogue of each (task, trial) as a tree, graded and with its rewards.

    Calls keep what they gave when they were recorded, so that the tree shows what the agent saw.
    """

    is_search = False
    cuts_branches = False
    concurrency = 1

    def __init__(self, dialogues: Mapping[tuple[str, int], Recorded]) -> None:
        self._dialogues = dialogues
        self.max_steps = max((len(found.turns) for found in dialogues.values()), default=1)

    def check(self, agent: Agent) -> None:
        """Any agent will do."""

    async def run(self, task: Task, trial: int, cast: Cast) -> DialogueTree:
        """The dialogue of a task; one that is lacking is a broken one."""
        tree = DialogueTree.of(task, trial)
        recorded = self._dialogues.get((task.id, trial), Recorded((), "it is not in the file"))
        if recorded.lack is not None:
            turn = Turn(Role.AGENT, "", failure=Failure("recording", recorded.lack))
            tree.add(None, turn, ()).stop = StopReason.ERROR
            return tree
        play = Play(task, trial, cast)
        branch = play.start()
        for turn in recorded.turns:
            done = await _carried_out(branch.session, turn) if turn.role is Role.AGENT else turn
            _take(branch, done)
            if await play.record(tree, branch, done) is not None:
                break
        last = tree.nodes[-1]
        if last.stop is None:
            last.stop = StopReason.MAX_TURNS
        tree.mark_successful()
        await play.grade(tree)
        return tree


def _take(branch: Branch, turn: Turn) -> None:
    if turn.text is None:
        branch.steps = turn.steps
    else:
        branch.take(turn)


async def _carried_out(session: Session, turn: Turn) -> Turn:
    """The turn up to the call that ends the dialogue, if one does."""
    steps: list[Step] = []
    for step in turn.steps:
        if not step.calls:  # a reply, or calls that could not be read
            steps.append(step)
            continue
        results: list[ToolResult] = []
        for call, given in zip(step.calls, step.results, strict=True):
            ends = (await session.call(call)).ends
            results.append(replace(given, ends=ends))
            if ends:
                break
        calls = step.calls[: len(results)]
        steps.append(replace(step, calls=calls, results=tuple(results)))
        if any(result.ends for result in results):
            return Turn(Role.AGENT, "", tuple(steps), hangs_up=True)
    return replace(turn, steps=tuple(steps), hangs_up=False)
