"""The policy as it is plays a batch of dialogues, whose tokens it then learns from."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from drl.agent.base import Situation
from drl.calls.switchboard import Switchboard
from drl.errors import ConfigError, RunError
from drl.play.cast import Cast
from drl.ppo.trajectory import Trajectory
from drl.runtime.progress import progress_bar
from drl.trainer._cast import playing
from drl.trainer._curves import NAMED_REWARD
from drl.trainer._policy import RunPolicy
from drl.trainer._rollouts import play_all
from drl.trainer._trajectories import Recorder
from drl.trainer.base import Parts, chosen
from drl.tree.dialogue_tree import DialogueTree
from drl.tree.store import RolloutStore
from drl.types import Role, Step, StopReason, Task, Turn

_LOG = logging.getLogger(__name__)

Job = tuple[Task, int]
"""A task and the number of the trial."""


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a batch: what can be learned from it, and what it was like."""

    trajectories: Sequence[Trajectory]
    numbers: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Player:
    """Lets a policy play.

    `run` is the run's folder; every tree is kept in its store. `bootstrap_at_limit` is that of
    `Recorder`.
    """

    parts: Parts
    policy: RunPolicy
    run: Path
    bootstrap_at_limit: bool

    async def play(
        self, jobs: Sequence[Job], update: int, store: RolloutStore, board: Switchboard
    ) -> Played:
        """Play all jobs with the weights as they are now.

        Args:
            jobs: tasks and trials.
            update: how many updates made the weights what they are.
            store: keeps the trees.
            board: the lines to models.

        Raises:
            RunError: all of them broke, or models were out.
            ConfigError: the agent's model gives no tokens.
        """
        # the run's own folder stands in it: other runs have weights of other versions
        version = f"{self.run.resolve()} after {update} updates"
        live = chosen(self.parts.llm).with_weights(self.policy.loaded, version)
        parts = replace(self.parts, llm=live)
        rollout = chosen(parts.rollout)
        trees: dict[tuple[str, int], DialogueTree] = {}

        def keep(tree: DialogueTree) -> None:
            store.append(tree)
            trees[tree.task_id, tree.trial] = tree

        async with playing(parts, board, rollout.concurrency) as cast:
            with progress_bar(f"update {update + 1}: dialogues", len(jobs)) as bar:
                await play_all(rollout, jobs, cast, keep, bar)
            trajectories = await self._recorded(jobs, trees, cast)
        learned = {trajectory.group for trajectory in trajectories}
        numbers = numbers_of(list(trees.values()))
        numbers["episode/unlearned"] = float(sum(task.id not in learned for task, _ in jobs))
        return Played(trajectories, numbers)

    async def _recorded(
        self, jobs: Sequence[Job], trees: Mapping[tuple[str, int], DialogueTree], cast: Cast
    ) -> list[Trajectory]:
        """Trajectories in the order of the jobs, whatever the order in which they were played."""
        recorder = Recorder(
            credit=chosen(self.parts.credit),
            template=self.policy.template,
            context=self.policy.loaded.context,
            bootstrap_at_limit=self.bootstrap_at_limit,
        )
        found: list[Trajectory] = []
        lost: list[str] = []
        for task, trial in jobs:
            trajectories = await recorder.trajectories(trees[task.id, trial], task, cast)
            found += trajectories
            lost += [] if trajectories else [task.id]
        if found and lost:
            _LOG.warning(
                "task %s: nothing can be learned from its dialogue, since it broke, its prompt "
                "leaves the model no room, or the model said nothing; such dialogues are counted "
                "in episode/unlearned",
                lost[0],
            )
        if not found:
            causes = [node.turn.failure for tree in trees.values() for node in tree.nodes]
            first = next((cause for cause in causes if cause is not None), None)
            raise RunError(
                f"none of {len(jobs)} dialogues can be learned from"
                + (f"; the first broke so: {first.stage}: {first.cause}" if first else "")
                + "; mend it and start the same command again"
            )
        return found


def temperature_of(parts: Parts, task: Task) -> float:
    """At which temperature the agent samples; its policy is softmax(logits / temperature).

    Raises:
        ConfigError: it does not sample, or from less than the whole distribution.
    """
    said = Turn(Role.USER, "Hello", (Step("Hello", reply="Hello"),))
    toolbox = chosen(parts.environment).open(task).toolbox
    situation = Situation(history=(said,), steps=(), toolbox=toolbox, seed=0)
    sampling = chosen(parts.agent).request(situation).sampling
    if sampling.temperature == 0:
        raise ConfigError(
            "agent.temperature=0 always says the likeliest, so nothing is tried and nothing can be "
            "learned; use 1"
        )
    if sampling.temperature is None:
        raise ConfigError(
            "agent.temperature=null leaves it open from which distribution is drawn, and learning "
            "has to know; set it to 1"
        )
    for name, value, off in (("top_p", sampling.top_p, 1.0), ("top_k", sampling.top_k, None)):
        if value not in (None, off):
            raise ConfigError(
                f"agent.{name}={value} draws from another distribution than the one that learns; "
                "set it to null"
            )
    return sampling.temperature


def numbers_of(trees: Sequence[DialogueTree]) -> dict[str, float]:
    """Scores and endings of the dialogues of a batch; broken ones are counted, not scored.

    Of rewards that turns earned there is one number for each name; what nobody earned has none.
    """
    leaves = [leaf for tree in trees for leaf in tree.leaves()]
    scores = [leaf.score for leaf in leaves if leaf.score is not None]
    steps = [
        step
        for tree in trees
        for node in tree.nodes
        if node.turn.role is Role.AGENT
        for step in node.turn.steps
    ]
    return {
        "episode/score": sum(scores) / len(scores) if scores else float("nan"),
        "episode/broken": float(sum(leaf.stop is StopReason.ERROR for leaf in leaves)),
        "episode/at_limit": sum(leaf.stop is StopReason.MAX_TURNS for leaf in leaves) / len(leaves),
        "episode/cut_outputs": sum(step.is_cut for step in steps) / max(1, len(steps)),
        **_by_name(trees, max(1, len(scores))),
    }


def _by_name(trees: Sequence[DialogueTree], num_scored: int) -> dict[str, float]:
    """What turns of a scored dialogue earned under each name, on average."""
    sums: dict[str, float] = defaultdict(float)
    for tree in trees:
        for leaf in tree.leaves():
            for node in tree.path(leaf.id) if leaf.score is not None else ():
                for event in node.events:
                    sums[f"{NAMED_REWARD}{event.source}"] += event.amount
    return {name: sums[name] / num_scored for name in sorted(sums)}
