"""The grade of tau-bench: whether the databases are as they ought to be, and what had to be said.

It is 1 or 0. Databases compare by a hash of the state that the gold actions lead to, so any way
there is right. Source: tau-bench `envs/base.py`, `calculate_reward` (arXiv:2406.12045).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from drl.domains.tau.world import Scene
from drl.environment.base import Environment
from drl.llm.base import LLM
from drl.reward.base import Judgement, Reward, RewardError
from drl.types import JSON, Role, Task, Turn


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found of a dialogue; `outputs` tells for each text whether the agent said it."""

    database: bool
    outputs: Mapping[str, bool]
    ended: bool


@dataclass(kw_only=True)
class DbStateReward(Reward):
    """Grades finished dialogues; it pays for no turn, so a search needs another reward.

    Rules `tau1`: the database must match, and all outputs must be said. `josh`: where there are
    outputs only they count, as in the older tau-bench that the JOSH paper's code ran. With
    `must_end` a dialogue that neither side ended is a failure.
    """

    sums_up = False
    pays_turns = False

    rules: Literal["tau1", "josh"]
    must_end: bool

    def check_task(self, task: Task) -> None:
        """Refuse a task that is not from tau-bench.

        Raises:
            RewardError: it is not.
        """
        _scene(task)

    async def judge(
        self,
        task: Task,
        environment: Environment,
        before: Sequence[Turn],
        turn: Turn,
        open_goals: tuple[int, ...],
        llm: LLM,
    ) -> Judgement:
        """Nothing; goals stay as they are."""
        return Judgement((), open_goals)

    async def grade(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn], llm: LLM
    ) -> float | None:
        """1.0 for a dialogue that did all that was asked, else 0.0; unscored when it broke.

        Raises:
            RewardError: the task is not from tau-bench.
        """
        if any(turn.failure for turn in dialogue):
            return None
        return float(self._passes(await _find(task, environment, dialogue)))

    def floor(self, tasks: Sequence[Task], environment: Environment) -> float | None:
        """Share of the tasks that are solved by transferring the customer at once.

        Raises:
            RewardError: a task is not from tau-bench.
        """
        scenes = [_scene(task) for task in tasks]
        idle = [
            Findings(
                database=not scene.gold(environment.mode).is_changed,
                outputs=dict.fromkeys(scene.outputs, False),
                ended=True,
            )
            for scene in scenes
        ]
        return sum(map(self._passes, idle)) / len(idle) if idle else None

    async def explain(
        self, task: Task, environment: Environment, dialogue: Sequence[Turn]
    ) -> Mapping[str, JSON]:
        """Whether the database is right, which outputs were said, and whether it ended.

        Raises:
            RewardError: the task is not from tau-bench.
        """
        found = await _find(task, environment, dialogue)
        return {"database": found.database, "outputs": found.outputs, "ended": found.ended}

    def _passes(self, found: Findings) -> bool:
        if self.must_end and not found.ended:
            return False
        said = all(found.outputs.values())
        if self.rules == "josh" and found.outputs:
            return said
        return found.database and said


async def _find(task: Task, environment: Environment, dialogue: Sequence[Turn]) -> Findings:
    """What the dialogue did to fresh databases, and what it said."""
    scene = _scene(task)
    session = environment.open(task)
    for turn in dialogue:
        if turn.role is Role.AGENT:
            for _, _, call, _ in turn.executed():
                await session.call(call)
    said = [
        turn.text.lower().replace(",", "")
        for turn in dialogue
        if turn.role is Role.AGENT and turn.text is not None
    ]
    return Findings(
        database=session.digest() == scene.gold(environment.mode).digest,
        outputs={output: any(output.lower() in text for text in said) for output in scene.outputs},
        ended=bool(dialogue) and dialogue[-1].hangs_up,
    )


def _scene(task: Task) -> Scene:
    if not isinstance(task.world, Scene):
        raise RewardError(
            f"reward=db_state cannot grade task {task.id}, which is not from tau-bench; use "
            "dataset=tau_bench, or the reward of this data set"
        )
    return task.world
