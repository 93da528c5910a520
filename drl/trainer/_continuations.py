"""Plays saved branches on, and keeps what came of it in `resample.jsonl`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pydantic_core
from pydantic import TypeAdapter, ValidationError

from drl.errors import DataError, RunError
from drl.evaluation.label_error import Continuation, Sibling
from drl.play.cast import Cast
from drl.play.dialogue import play_dialogue
from drl.play.moves import Branch, Play
from drl.runtime.lines import LineFile, whole_lines
from drl.runtime.seeds import derive
from drl.trainer._workers import attempt, failure_of
from drl.tree.dialogue_tree import FULL_SCORE, DialogueTree
from drl.types import Failure, Role, StopReason, Task

FILE_NAME = "resample.jsonl"
_LINE = TypeAdapter(Continuation)
_STAGE = "continuation"


class ContinuationStore:
    """The continuations of a run; one that broke is played again, and the last attempt counts.

    Raises:
        RunError: the file cannot be written, or a line in it is damaged.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._lines = LineFile(self.path)
        self._kept: dict[tuple[str, int, int, int], Continuation] = {}

    def __enter__(self) -> ContinuationStore:
        self._lines.__enter__()
        for number, line in whole_lines(self.path):
            try:
                self._keep(_LINE.validate_json(line))
            except ValidationError as error:
                raise RunError(
                    f"{self.path}:{number}: not a line of continuations; move the file away to "
                    "play them anew"
                ) from error
        return self

    def __exit__(self, *failure: object) -> None:
        self._lines.__exit__(*failure)

    @property
    def all(self) -> list[Continuation]:
        """The last attempt of each."""
        return list(self._kept.values())

    @property
    def num_done(self) -> int:
        """Continuations that did not break."""
        return sum(kept.failure is None for kept in self._kept.values())

    def missing(self, sibling: Sibling, wanted: int) -> list[int]:
        """The numbers of a branch's continuations that are still to be played."""
        where = (sibling.task_id, sibling.trial, sibling.node)
        kept = [self._kept.get((*where, number)) for number in range(wanted)]
        return [n for n, one in enumerate(kept) if one is None or one.failure is not None]

    def append(self, continuation: Continuation) -> None:
        """Store one that is finished."""
        self._lines.append(pydantic_core.to_json(continuation))
        self._keep(continuation)

    def _keep(self, one: Continuation) -> None:
        self._kept[one.task_id, one.trial, one.node, one.number] = one


class Replayer:
    """Plays one saved branch on, each time with another customer and other draws of the agent.

    Args:
        seed: all seeds follow from it, the branch and the number of the continuation.
        max_steps: agent turns of the whole dialogue.
    """

    def __init__(
        self, task: Task, tree: DialogueTree, sibling: Sibling, *, seed: int, max_steps: int
    ) -> None:
        self._task = task
        self._tree = tree
        self._sibling = sibling
        self._seed = derive(seed, sibling.task_id, sibling.trial, sibling.node)
        self._turns_left = max_steps - sibling.num_turns

    async def rebuild(self, cast: Cast) -> Branch | Failure:
        """The branch as it was saved, or why it cannot be had again."""
        play = self._play(cast, self._seed)
        try:
            return await attempt(play.at(self._tree, self._sibling.node), "replay")
        except DataError as error:
            return failure_of("replay", error)

    async def play_on(self, branch: Branch, number: int, cast: Cast) -> Continuation | Failure:
        """One continuation to its end, or how it broke."""
        return await attempt(self._play_on(branch, number, cast), _STAGE)

    def broken(self, number: int, failure: Failure) -> Continuation:
        """The record of a continuation that says nothing of its branch."""
        cause = f"{failure.stage}: {failure.cause}"
        return replace(self._record(number), failure=cause)

    async def _play_on(self, branch: Branch, number: int, cast: Cast) -> Continuation | Failure:
        play = self._play(cast, derive(self._seed, number))
        tree = self._tree.trunk(self._sibling.node)
        first = len(tree.nodes)
        twin = branch.fork(number)
        twin.node = first - 1
        stop = await play_dialogue(tree, play, twin, max_steps=self._turns_left, stop_at_open=0)
        leaf = tree.nodes[-1]
        if stop is StopReason.ERROR or leaf.censored:
            assert leaf.turn.failure is not None, "it broke there"
            return leaf.turn.failure
        await play.grade(tree)
        own = [node.turn for node in tree.nodes[first:] if node.turn.role is Role.AGENT]
        return replace(
            self._record(number),
            hit=len(twin.open_goals) < self._sibling.num_open,
            full=None if leaf.score is None else leaf.score >= FULL_SCORE,
            stop=stop,
            num_turns=len(own),
            num_calls=sum(len(turn.steps) for turn in own),
        )

    def _play(self, cast: Cast, seed: int) -> Play:
        return Play(self._task, self._sibling.trial, replace(cast, seed=seed))

    def _record(self, number: int) -> Continuation:
        sibling = self._sibling
        return Continuation(sibling.task_id, sibling.trial, sibling.node, number)
